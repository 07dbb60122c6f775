"""The records of this worktree: who is using them, and which are damaged."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote

from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.runs import RecordedRun, newest_run
from ralph_tui.adapters.records.status import describe_status, problem_of
from ralph_tui.adapters.search.database import index_folder
from ralph_tui.base.errors import RalphError
from ralph_tui.cli.checkup.finding import Finding, refusal
from ralph_tui.cli.checkup.surroundings import Surroundings

WHAT = "records"


def check_records(around: Surroundings) -> Iterator[Finding]:
    """Check the lock, the newest run and the search index."""
    owner = holder(around.records / "lock")
    run = newest_run(around.root)
    if owner is not None and owner.alive:
        who = f"process {owner.pid} on {owner.host}" if owner.pid else "another process"
        says = f"{owner.run or 'a run'} is running here ({who})"
        yield Finding(
            "note", WHAT, says, "ralph-tui attach shows it; only one run at a time can work here"
        )
    elif owner is not None:
        says = f"{owner.run or 'a run'} died; processes it started still hold the lock"
        yield Finding("warning", WHAT, says, "ralph-tui resume ends them and continues the run")
    if run is None:
        yield Finding("ok", WHAT, f"no runs in {around.shown(around.root)} yet")
        return
    yield _newest(run, held=owner is not None)
    yield from _indexes(around)


def _newest(run: RecordedRun, *, held: bool) -> Finding:
    """Report on the newest run. A damaged record does not prevent other runs from starting."""
    if problem := problem_of(run):
        says, _, fix = problem.partition("; ")
        return Finding("warning", WHAT, says, fix)
    try:
        if not held and describe_status(run, _phase) == "died":
            return Finding("note", WHAT, f"{run.name} ended early", f"ralph-tui resume {run.name}")
    except RalphError as error:
        return refusal("warning", WHAT, error)
    return Finding("ok", WHAT, f"the journal of the newest run, {run.name}, is intact")


def _indexes(around: Surroundings) -> Iterator[Finding]:
    """Report damaged indexes as notes: an index is a cache, and is rebuilt on use."""
    for path in sorted(index_folder(around.root).glob("*.db")):
        try:
            # Read only: the check changes nothing and waits for no lock.
            address = f"file:{quote(os.fsencode(path))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=0)) as connection:
                well = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        except sqlite3.OperationalError:
            continue  # in use now
        except sqlite3.DatabaseError:
            well = False
        if not well:
            says = f"the index {around.shown(path)} is damaged; it is rebuilt when next used"
            yield Finding("note", WHAT, says)


def _phase(status: RunStatus) -> str:
    return str(status["phase"])
