"""``attach`` without a terminal: print a run's events until it ends."""

import sys

from ralph_tui.adapters.records.listing import row_of
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts.common import Printer
from ralph_tui.events import Event, RunCrashed, RunFinished, RunResumed
from ralph_tui.runtime.sources.follower import follow_to_end, followed_run
from ralph_tui.state import RunState
from ralph_tui.text.terms import ENDLESS


def watch(run: RecordedRun, *, as_json: bool) -> int:
    """Print a run's events until it ends; ctrl+c does not stop the run."""
    printer = Printer(as_json=as_json, loop=run.name if run.loop else "")
    code: ExitCode | None = None

    def on_event(event: Event) -> None:
        nonlocal code
        if isinstance(event, RunFinished):
            code = OUTCOME_CODES[event.outcome]
        elif isinstance(event, RunCrashed):
            code = ExitCode.FAILED
        elif isinstance(event, RunResumed):
            code = None
        printer.print(event)

    journal = followed_run(run.journal, on_event)
    if _works(run):
        print(f"{run.name}: events until it ends; ctrl+c leaves it running", file=sys.stderr)
    try:
        follow_to_end(journal, RunState(), lambda _: _works(run))
    except KeyboardInterrupt:
        return ExitCode.COMPLETED
    finally:
        journal.close()
    if code is None:
        print(f"{run.name} {_describe_open_end(run)}", file=sys.stderr)
    return ExitCode.FAILED if code is None else code


def _works(run: RecordedRun) -> bool:
    # For a loop recorded by hooks, `row_of` reads only the start and end of the journal.
    return row_of(run, None).live if run.hooked else read_status(run)["alive"]


def _describe_open_end(run: RecordedRun) -> str:
    status = read_status(run)
    phase, reason = str(status["phase"]), status["reason"]
    return f"{ENDLESS[phase].word}: {reason}" if phase in ENDLESS else "continues"
