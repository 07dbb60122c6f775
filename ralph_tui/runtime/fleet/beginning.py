"""What the owner of a fleet should know at its start."""

import os
from collections.abc import Iterator
from pathlib import Path

from ralph_tui.adapters.agents import AGENTS, find_agent
from ralph_tui.adapters.workspace.git_status import git_status
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.config.sources import examine
from ralph_tui.errors import UsageError
from ralph_tui.fleet.events import FleetEvent, FleetNoticed
from ralph_tui.fleet.plan import Plan
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line


def remarks(repository: Repository, plan: Plan, commit: str) -> Iterator[FleetEvent]:
    """What is not in the commit, or not held by the budget, although its owner may expect it."""
    status = git_status(repository)
    paths = {*status.staged, *status.unstaged, *status.untracked}
    changed = len(paths) + sum(status.omitted.values())
    if changed:
        yield FleetNoticed(
            level="warn",
            text=f"{count(changed, 'file')} of {repository.root} "
            f"{'is' if changed == 1 else 'are'} not committed: all loops begin with "
            f"{plan.base}, {commit[:10]}, without what is not committed",
        )
    yield from _untold_costs(repository.root, plan)


def _untold_costs(root: Path, plan: Plan) -> Iterator[FleetEvent]:
    """The agents whose cost nobody will know, where a budget is to hold it."""
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
        does = "does not tell what it costs" if len(silent) == 1 else "do not tell what they cost"
        it = "it" if len(silent) == 1 else "them"
        names = ", ".join(silent)
        said = f"{names} {does}: the fleet's budget does not hold {it}"
        yield FleetNoticed(level="warn", text=said)


def folder_of(start_root: str) -> Path:
    """The repository that a fleet was started in; raises ``UsageError`` where it is gone."""
    root = Path(start_root)
    if not root.is_dir():
        shown = one_line(start_root)
        raise UsageError(f"{shown} is gone, where the fleet was started: put it back")
    return root
