"""What only people may do: an agent has a shell, and what it starts speaks for nobody else."""

from argparse import Namespace
from collections.abc import Callable

from ralph_tui.base.errors import UsageError

STARTED_BY_RUN = (
    "a process that a run or fleet has started cannot do this: use a terminal that none has started"
)
FOR_PEOPLE: dict[str, Callable[[Namespace], bool]] = {
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
"""By command, whether these arguments change a run, its records, the files or settings of a person.

What reaches a run that is alive, the run itself refuses.
"""


def refuse_agents(args: Namespace) -> None:
    """Raises ``UsageError`` where only people may do this and a run or fleet has started us."""
    wanted = FOR_PEOPLE.get(args.subcommand)
    if wanted is None or not wanted(args):
        return
    # For these alone.
    from ralph_tui.adapters.processes.lineage import started_by_run  # noqa: PLC0415

    if started_by_run(_starter(getattr(args, "commands_from", None))):
        raise UsageError(STARTED_BY_RUN)


def _starter(descriptor: int | None) -> int:
    """The process that has made the socket which commands come from; 0 where it is not known."""
    if descriptor is None:
        return 0
    from ralph_tui.adapters.remote.peer import opener_of  # noqa: PLC0415 - of a fleet's loops

    return opener_of(descriptor)
