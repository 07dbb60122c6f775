"""``attach`` without a terminal: the lines of a run until it is over."""

import sys
import time

from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import JournalError
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts.common import Printer
from ralph_tui.events import Event, RunCrashed, RunFinished, RunResumed
from ralph_tui.runtime.sources.following import followed_run
from ralph_tui.state import RunState
from ralph_tui.text.terms import DIED, PROCESS_GONE

LOOK_S = 0.2
"""Between two looks at a journal that grows."""


def watch(run: RecordedRun, *, as_json: bool) -> int:
    """Print what a run records until it is over; ctrl+c leaves it alone."""
    printer, state = Printer(as_json=as_json), RunState()
    code: ExitCode | None = None
    printed = 0

    def heard(event: Event) -> None:
        nonlocal code, printed
        if event.seq <= printed:  # its journal was put in its place again
            return
        printed = event.seq
        if isinstance(event, RunFinished):
            code = OUTCOME_CODES[event.outcome]
        elif isinstance(event, RunCrashed):
            code = ExitCode.FAILED
        elif isinstance(event, RunResumed):
            code = None
        printer.print(event)

    journal = followed_run(run.journal, heard)
    print(f"{run.name}: its lines until it is over; ctrl+c leaves it running", file=sys.stderr)
    try:
        while True:
            over, before = not read_status(run)["alive"], printed  # before the last look
            state = journal.look(state)
            if journal.problem:
                raise JournalError(f"{run.name}: {journal.problem}")
            if over and journal.whole and printed == before:
                if code is None:
                    print(f"{run.name} {DIED.word}: {PROCESS_GONE}", file=sys.stderr)
                return ExitCode.FAILED if code is None else code
            if printed == before:
                time.sleep(LOOK_S)
    except KeyboardInterrupt:
        return ExitCode.COMPLETED
    finally:
        journal.close()
