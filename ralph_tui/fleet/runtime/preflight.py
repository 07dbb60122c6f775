"""Check a fleet before it starts, and warn the user about surprises."""

import errno
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ralph_tui.adapters.agents import AGENTS, ON, AgentContext, choose_agent, find_agent
from ralph_tui.adapters.clones.filling import (
    SETUP,
    SETUP_LIMIT_S,
    put_copied,
    read_copied,
    run_setup,
)
from ralph_tui.adapters.clones.making import Origin, make_clone
from ralph_tui.adapters.clones.places import HOME_FILE, home_of, loop_folders, remove_folder
from ralph_tui.adapters.clones.probing import LIMIT_S
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.adapters.workspace.git_status import git_status
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import UsageError, WorkspaceError, why
from ralph_tui.base.plain_files import make_folder
from ralph_tui.config.sources import examine
from ralph_tui.fleet.events import FleetEvent, FleetNoticed
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.wording import name_loops
from ralph_tui.ports.clones import Source
from ralph_tui.runtime.lineup import line_up
from ralph_tui.state.goal import passes_before_words
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line


def start_notices(repository: Repository, plan: Plan, commit: str) -> Iterator[FleetEvent]:
    """Warn about work outside the commit, and about costs outside the budget."""
    status = git_status(repository)
    paths = {*status.staged, *status.unstaged, *status.untracked}
    changed = len(paths) + sum(status.omitted.values())
    if changed:
        yield FleetNoticed(
            level="warn",
            text=f"{count(changed, 'file')} of {repository.root} "
            f"{'is' if changed == 1 else 'are'} not committed: all loops start from "
            f"{plan.base}, {commit[:10]}, without those changes",
        )
    yield from _choice_notices(plan)
    yield from _cost_warnings(repository.root, plan)


def _choice_notices(plan: Plan) -> Iterator[FleetEvent]:
    """Report how many attempts run for an objective, and how the winner is chosen."""
    attempts = Counter((loop.tries_at, loop.choice) for loop in plan.loops if loop.tries_at)
    for (name, choice), number in attempts.items():
        how = (
            "the first to complete is chosen"
            if choice == "first"
            else "all run to the end, and the best is chosen"
        )
        yield FleetNoticed(text=f"{number} attempts at {name}: {how}")


def _cost_warnings(root: Path, plan: Plan) -> Iterator[FleetEvent]:
    """Warn about agents that do not report costs, if there is a budget."""
    if plan.budget_usd is None:
        return
    usual = find_agent(examine(root, {}, os.environ).settings.agent)
    known = {agent.name: agent for agent in AGENTS}
    named = {loop.settings.get("agent.name", "") for loop in plan.loops}
    agents = [known.get(name) if name else usual for name in sorted(named)]
    silent = dict.fromkeys(
        agent.name for agent in agents if agent is not None and not agent.abilities.cost
    )
    if silent:
        does = "does not report its cost" if len(silent) == 1 else "do not report their cost"
        it = "it" if len(silent) == 1 else "them"
        names = ", ".join(silent)
        said = f"{names} {does}: the fleet's budget cannot limit {it}"
        yield FleetNoticed(level="warn", text=said)


def resume_notices(state: FleetState) -> Iterator[FleetEvent]:
    """Report how loops continue, where users may expect something else.

    `state` is the fleet's state before the resume.
    """
    loops = state.loops.values()
    stay = [loop for loop in loops if not (loop.has_work_left or loop.waits_again)]
    again = [loop for loop in loops if loop.may_begin_again]
    over = [loop for loop in loops if loop.starts_over]
    parts = []
    if over:
        clone = "its clone was" if len(over) == 1 else "their clones were"
        parts.append(f"{name_loops(over)} {'starts' if len(over) == 1 else 'start'} over: "
                     f"{clone} removed by 'ralph-tui fleet prune'")  # fmt: skip
    if stay:
        parts.append(f"{name_loops(stay)} {'has' if len(stay) == 1 else 'have'} ended and "
                     f"will not be retried")  # fmt: skip
    if again:
        parts.append(f"{name_loops(again)} will be retried")
    if parts:
        yield FleetNoticed(text="; ".join(parts))


def check_agents(root: Path, plan: Plan) -> None:
    """Raise ``UsageError`` if this machine has none of the loops' agents.

    A loop whose own agent is missing reports it, and the others continue. A program that the set-up
    command may install is not checked.
    """
    named = {tuple(sorted(loop.settings.items())) for loop in plan.loops}
    problems = [_find_problem(root, plan, dict(given)) for given in sorted(named)]
    if problems and problems[0] is not None and None not in problems:
        raise problems[0]


def _find_problem(root: Path, plan: Plan, given: Mapping[str, str]) -> UsageError | None:
    """Return the error that `run` would raise; one available agent of a chain is enough."""
    options = [f"{name}={value}" for name, value in given.items()]
    settings = examine(root, {}, os.environ, options).settings
    try:
        agent = choose_agent(settings.agent)
        if agent.program or not plan.setup:
            line_up(agent, AgentContext(settings.agent, root), settings)
    except UsageError as error:
        return UsageError(str(error), ways=[way for way in error.ways if way not in ON])
    return None


def check_trees(root: Path, trees: Path) -> None:
    """Create the folder `trees` and check that it can contain clones.

    Raises ``UsageError``, and ``WorkspaceError`` if its identity cannot be stored in it.
    """
    if trees.resolve().is_relative_to(root.resolve()):
        raise UsageError(
            f"--trees {one_line(str(trees))} is in the repository {one_line(str(root))}: choose a "
            "folder outside it, or omit --trees"
        )
    try:
        make_folder(trees)
        if not os.access(trees, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(trees))
    except OSError as error:
        raise UsageError(
            f"cannot write {one_line(str(trees))}, the folder for the loops' clones: "
            f"{why(error, 'make it writable, or choose another folder with --trees')}"
        ) from error
    home_of(trees)


def check_home(state: FleetState, fleet_id: str, trees: Path) -> None:
    """Raise ``UsageError`` if a loop's clone was made when `trees` had another identity.

    Otherwise the loop would wait for a host with the old identity.
    """
    home = home_of(trees)
    for folder in loop_folders(trees, fleet_id):
        loop = state.loops.get(folder.loop)
        if loop is None or loop.attempt != folder.attempt or loop.home in ("", home):
            continue
        raise UsageError(
            f"{one_line(str(trees / HOME_FILE))} has changed since the clone of loop "
            f"{folder.loop} was made: write {loop.home} into it, and resume again"
        )


def find_repository(start_root: str) -> Path:
    """Return the repository that a fleet was started in; raise ``UsageError`` if it is gone."""
    root = Path(start_root)
    if not root.is_dir():
        shown = one_line(start_root)
        raise UsageError(f"the fleet was started in {shown}, which no longer exists: put it back")
    return root


FILE_KEYS = (
    'criterion = "..." (without a fleet file: --criterion TEXT)',
    "until_promise = true (--until-promise)",
)


def check_base(repository: Repository, source: Source, plan: Plan, trees: Path) -> None:
    """Raise ``UsageError`` if a completion command already passes on the base; blocks.

    Each command runs once, in a temporary clone of the base. A loop whose command passes there
    could never detect its completion, so the fleet is refused before anything is spent.

    A failing set-up, or a command slower than `LIMIT_S`, is left to the loops, which measure it
    themselves.
    """
    commands: dict[str, str] = {}
    for loop in plan.loops:
        if loop.command and loop.criterion is None and not loop.until_promise:
            commands.setdefault(loop.command, loop.objective)
    if not commands:
        return
    copied = read_copied(repository.root, plan.copied)
    with _temporary_folder(trees) as folder:
        tree, log = folder / "tree", folder / "check.log"
        try:
            make_clone(tree, Origin(repository.root, users=True), source, "ralph-check")
            put_copied(tree, copied)
            if plan.setup.strip():
                run_setup(_make_gate(plan.setup, tree, SETUP_LIMIT_S, SETUP), log)
        except WorkspaceError:
            return
        for command, objective in commands.items():
            if _make_gate(command, tree, LIMIT_S).run(log).ok:
                why = passes_before_words(command, FILE_KEYS)
                raise UsageError(f'objective "{clip(one_line(objective), 80)}": {why}')


def _make_gate(
    command: str, tree: Path, limit_s: float, called: str = "completion command"
) -> ShellGate:
    env = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    return ShellGate(
        command, cwd=tree, run_id="fleet-check", timeout_s=limit_s, env=env, called=called
    )


@contextmanager
def _temporary_folder(trees: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=".check-", dir=trees))
    try:
        yield folder
    finally:
        remove_folder(folder)
