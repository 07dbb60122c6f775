"""``fleet run`` and ``fleet resume``: a fleet in this process, or one in the background.

A fleet always has a process of its own. On a terminal that is started in the background, and this
terminal looks on: what is closed by mistake then ends nothing.
"""

import argparse
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.processes.lineage import name_of
from ralph_tui.adapters.records.folders import named_path, worktree_root
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts.background import Begun, begin_in_background
from ralph_tui.cli.fronts.presentation import on_terminal
from ralph_tui.errors import UsageError
from ralph_tui.fleet.cli.planning import check_words, plan_of
from ralph_tui.fleet.dispatch import check_installed
from ralph_tui.fleet.dispatch.address import Address
from ralph_tui.fleet.plan import MOST_AGENTS
from ralph_tui.fleet.records.folders import FleetFolder, find_fleet

if TYPE_CHECKING:
    from ralph_tui.fleet.runtime.assembly import AssembledFleet, Connection


def run(args: argparse.Namespace) -> int:
    """Start a fleet; the exit code tells its outcome where it was watched to its end."""
    _check(args, least=0 if args.listen else 1)  # then others can run the loops
    _check_reach(args)
    check_words(args)
    check_installed()
    if _away(args):
        print("checking the completion command on the base", file=sys.stderr)
        return _in_background(args)
    plan = plan_of(args, worktree_root(Path.cwd()))
    if not plan.agents and not args.listen:
        raise UsageError(
            "fleet.agents is 0, and nobody else could run its loops: say --agents 1 or more, or "
            "where other machines join, with --listen tls://HOST:PORT"
        )
    from ralph_tui.fleet.runtime.assembly import new_fleet  # noqa: PLC0415 - loads git and agents

    return _here(args, new_fleet(Path.cwd(), plan, _connection(args)))


def resume(args: argparse.Namespace) -> int:
    """Go on with a fleet, reached as it was; as `run`."""
    _check(args, least=0)
    check_installed()
    found = find_fleet(worktree_root(Path.cwd()), args.fleet)
    if _away(args):
        return _in_background(args)
    from ralph_tui.fleet.runtime.assembly import resumed_fleet  # noqa: PLC0415 - as above

    # In the background it has no terminal; whoever has started it waits for its first word.
    asked_by = os.getppid() if args.detached else os.getpid()
    return _here(args, resumed_fleet(found, _connection(args), name_of(asked_by)))


def _check(args: argparse.Namespace, *, least: int) -> None:
    """`least`: loops at once on this machine."""
    if args.detach and (args.headless or args.json):
        raise UsageError("--detach prints how to reach the fleet: leave --headless and --json out")
    if args.agents is not None and not least <= args.agents <= MOST_AGENTS:
        raise UsageError(f"--agents takes a number from {least} to {MOST_AGENTS}")


def _check_reach(args: argparse.Namespace) -> None:
    if args.listen and Address.parse(args.listen) and not args.tls:
        raise UsageError(f"--listen {args.listen} needs --tls FOLDER, for the fleet's key")
    if args.tls and not args.listen:
        raise UsageError("--tls is for hosts that join: say where with --listen tls://HOST:PORT")


def _connection(args: argparse.Namespace) -> "Connection":
    from ralph_tui.fleet.events import Reach  # noqa: PLC0415 - as above
    from ralph_tui.fleet.runtime.assembly import Connection  # noqa: PLC0415 - as above

    return Connection(
        Reach(
            listen=args.listen or "",
            tls=str(named_path(args.tls).absolute()) if args.tls else "",
            trees=str(named_path(args.trees).absolute()) if args.trees else "",
        ),
        agents=args.agents,
        unattended=not args.detached,
    )


def _away(args: argparse.Namespace) -> bool:
    """Whether the fleet is to have another process than this one."""
    screen = on_terminal() and not (args.headless or args.json)
    return (args.detach or screen) and not args.detached


def _here(args: argparse.Namespace, making: "AbstractContextManager[AssembledFleet]") -> int:
    from ralph_tui.fleet.cli.foreground import run_here  # noqa: PLC0415 - in the fleet's process

    return run_here(making, as_json=args.json, detached=args.detached)


def _in_background(args: argparse.Namespace) -> int:
    begun = begin_in_background(sys.argv[1:])
    if not isinstance(begun, Begun):
        return begun
    folder = FleetFolder(Path(begun.folder))
    if not args.detach:
        from ralph_tui.fleet.cli.attach import show_fleet  # noqa: PLC0415 - of a terminal alone

        return show_fleet(worktree_root(Path.cwd()), folder)
    print(f"{begun.name} runs in the background (process {begun.pid})")
    for purpose, how in (
        ("watch and steer it", "ralph-tui fleet attach"),
        ("see how it stands", "ralph-tui fleet status"),
        ("end it", "ralph-tui fleet stop"),
        ("read what it says", str(folder.log)),
    ):
        print(f"  {purpose:<20}{how}")
    return ExitCode.COMPLETED
