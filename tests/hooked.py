"""The journal of a loop of sessions that ralph-tui did not start, written as their hooks do."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

NAME = "20260107T114500Z-11112222"


class HookedLoop:
    """Appends lines to the journal of one loop."""

    def __init__(self, root: Path, name: str = NAME) -> None:
        self.folder = root / ".aiwg" / "ralph" / "hooks" / name
        self.folder.mkdir(parents=True)
        self.journal = self.folder / "events.jsonl"
        self.seq = 0
        self.late = timedelta()
        """Age of the events."""

    def say(self, kind: str, **fields: object) -> None:
        """One event."""
        self.seq += 1
        at = f"{datetime.now(UTC) - self.late:%Y-%m-%dT%H:%M:%S.%fZ}"
        line = json.dumps({"seq": self.seq, "at": at, "kind": kind, **fields})
        with self.journal.open("a") as file:
            file.write(f"{line}\n")

    def begin(self, objective: str = "Move to the new service") -> None:
        """The loop, its first iteration and its session."""
        self.say(
            "run_started",
            program_version="0.2.0",
            run_id=self.folder.name,
            root=str(self.folder.parents[3]),
            objective=objective,
            criterion="the session says <promise>COMPLETE</promise>",
            mode="headless",
            watched=True,
            agent="claude",
            permissions="unrestricted",
            max_iterations=50,
            session_timeout_s=0.0,
        )
        self.say("iteration_started", iteration=1, max_iterations=50)
        self.say("session_started", iteration=1, session_id="11112222", agent="claude")
        self.say("session_described", model="claude-opus-4-1", iteration=1)

    def tool(self, tool_id: str, what: str, percent: float) -> None:
        """A tool's call, and how full the window is after it."""
        self.say("tool_started", iteration=1, tool_id=tool_id, tool="Edit", summary=what)
        self.say("tool_finished", iteration=1, tool_id=tool_id, ok=True, duration_s=0.2)
        self.say(
            "usage_reported",
            iteration=1,
            tokens=int(3000 * percent),
            context_tokens=int(2000 * percent),
            context_window=200_000,
        )

    def end(self, outcome: str = "completed", reason: str = "the session said COMPLETE") -> None:
        """The session, the iteration and the loop."""
        self.say("session_finished", iteration=1, outcome="success", tool_calls=2)
        self.say("iteration_finished", iteration=1, status="completed", completion=100.0)
        self.say("run_finished", outcome=outcome, reason=reason, iterations=1, completion=100.0)
