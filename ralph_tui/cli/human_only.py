"""Commands for people only: an agent has a shell, but must not act as the user."""

from argparse import Namespace
from collections.abc import Callable

from ralph_tui.base.errors import UsageError

STARTED_BY_RUN = "processes started by a run or fleet cannot do this; use your own terminal"
HUMAN_ONLY: dict[str, Callable[[Namespace], bool]] = {
    "resume": lambda args: True,
    "restore": lambda args: args.snapshot is not None and not args.dry_run,
    "prune": lambda args: not args.dry_run,
    "rebuild": lambda args: True,
    "history": lambda args: args.reflect is not None,
    "memory": lambda args: args.action not in ("list", "show", "stats", "export"),
    "config": lambda args: args.action == "init",
    "hooks": lambda args: args.action in ("install", "remove"),
    "fleet": lambda args: args.action in ("resume", "prune"),
}
"""By command: whether its arguments change a run, its records, or the user's files or settings.

Commands to a live run are not listed, because the run itself refuses them."""


def refuse_agents(args: Namespace) -> None:
    """Raise ``UsageError`` if only people may do this and a run or fleet started this process."""
    is_human_only = HUMAN_ONLY.get(args.subcommand)
    if is_human_only is None or not is_human_only(args):
        return
    # Imported only for these commands.
    from ralph_tui.adapters.processes.lineage import started_by_run  # noqa: PLC0415

    if started_by_run(_find_opener(getattr(args, "commands_from", None))):
        raise UsageError(STARTED_BY_RUN)


def _find_opener(descriptor: int | None) -> int:
    """Return the id of the process that created the command socket; 0 if unknown."""
    if descriptor is None:
        return 0
    from ralph_tui.adapters.remote.peer import find_opener  # noqa: PLC0415 - only in a fleet

    return find_opener(descriptor)
