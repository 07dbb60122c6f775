"""One check after the other, each within its time."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from ralph_tui.cli.checkup.finding import Finding, refusal
from ralph_tui.cli.checkup.surroundings import Surroundings
from ralph_tui.errors import RalphError, why

Check = Callable[[Surroundings], Iterable[Finding]]


def findings(checks: Mapping[str, Check], around: Surroundings) -> Iterator[Finding]:
    """What each finds, as soon as it is known; `checks` by what they look at."""
    for what, check in checks.items():
        yield from _within(what, check, around)


def _within(what: str, check: Check, around: Surroundings) -> list[Finding]:
    found: list[Finding] = []
    complete = threading.Event()

    def look() -> None:
        try:
            found.extend(check(around))
        except RalphError as error:
            found.append(refusal("problem", what, error))
        except OSError as error:
            found.append(Finding("problem", what, why(error, "look after it").partition("; ")[0]))
        complete.set()

    # A daemon: what hangs in the system is left behind, and holds up neither the rest nor the end.
    thread = threading.Thread(target=look, name=f"check-{what}", daemon=True)
    thread.start()
    thread.join(around.seconds)
    if complete.is_set():
        return found
    if thread.is_alive():
        says = f"gave no answer within {around.seconds:g} s"
        return [Finding("problem", what, says, "is a disk or a network mount not there?")]
    says = "this check has failed by a fault of its own, told above"
    return [Finding("warning", what, says, "please report it")]
