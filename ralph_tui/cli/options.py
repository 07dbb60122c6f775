"""Flags that several commands share: for the front end, the goal and the settings.

The value of a setting stays text here. `config.sources` converts it, and reports a bad value with
the same message wherever it was set.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents import AGENTS, selectable_agents, unknown_agent_error
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.base.errors import SettingsError, UsageError
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.config.sources import Loaded

PLAIN_VALUES = {
    "agent.name": "|".join(re.escape(agent.name) for agent in selectable_agents()),
    "permissions.mode": r"edits|skip|ask",
    "limits.max_iterations": r"[1-9][0-9]{0,2}",
    "limits.session_timeout_s": r"[1-9][0-9]?[smh]|[1-9][0-9][0-9][sm]",
    "limits.budget_usd": r"[1-9][0-9]{0,4}(\.[0-9][0-9]?)?",
}
"""Patterns of obviously valid values, by setting: accepted without loading the settings."""

PROMISE_HELP = (
    "An agent promises that it is done by printing <promise>COMPLETE</promise>; "
    "a promise alone does not complete a run."
)
COMMAND_HELP = (
    "your own agent: a shell command that reads the prompt from stdin; for acp: a program that "
    "speaks ACP"
)


def add_presentation(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose a front end."""
    parser.add_argument(
        "--headless", action="store_true", help="print plain lines instead of a screen"
    )
    parser.add_argument(
        "--json", action="store_true", help="print events, one JSON object per line"
    )


class Once(argparse.Action):
    """Refuses an option given twice, where argparse would silently keep only the last value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store the value. Raises ``UsageError`` if there already is one."""
        if getattr(namespace, self.dest) is not None:
            joined = (
                'join them, as in -c "A && B"' if self.dest == "command" else "combine them in one"
            )
            raise UsageError(f"{option_string} is given twice; {joined}")
        setattr(namespace, self.dest, values)


def add_goal(parser: argparse.ArgumentParser) -> None:
    """Add the options that define when the work is done."""
    parser.add_argument(
        "-c", "--command", metavar="COMMAND", action=Once, help="the completion command"
    )
    parser.add_argument(
        "--criterion",
        metavar="TEXT",
        action=Once,
        help="completion criterion in plain words; you confirm each promise. With -c, the "
        "command must pass too",
    )
    parser.add_argument(
        "--until-promise",
        action="store_true",
        help="for a COMMAND that already passes: the run is done when the agent promises "
        "completion, a file has changed and the command passes",
    )


def check_goal(args: argparse.Namespace, noun: str) -> None:
    """Raise ``UsageError`` if nothing defines when the work is done; `noun`: run or loop."""
    command, criterion = ((text or "").strip() for text in (args.command, args.criterion))
    if not command and not criterion:
        raise UsageError(
            f"a {noun} needs a command that checks whether the work is done; add one with -c, "
            'as in -c "pytest -q", or describe the goal with --criterion'
        )
    if args.until_promise and (criterion or not command):
        raise UsageError(
            "--until-promise needs a command (-c) and cannot be combined with --criterion; omit "
            "--until-promise or --criterion"
        )


def add_starter(parser: argparse.ArgumentParser) -> None:
    """Add the option that a fleet passes to its runs; not for users."""
    parser.add_argument("--commands-from", type=int, metavar="N", help=argparse.SUPPRESS)


def add_settings(
    parser: argparse.ArgumentParser,
    *,
    agent: bool = True,
    budget: bool = True,
    resumed: bool = False,
) -> None:
    """Add the flags of `config.sources.FLAGS` and ``--set``.

    Without `agent`, omit the agent's flags; without `budget`, omit ``--budget``. With `resumed`,
    the help says that the run's own settings are the defaults.
    """
    group = parser.add_argument_group("settings")

    def flag(dest: str, option: str, metavar: str, text: str, default: str = "") -> None:
        shown = "as in the run" if resumed else default
        help_text = f"{text} ({shown})" if default else text
        group.add_argument(option, dest=dest, metavar=metavar, help=help_text)

    if agent:
        flag("agent.name", "--agent", "NAME", *_agent_help())
        flag("agent.command", "--agent-command", "COMMAND", COMMAND_HELP)
        flag("agent.model", "--model", "NAME", "the model, passed to the agent")
        modes = (
            "edits: may edit files; ask: edits, and asks you for anything else; skip: unrestricted"
        )
        flag("permissions.mode", "--permissions", "MODE", modes, "edits")
    flag(
        "limits.max_iterations",
        "--max-iterations",
        "N",
        "maximum number of iterations, 1-1000",
        "10",
    )
    flag(
        "limits.session_timeout_s",
        "--timeout",
        "TIME",
        "maximum time per session: 90s, 30m, 8h",
        "8h",
    )
    if budget:
        flag("limits.budget_usd", "--budget", "USD", "limit for the whole run", "none")
    group.add_argument(
        "--set",
        dest="set_options",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="any setting, such as control.decay=0.8",
    )


def check_settings(args: argparse.Namespace) -> None:
    """Refuse a wrong flag or ``--set`` before checking a terminal, a repository or an agent.

    Does not load the settings if the values are obviously valid. Raises ``UsageError``.
    """
    flags = {
        name: value
        for name, value in vars(args).items()
        if name in PLAIN_VALUES and value is not None
    }
    _check_one_agent(args)
    if not args.set_options and all(
        re.fullmatch(PLAIN_VALUES[name], flags[name]) for name in flags
    ):
        return
    # Settings take long to load.
    from ralph_tui.config.sources import FLAGS, wrong_arguments  # noqa: PLC0415

    given = {name: value for name, value in vars(args).items() if name in FLAGS}
    if wrong := wrong_arguments(given, args.set_options):
        raise SettingsError(wrong)
    if name := flags.get("agent.name"):
        check_agent_name(name.strip())


def _check_one_agent(args: argparse.Namespace) -> None:
    """Refuse an agent command together with an agent that would ignore it."""
    given = [("--agent", vars(args).get("agent.name"))]
    for option in args.set_options:
        name, _, value = option.partition("=")
        if name.strip() == "agent.name":
            given.append(("--set agent.name", value))
    named = [(by, str(name).strip()) for by, name in given if name is not None]
    others = {agent.name for agent in AGENTS if not agent.takes_command}
    if _is_for_fallback(args.set_options):
        return
    if vars(args).get("agent.command") and named and named[-1][1] in others:
        by, name = named[-1]
        takers = " and ".join(agent.name for agent in AGENTS if agent.takes_command)
        raise UsageError(
            f"--agent-command is for the agents {takers}, but {by} selects {name}; "
            "omit one, or add a fallback that uses it (agent.fallback)"
        )


def _is_for_fallback(set_options: Sequence[str]) -> bool:
    """True if ``--set`` names a fallback agent that runs the command."""
    takers = [agent.name for agent in AGENTS if agent.takes_command]
    values = [
        value
        for name, _, value in (option.partition("=") for option in set_options)
        if name.strip() == "agent.fallback"
    ]
    return bool(values) and any(re.search(rf"\b{name}\b", values[-1]) for name in takers)


def check_agent_name(name: str) -> None:
    """Raise ``UsageError`` if `name` is not an agent that the user may choose."""
    agent = next((agent for agent in AGENTS if agent.name == name), None)
    if agent is None:
        raise unknown_agent_error(name)
    if agent.reserved:
        raise UsageError(agent.reserved)


def _agent_help() -> tuple[str, str]:
    """Return the help text and the default of ``--agent``."""
    first = ", ".join(agent.name for agent in selectable_agents() if agent.default_when)
    names = ", ".join(agent.name for agent in selectable_agents())
    return f"the agent: {names}", f"default: the first installed of {first}"


def load_settings(
    args: argparse.Namespace,
    root: Path | None,
    recorded: Mapping[str, object] | None = None,
    warn: Callable[[str], None] | None = None,
) -> "Loaded":
    """Load the settings of a command line with `add_settings`; warnings go to `warn` or stderr.

    `recorded` has the settings of a resumed run. Raises ``UsageError`` for a bad value in any
    source.
    """
    # This takes long to load, so a screen paints its first frame before.
    from ralph_tui.config.sources import FLAGS, load  # noqa: PLC0415

    flags = {name: value for name, value in vars(args).items() if name in FLAGS}
    if flags.get("agent.name") is None and flags.get("agent.command") is not None:
        flags["agent.name"] = COMMAND.name  # any other agent that takes a command must be named
    loaded = load(root, flags, os.environ, args.set_options, recorded)
    for warning in loaded.warnings:
        (warn or _warn)(warning)
    return loaded


def terminal_width() -> int:
    """Return the terminal's columns; 0 if the output is not a terminal, so that nothing wraps."""
    return shutil.get_terminal_size().columns if sys.stdout and sys.stdout.isatty() else 0


def _warn(sentence: str) -> None:
    print(f"ralph-tui: {one_line(sentence)}", file=sys.stderr)
