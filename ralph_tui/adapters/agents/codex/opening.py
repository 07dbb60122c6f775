"""What is the same for all sessions of a run, and what the first requests of each say. Pure."""

from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.agents.codex.reader import UNTOLD
from ralph_tui.adapters.agents.codex.usage import Ledger
from ralph_tui.ports import Turn


@dataclass(frozen=True)
class Plan:
    """What a run asks of all its sessions."""

    root: Path
    ledger: Ledger
    model: str | None = None
    version: str = ""
    """Of Codex."""
    client: str = ""
    """Of ralph-tui."""

    def introduction(self) -> dict[str, object]:
        """Of ``initialize``."""
        return {
            "clientInfo": {"name": "ralph-tui", "title": "ralph-tui", "version": self.client},
            "capabilities": {"optOutNotificationMethods": list(UNTOLD)},
        }

    def thread(self, turn: Turn) -> dict[str, object]:
        """Of ``thread/start`` and ``thread/resume``."""
        free = turn.permissions.mode == "skip"
        asked: dict[str, object] = {
            "cwd": str(self.root),
            # What is no mere look is asked about, and answered by the session's rules or its owner.
            "approvalPolicy": "never" if free else "untrusted",
            "approvalsReviewer": "user",
            "sandbox": "danger-full-access" if free else "workspace-write",
        }
        if self.model:
            asked["model"] = self.model
        if turn.system_context:
            asked["developerInstructions"] = turn.system_context
        return asked
