"""``fleet run`` and ``fleet resume``: run a fleet in this process or in the background.

A fleet always has its own process. On a terminal it starts in the background and this terminal
watches it, so closing the terminal by mistake does not stop the fleet.
"""

import argparse
import math
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.adapters.agents import selectable_agents
from ralph_tui.adapters.processes.lineage import name_of
from ralph_tui.adapters.records.folders import named_path, worktree_root
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts.background import StartedProcess, spawn_in_background
from ralph_tui.cli.fronts.presentation import on_terminal
from ralph_tui.cli.options import check_goal, check_settings
from ralph_tui.fleet.dispatch import Address, check_installed
from ralph_tui.fleet.plan import MAX_AGENTS, MAX_TRIES, Plan, expand_attempts
from ralph_tui.fleet.records import FleetFolder, find_fleet
from ralph_tui.ports.clones import Loop
from ralph_tui.text.sanitize import clip, one_line

if TYPE_CHECKING:
    from ralph_tui.fleet.runtime.assembly import AssembledFleet, Connection

_PLAN_KEYS = ("agents", "base", "isolation", "setup")
"""Arguments that are fields of a plan and override those of a fleet file."""


def check_arguments(args: argparse.Namespace) -> None:
    """Check the command line alone, without reading any file. Raises ``UsageError``."""
    given = (args.what or "").strip()
    if bool(given) == bool(args.from_issues):
        raise UsageError(
            'pass one thing to run: a FILE, an "OBJECTIVE" with -c, or --from-issues LABEL'
        )
    file = given and _is_file(given)
    promise = args.until_promise or None
    own = [("-c", args.command), ("--criterion", args.criterion), ("--until-promise", promise)]
    tries = [("--best-of", args.best_of), ("--first", _is_first(args) or None)]
    if file:
        for name, value in [*own, *tries]:
            if value is not None:
                raise UsageError(f"a fleet file sets {name} for each objective; leave it out")
    else:
        check_goal(args, "loop")
    if args.best_of is not None and not 1 <= args.best_of <= MAX_TRIES:
        raise UsageError(f"--best-of must be from 1 to {MAX_TRIES}")
    if (args.first or args.choice) and (args.best_of or 1) < 2:
        raise UsageError("--first needs several attempts; pass --best-of N")
    _parse_dollars(args.budget)
    check_settings(args)


def build_plan(args: argparse.Namespace, root: Path) -> Plan:
    """Build the plan from a file, from one objective with several attempts, or from issues.

    Raises a ``UsageError`` that lists every problem.
    """
    given = (args.what or "").strip()
    if args.from_issues:
        from ralph_tui.fleet.cli.issues import loops_from_issues  # noqa: PLC0415 - needs the network

        plan = Plan(loops=loops_from_issues(args, root, tries))
    elif _is_file(given):
        plan = _read_file(args, root)
        if any(loop.issue is not None and not loop.objective for loop in plan.loops):
            from ralph_tui.fleet.cli.issues import fill_objectives  # noqa: PLC0415 - needs the network

            plan = fill_objectives(plan, args, root)
    else:
        plan = Plan(loops=tries(args, "1", given))
    return apply_arguments(plan, args)


def _read_file(args: argparse.Namespace, root: Path) -> Plan:
    """Read the fleet file, without its issues. Raises a ``UsageError`` that lists every problem."""
    # Needed only for a file.
    from ralph_tui.adapters.clones.sources import is_commit  # noqa: PLC0415
    from ralph_tui.fleet.config import read_fleet_file  # noqa: PLC0415

    return read_fleet_file(
        named_path(args.what.strip()),
        {agent.name: agent.takes_command for agent in selectable_agents()},
        lambda base: args.base is not None or is_commit(root, base),
    )


def tries(args: argparse.Namespace, name: str, objective: str, **more: Any) -> tuple[Loop, ...]:
    """Return the loops for one objective: one, or one for each requested attempt."""
    goal = {name: getattr(args, name) for name in ("command", "criterion", "until_promise")}
    fields = {"objective": objective, **goal, **more}
    return tuple(
        expand_attempts(name, args.best_of or 1, "first" if _is_first(args) else "all", **fields)
    )


def _is_first(args: argparse.Namespace) -> bool:
    """True for ``--first`` and for its earlier spelling ``--choice first``."""
    return bool(args.first or args.choice == "first")


def apply_arguments(plan: Plan, args: argparse.Namespace) -> Plan:
    """Apply the command line's values, which override those of a file."""
    changes = {name: getattr(args, name) for name in _PLAN_KEYS if getattr(args, name) is not None}
    if (budget := _parse_dollars(args.budget)) is not None:
        changes["budget_usd"] = budget
    settings = parse_settings(args)
    loops = tuple(
        loop.model_copy(update={"settings": loop.settings | settings}) for loop in plan.loops
    )
    return Plan.model_validate(plan.model_dump() | changes | {"loops": loops})


def parse_settings(args: argparse.Namespace) -> dict[str, str]:
    """Return the settings given on the command line, which apply to all loops."""
    from ralph_tui.config.sources import FLAGS  # noqa: PLC0415 - slow, not needed for --help

    flags = {name: vars(args).get(name) for name in FLAGS}
    given = {name: value for name, value in flags.items() if value is not None}
    for option in args.set_options:
        name, _, value = option.partition("=")
        given[name.strip()] = value
    if "agent.command" in given:
        given.setdefault("agent.name", "command")
    return given


def _is_file(given: str) -> bool:
    """True if `given` names a file; raise ``UsageError`` for a fleet file that does not exist."""
    path = named_path(given) if len(given) < 1000 and "\n" not in given else None
    try:
        if path is not None and path.is_file():
            return True
        if path is not None and path.exists() and (given.endswith(".toml") or "/" in given):
            what = "a folder" if path.is_dir() else "not a plain file"
            raise UsageError(f"{clip(one_line(given), 200)} is {what}: pass a fleet file")
    except OSError:
        return False
    if given.endswith(".toml") and len(given.split()) == 1:
        raise UsageError(
            f"there is no file {clip(one_line(given), 200)}: create it, or pass an objective of "
            "several words in quotes"
        )
    return False


def _parse_dollars(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1_000_000:
        raise UsageError(f"--budget takes dollars, such as 12.50, not {clip(one_line(text), 40)!r}")
    return value


def run(args: argparse.Namespace) -> int:
    """Start a fleet; return the exit code of its outcome if it was watched to its end."""
    _check(args, least=0 if args.listen else 1)  # with --listen, other machines can run the loops
    _check_reach(args)
    check_arguments(args)
    check_installed()
    if _is_background(args):
        if _is_file((args.what or "").strip()):  # the other process would refuse it after the line
            _read_file(args, worktree_root(Path.cwd()))
        print("checking the completion command on the base", file=sys.stderr)
        return _run_detached(args)
    plan = build_plan(args, worktree_root(Path.cwd()))
    if not plan.agents and not args.listen:
        raise UsageError(
            "fleet.agents is 0 and no other machine can join; pass --agents 1 or more, or "
            "--listen tls://HOST:PORT"
        )
    from ralph_tui.fleet.runtime.assembly import new_fleet  # noqa: PLC0415 - loads git and agents

    return _run_in_place(args, new_fleet(Path.cwd(), plan, _make_connection(args)))


def resume(args: argparse.Namespace) -> int:
    """Resume a fleet at its earlier addresses; otherwise works like `run`."""
    _check(args, least=0)
    check_installed()
    found = find_fleet(worktree_root(Path.cwd()), args.fleet)
    if _is_background(args):
        return _run_detached(args)
    from ralph_tui.fleet.runtime.assembly import resume_fleet  # noqa: PLC0415 - as above

    # In the background, name the process that started it, which still awaits the first output.
    asked_by = os.getppid() if args.detached else os.getpid()
    return _run_in_place(args, resume_fleet(found, _make_connection(args), name_of(asked_by)))


def _check(args: argparse.Namespace, *, least: int) -> None:
    """Check the arguments shared by `run` and `resume`; `least` is the minimum of ``--agents``."""
    if args.detach and (args.headless or args.json):
        raise UsageError("--detach prints how to reach the fleet: leave out --headless and --json")
    if args.agents is not None and not least <= args.agents <= MAX_AGENTS:
        hint = "; 0 needs --listen" if args.agents == 0 else ""
        raise UsageError(f"--agents must be from {least} to {MAX_AGENTS}{hint}")


def _check_reach(args: argparse.Namespace) -> None:
    if args.listen and Address.parse(args.listen) and not args.tls:
        raise UsageError(f"--listen {args.listen} needs --tls FOLDER, for the fleet's key")
    if args.tls and not args.listen:
        raise UsageError("--tls is for hosts that join; pass --listen tls://HOST:PORT too")


def _make_connection(args: argparse.Namespace) -> "Connection":
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


def _is_background(args: argparse.Namespace) -> bool:
    """True if the fleet must run in another process."""
    screen = on_terminal() and not (args.headless or args.json)
    return (args.detach or screen) and not args.detached


def _run_in_place(
    args: argparse.Namespace, making: "AbstractContextManager[AssembledFleet]"
) -> int:
    from ralph_tui.fleet.cli.foreground import run_here  # noqa: PLC0415 - in the fleet's process

    return run_here(making, as_json=args.json, detached=args.detached)


def _run_detached(args: argparse.Namespace) -> int:
    begun = spawn_in_background(sys.argv[1:])
    if not isinstance(begun, StartedProcess):
        return begun
    folder = FleetFolder(Path(begun.folder))
    if not args.detach:
        from ralph_tui.fleet.cli.showing import show_fleet  # noqa: PLC0415 - only with a terminal

        return show_fleet(worktree_root(Path.cwd()), folder)
    print(f"{begun.name} runs in the background (process {begun.pid})")
    for purpose, how in (
        ("watch and steer it", "ralph-tui fleet attach"),
        ("show its status", "ralph-tui fleet status"),
        ("end it", "ralph-tui fleet stop"),
        ("read its output", str(folder.log)),
    ):
        print(f"  {purpose:<20}{how}")
    return ExitCode.COMPLETED
