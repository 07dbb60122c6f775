"""A second run of the completion command on the winner's work, in a fresh clone."""

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.clones.filling import SETUP, SETUP_LIMIT_S, put_copied, run_setup
from ralph_tui.adapters.clones.making import Origin, make_clone
from ralph_tui.adapters.clones.places import TreeFolder
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import RalphError
from ralph_tui.ports.clones import Source
from ralph_tui.text.sanitize import clip, one_line

MAX_WORDS = 300


@dataclass(frozen=True)
class Check:
    """The result of a check."""

    passed: bool
    reason: str = ""
    """The reason for a failure, in one sentence."""


class FreshCheck:
    """One check; `run` blocks, `cancel` may be called from any thread."""

    def __init__(
        self,
        folder: TreeFolder,
        root: Path,
        command: str,
        variables: Mapping[str, str],
        *,
        setup: str = "",
        copied: Mapping[str, str] | None = None,
        timeout_s: float = 3600.0,
    ) -> None:
        """`root` is the user's repository; `folder` exists only during the check.

        `variables` is the environment that loops have.
        """
        self._folder = folder
        self._root = root
        self._copied = dict(copied or {})
        self._variables = variables
        self._lock = threading.Lock()
        self._cancelled = False
        self._setup = (
            self._make_clone(setup, SETUP_LIMIT_S, called=SETUP) if setup.strip() else None
        )
        self._gate = self._make_clone(command, timeout_s)
        self._now: ShellGate | None = None

    def _make_clone(
        self, command: str, timeout_s: float, called: str = "completion command"
    ) -> ShellGate:
        return ShellGate(
            command,
            cwd=self._folder.tree,
            run_id=f"fleet-check-{self._folder.loop}",
            timeout_s=timeout_s,
            env=self._variables,
            called=called,
        )

    def run(self, commit: str) -> Check:
        """Run the command on this commit in a fresh clone and return the result."""
        try:
            self._folder.create()
            source = Source(commit=commit, path=str(self._root), machine=socket.gethostname())
            make_clone(self._folder.tree, Origin(self._root, users=True), source, "ralph-check")
            put_copied(self._folder.tree, self._copied)
            if self._setup is not None:
                self._set_current(self._setup)
                run_setup(self._setup, self._folder.log("setup"))
            self._set_current(self._gate)
            result = self._gate.run(self._folder.log("check"))
        except RalphError as error:
            return Check(passed=False, reason=str(error))
        finally:
            with suppress(RalphError):  # `fleet prune` can remove leftovers
                self._folder.remove()
        if result.ok:
            return Check(passed=True)
        how = result.error or f"it exited with code {result.exit_code} in a fresh clone"
        if result.timed_out:
            how = "it timed out in a fresh clone"
        lines = [line for line in result.tail.splitlines() if line.strip()]
        said = f": {clip(one_line(lines[-1]), MAX_WORDS)}" if lines and not result.error else ""
        return Check(passed=False, reason=f"{one_line(how)}{said}")

    def cancel(self) -> None:
        """End the check soon; it then counts as failed."""
        with self._lock:
            self._cancelled = True
            if self._now is not None:
                self._now.cancel()

    def _set_current(self, gate: ShellGate) -> None:
        with self._lock:
            self._now = gate
            if self._cancelled:
                gate.cancel()
