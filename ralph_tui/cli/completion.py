"""Shell completions: commands, options, runs, settings, agents.

The name of an argument in the help (``RUN``, ``NAME=VALUE``) determines its completions, so a new
command needs no entry here. Only the typed command is loaded. A failed lookup offers nothing,
because a message must not appear in a line that the user is typing.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import argcomplete
from argcomplete.completers import FilesCompleter, SuppressCompleter

from ralph_tui.base.errors import RalphError
from ralph_tui.cli import COMMANDS, build_parser

Names = Callable[[str], Iterable[str]]
"""Returns the completions of the typed prefix."""
READ_COMMANDS = ("replay", "report", "status", "lab", "prompt", "history")
"""Commands that only read, and therefore also accept runs of other tools."""
_TYPEABLE = re.compile(r"[\w@%+:,.][\w@%+:,./-]*")
"""Names that need no quotes in any shell; folder names are foreign text."""


def answer() -> None:
    """Print the completions and exit; the shell passes the typed line in the environment."""
    typed = (
        os.environ["COMP_LINE"].encode()[: int(os.environ["COMP_POINT"])].decode("utf-8", "ignore")
    )
    complete = typed.split()[1:] if typed[-1:].isspace() else typed.split()[1:-1]
    word = next((word for word in complete if not word.startswith("-")), "")
    parser, _ = build_parser((word,) if word in COMMANDS else ())
    for action in _actions(parser):
        action.completer = _completer(action, word)  # type: ignore[attr-defined]
    argcomplete.autocomplete(
        parser, always_complete_options=False, default_completer=SuppressCompleter()
    )


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for subparser in action.choices.values():
                yield from _actions(subparser)
        else:
            yield action


def _completer(action: argparse.Action, command: str) -> object:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    names = _BY_DEST.get(action.dest) or _BY_METAVAR.get(metavar)
    if metavar == "RUN" and command in READ_COMMANDS:
        names = _all_run_names
    if names is None:
        return FilesCompleter() if metavar in ("FILE", "FOLDER") else None

    def complete(prefix: str, **_: object) -> list[str]:
        try:
            return [name for name in names(prefix) if name.startswith(prefix)]
        except (RalphError, OSError):
            return []

    return complete


def _run_names(prefix: str) -> Iterable[str]:
    """List tasks, fleets' loops, and attempts: of every task if `prefix` contains a slash,
    otherwise only of tasks with several attempts."""
    from ralph_tui.adapters.records.folders import worktree_root  # noqa: PLC0415 - loaded on demand
    from ralph_tui.adapters.records.listing import list_runs  # noqa: PLC0415
    from ralph_tui.adapters.records.runs import find_mirrors  # noqa: PLC0415

    root = worktree_root(Path.cwd())
    names = [run.name for run in list_runs(root)]
    attempts: dict[str, list[str]] = {}
    for name in filter(_TYPEABLE.fullmatch, names):
        attempts.setdefault(name.partition("/")[0], []).append(name)
    shown = (names for names in attempts.values() if "/" in prefix or len(names) > 1)
    loops = dict.fromkeys(run.name for run in find_mirrors(root))
    return chain(attempts, *shown, filter(_TYPEABLE.fullmatch, loops))


def _all_run_names(prefix: str) -> Iterable[str]:
    """List runs, including those of other tools recorded here."""
    from ralph_tui.adapters.records.folders import worktree_root  # noqa: PLC0415
    from ralph_tui.adapters.records.foreign import foreign_runs  # noqa: PLC0415

    imported = (run.name for run in foreign_runs().find(worktree_root(Path.cwd())))
    return chain(_run_names(prefix), filter(_TYPEABLE.fullmatch, imported))


def _task_names(prefix: str) -> Iterable[str]:
    return (name for name in _run_names(prefix) if name.startswith("task-"))


def _complete_set(prefix: str) -> Iterable[str]:
    """Offer ``NAME=``; after the ``=``, offer the values of a setting that takes fixed words."""
    from ralph_tui.config.described import choices_of  # noqa: PLC0415
    from ralph_tui.config.settings import NAMES  # noqa: PLC0415

    name, equals, _ = prefix.partition("=")
    if not equals:
        return (f"{name}=" for name in NAMES)
    if name in ("agent.name", "agent.fallback"):
        return (f"{name}={agent}" for agent in _agent_names(""))
    return (f"{name}={choice}" for choice in choices_of(name)) if name in NAMES else ()


def _setting_names(_: str) -> Iterable[str]:
    from ralph_tui.config.settings import NAMES  # noqa: PLC0415

    return (*dict.fromkeys(name.partition(".")[0] for name in NAMES), *NAMES)


def _agent_names(_: str) -> Iterable[str]:
    from ralph_tui.adapters.agents import selectable_agents  # noqa: PLC0415

    return (agent.name for agent in selectable_agents())


def _scenario_names(_: str) -> Iterable[str]:
    from ralph_tui.demo.agent.scenario import SCENARIOS  # noqa: PLC0415

    return SCENARIOS


_BY_DEST: Mapping[str, Names] = {
    "agent.name": _agent_names,
    "permissions.mode": lambda _: ("edits", "ask", "skip"),
    "scenario": _scenario_names,
}
_BY_METAVAR: Mapping[str, Names] = {
    "RUN": _run_names,
    "TASK": _task_names,
    "NAME=VALUE": _complete_set,
    "KEY=VALUE": _complete_set,
    "SETTING": _setting_names,
}
