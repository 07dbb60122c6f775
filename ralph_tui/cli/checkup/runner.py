"""Run the checks one after another, each with a time limit; optional ones run in parallel."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from ralph_tui.base.errors import RalphError, why
from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding, refusal

Check = Callable[[Environment], Iterable[Finding]]

PARALLEL_SHARE = 0.9
"""Share of a check's time limit that its parallel checks may use."""


def run_checks(checks: Mapping[str, Check], env: Environment) -> Iterator[Finding]:
    """Yield each check's findings once it is done; `checks` maps subjects to checks."""
    for what, check in checks.items():
        running = _CheckThread(what, check, env)
        found = running.wait(env.seconds)
        if found is None:
            says = f"timed out after {env.seconds:g} s"
            found = [
                Finding("problem", what, says, "check for an unreachable disk or network mount")
            ]
        yield from found


def run_parallel(what: str, checks: Mapping[str, Check], env: Environment) -> Iterator[Finding]:
    """Run optional checks in parallel; one that times out does not affect the others.

    `checks` maps the name of what is checked to its check; `what` is the subject of all findings.
    """
    within = env.seconds * PARALLEL_SHARE
    until = time.monotonic() + within
    begun = {name: _CheckThread(what, check, env) for name, check in checks.items()}
    for name, running in begun.items():
        found = running.wait(max(0.0, until - time.monotonic()))
        if found is None:
            says = f"{name} timed out after {within:g} s"
            found = [Finding("note", what, says, "the machine may be busy; try again later")]
        yield from found


class _CheckThread:
    def __init__(self, what: str, check: Check, env: Environment) -> None:
        self._what, self._check, self._around = what, check, env
        self._found: list[Finding] = []
        self._complete = threading.Event()
        # A daemon thread: a check that hangs in a system call delays neither the other checks nor
        # the exit.
        self._thread = threading.Thread(target=self._run, name=f"check-{what}", daemon=True)
        self._thread.start()

    def wait(self, within_s: float) -> list[Finding] | None:
        """Return the findings; None if the check takes longer than `within_s` seconds."""
        self._thread.join(within_s)
        if self._complete.is_set():
            return self._found
        if self._thread.is_alive():
            return None
        says = "this check crashed; see the error above"
        return [Finding("warning", self._what, says, "please report it")]

    def _run(self) -> None:
        what = self._what
        try:
            self._found.extend(self._check(self._around))
        except RalphError as error:
            self._found.append(refusal("problem", what, error))
        except OSError as error:
            wrong = why(error, "check the disk").partition("; ")[0]
            self._found.append(Finding("problem", what, wrong))
        self._complete.set()
