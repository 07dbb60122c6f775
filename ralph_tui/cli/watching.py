"""``attach`` without a terminal: the lines of a run until it is over."""

import sys
import time

from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.adapters.records.tail import ReplacedError, Tail
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts.common import Printer
from ralph_tui.events import RunCrashed, RunFinished, RunResumed, parse_event
from ralph_tui.text.terms import DIED, PROCESS_GONE

LOOK_S = 0.2
"""Between two looks at a journal that grows."""


def watch(run: RecordedRun, *, as_json: bool) -> int:
    """Print what a run records until it is over; ctrl+c leaves it alone."""
    tail, printer = Tail(run.journal), Printer(as_json=as_json)
    code: ExitCode | None = None
    print(f"{run.name}: its lines until it is over; ctrl+c leaves it running", file=sys.stderr)
    try:
        while True:
            over = not read_status(run)["alive"]  # before the last look at its journal
            for line in tail.lines():
                event = parse_event(line)
                if isinstance(event, RunFinished):
                    code = OUTCOME_CODES[event.outcome]
                elif isinstance(event, RunCrashed):
                    code = ExitCode.FAILED
                elif isinstance(event, RunResumed):
                    code = None
                printer.print(event)
            if over and not tail.rest:
                if code is None:
                    print(f"{run.name} {DIED.word}: {PROCESS_GONE}", file=sys.stderr)
                return ExitCode.FAILED if code is None else code
            time.sleep(LOOK_S)
    except ReplacedError:
        raise UsageError(f"the journal of {run.name} was replaced: attach again") from None
    except KeyboardInterrupt:
        return ExitCode.COMPLETED
    finally:
        tail.close()
