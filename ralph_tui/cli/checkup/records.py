"""The records of this worktree: whether they are in use or damaged."""

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
from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding, refusal

SUBJECT = "records"


def check_records(env: Environment) -> Iterator[Finding]:
    """Check the lock, the newest run and the search index."""
    owner = holder(env.records / "lock")
    run = newest_run(env.root)
    if owner is not None and owner.alive:
        who = f"process {owner.pid} on {owner.host}" if owner.pid else "another process"
        says = f"{owner.run or 'a run'} is running here ({who})"
        yield Finding(
            "note", SUBJECT, says, "ralph-tui attach shows it; only one run at a time can work here"
        )
    elif owner is not None:
        says = f"{owner.run or 'a run'} died; processes it started still hold the lock"
        yield Finding("warning", SUBJECT, says, "ralph-tui resume ends them and continues the run")
    if run is None:
        yield Finding("ok", SUBJECT, f"no runs in {env.short_path(env.root)} yet")
        return
    yield _check_newest(run, held=owner is not None)
    yield from _check_indexes(env)


def _check_newest(run: RecordedRun, *, held: bool) -> Finding:
    """Report on the newest run. A damaged record does not prevent other runs from starting."""
    if problem := problem_of(run):
        says, _, fix = problem.partition("; ")
        return Finding("warning", SUBJECT, says, fix)
    try:
        if not held and describe_status(run, _phase) == "died":
            return Finding(
                "note", SUBJECT, f"{run.name} ended early", f"ralph-tui resume {run.name}"
            )
    except RalphError as error:
        return refusal("warning", SUBJECT, error)
    return Finding("ok", SUBJECT, f"the journal of the newest run, {run.name}, is intact")


def _check_indexes(env: Environment) -> Iterator[Finding]:
    """Report damaged indexes as notes: an index is a cache, and is rebuilt on use."""
    for path in sorted(index_folder(env.root).glob("*.db")):
        try:
            # Read only: the check changes nothing and waits for no lock.
            address = f"file:{quote(os.fsencode(path))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=0)) as connection:
                intact = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        except sqlite3.OperationalError:
            continue  # in use
        except sqlite3.DatabaseError:
            intact = False
        if not intact:
            says = f"the index {env.short_path(path)} is damaged; it is rebuilt when next used"
            yield Finding("note", SUBJECT, says)


def _phase(status: RunStatus) -> str:
    return str(status["phase"])
