"""The work of a session that hands over, as a commit of the owner's branch, where that is set."""

from ralph_tui.commands import Controls
from ralph_tui.errors import WorkspaceError
from ralph_tui.events import Noticed, WorkCommitted
from ralph_tui.loop.run import Run

NAMED = 3
"""Files that are left out and told each by each."""


def commit_work(run: Run, k: int, trees: tuple[str, str], message: str) -> None:
    """Commit what changed between two trees, or say why not: the rollover goes on in any case."""
    commits, (since, until) = run.ports.commits, trees
    if commits is None or not run.settings.context.commit_wip or not until:
        return
    try:
        with run.scheduler.offering(Controls(cancel=commits.cancel)):
            made = run.scheduler.run_job("commit", lambda: commits.commit(since, until, message))
    except WorkspaceError as error:
        _warn(run, f"the work of the session is not committed: {error}")
        return
    if made is None:
        return
    if made.left_out:
        named = ", ".join(made.left_out[:NAMED])
        more = f" and {len(made.left_out) - NAMED} more" if len(made.left_out) > NAMED else ""
        why = "not in the commit, because there were changes in it before the session"
        _warn(run, f"{named}{more}: {why}")
    if made.commit:
        run.record(
            WorkCommitted(iteration=k, commit=made.commit, message=message, files=made.files)
        )


def _warn(run: Run, text: str) -> None:
    run.record(Noticed(level="warn", source="context", text=text))
