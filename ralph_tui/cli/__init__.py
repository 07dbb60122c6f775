"""The command line: a table of commands, with one module each, loaded on demand.

A command's module has ``add_arguments(parser)`` and ``run(args)``, which returns the exit code.
This module imports nothing heavy, so that ``--help`` is as fast as Python starts.
"""

import argparse
import contextlib
import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from ralph_tui import __version__
from ralph_tui.base import extensions
from ralph_tui.base.errors import RalphError, UsageError, resource_error
from ralph_tui.cli.exit_codes import ExitCode, NextCommand
from ralph_tui.cli.fronts.presentation import on_terminal
from ralph_tui.cli.human_only import refuse_agents
from ralph_tui.cli.parser import Parser, did_you_mean
from ralph_tui.text.sanitize import one_line

_KNOWN = {
    "run": "run an agent in a loop until a command passes",
    "resume": "continue a run that ended early",
    "fleet": "run many loops at once, each in its own clone",
    "attach": "open a screen for a run in another terminal",
    "status": "show the status of a run (default: the newest)",
    "decide": "show or answer the open question of a running run",
    "guide": "send guidance to the agent of a running run",
    "abort": "abort a running run; its work is kept",
    "pause": "pause a running run before its next iteration",
    "unpause": "let a paused run continue",
    "checkpoint": "save files, start a fresh session, or list checkpoints",
    "context": "show how full a run's context window is",
    "replay": "replay a past run",
    "history": "list tasks, their attempts and reflections",
    "report": "print a summary of a run for a reviewer, in Markdown",
    "restore": "list a run's snapshots, or restore the files from one",
    "search": "search the records of all runs",
    "memory": "show and change what runs have learned here",
    "prompt": "show prompts, or check your own prompt template",
    "demo": "watch a run on an embedded sample project",
    "doctor": "check your set-up",
    "config": "show settings and where each is set; write a settings file",
    "hooks": "watch your own Claude Code sessions",
    "completion": "print the shell completion script",
    "prune": "delete data that old runs no longer need",
    "rebuild": "rebuild the summaries of past runs from their journals",
    "lab": "simulate the controller on a series of completion values",
}
"""One-line help by command; each command is a module of `commands` or of an extension."""
_MISSING = {
    name for name, module in extensions.COMMANDS.items() if not extensions.is_installed(module)
}
COMMANDS = {name: sentence for name, sentence in _KNOWN.items() if name not in _MISSING}
"""The commands that are installed, with their help."""

GROUPS = {
    "Run": ("run", "resume", "fleet"),
    "Watch and steer": ("attach", "status", "decide", "guide", "abort"),
    "Review": ("replay", "history", "report", "restore"),
    "Set up": ("demo", "doctor", "config"),
}
"""The everyday commands."""
OTHERS = {
    "Steer": ("pause", "unpause", "checkpoint", "context"),
    "Records": ("search", "memory", "prompt", "prune", "rebuild"),
    "Other": ("hooks", "completion", "lab"),
}
"""The other commands, which only ``--help --all`` lists."""
HIDDEN_ACTIONS = {
    "memory": ("edit", "export", "import", "stats"),
    "prompt": ("check",),
    "fleet": ("worker",),
}
"""Actions that a command's help lists only with ``--all``."""
_ALL = "--all"

DESCRIPTION = """\
Runs a coding agent in a loop until a command you trust passes:
completion is measured after every iteration, a controller reacts, a
cockpit shows it live, and every run can be replayed."""

EPILOG = """\
All runs of this repository:  ralph-tui
See it work first:            ralph-tui demo
Check your set-up:            ralph-tui doctor
In your repository:           ralph-tui run "Fix the tests" -c "pytest -q"
With your own agent:          ... --agent-command "my-agent"
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code, an `ExitCode`."""
    gc.disable()  # startup creates many long-lived objects; a run turns collection on again
    _replace_unprintable()
    if argv is None and {"_ARGCOMPLETE", "COMP_LINE", "COMP_POINT"} <= os.environ.keys():
        importlib.import_module(f"{__name__}.completion").answer()
    try:
        code = dispatch(sys.argv[1:] if argv is None else list(argv))
        if sys.stdout:
            sys.stdout.flush()
    except RalphError as error:
        for sentence in error.sentences or (str(error),):
            print(f"ralph-tui: {one_line(sentence)}", file=sys.stderr)
        for way in error.ways:
            print(f"  {one_line(way)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return ExitCode.INTERRUPTED
    except (OSError, MemoryError, RuntimeError, ImportError) as error:
        sentence = resource_error(error)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            sentence = "no space left on the device; free some space and try again"
        if isinstance(error, FileNotFoundError) and _folder_is_gone():
            sentence = "the current folder was deleted; change to another one"
        if not sentence:
            raise
        _discard_output()
        print(f"ralph-tui: {sentence}", file=sys.stderr)
        return ExitCode.FAILED
    return code


def dispatch(argv: Sequence[str]) -> int:
    """Run a command line, then any command chosen on its screens; return the exit code.

    Raises ``RalphError``.
    """
    folder: Path | None = None
    while True:
        if folder is not None and not folder.is_dir():
            raise UsageError(f"{folder} was deleted; change to another folder")
        try:
            with contextlib.nullcontext() if folder is None else contextlib.chdir(folder):
                return _dispatch(list(argv))
        except NextCommand as following:
            argv, folder = following.words, following.worktree
            gc.disable()  # as at the start of any command
            gc.unfreeze()


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Omits the list of commands: the description already has them, in groups."""

    def add_argument(self, action: argparse.Action) -> None:
        if not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            super().add_argument(action)


def build_parser(
    loaded: Collection[str] = (), *, everything: bool = True
) -> tuple[Parser, Mapping[str, Parser]]:
    """Return the parser, and the parsers of the commands in `loaded` by name.

    Only these commands' modules are imported; pass `COMMANDS` for all. If there are none, each
    command has a parser without arguments. With `everything`, help also lists rarely needed ones.
    """
    parser = Parser(
        prog="ralph-tui",
        description=f"{DESCRIPTION}\n{_format_groups(GROUPS | OTHERS if everything else GROUPS)}",
        epilog=EPILOG
        if everything
        else f"{EPILOG}All commands:                 ralph-tui --help --all\n",
        formatter_class=_HelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"ralph-tui {__version__}")
    parser.add_argument(_ALL, action="store_true", help="with --help: list every command")
    # Not "command", which is the name of `run -c`.
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", title="commands")
    for name in loaded or COMMANDS:  # each parser takes a third of a millisecond
        commands.add_parser(name, help=COMMANDS[name])
    for name in loaded:
        _import_command(name).add_arguments(commands.choices[name])
        if not everything and name in HIDDEN_ACTIONS:
            _hide(commands.choices[name], name)
    return parser, commands.choices


def _format_groups(groups: Mapping[str, Sequence[str]]) -> str:
    lines = []
    for title, names in groups.items():
        installed = [name for name in names if name in COMMANDS]
        lines += ["", f"{title}:", *(f"    {name:<12}{COMMANDS[name]}" for name in installed)]
    return "\n".join(lines)


def _hide(parser: Parser, name: str) -> None:
    """Omit rarely used actions from a command's help; they still work."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            listed = action._choices_actions  # noqa: SLF001
            listed[:] = [one for one in listed if one.dest not in HIDDEN_ACTIONS[name]]
    parser.epilog = f"More actions: ralph-tui {name} --help --all"


def _dispatch(argv: Sequence[str]) -> int:
    word = next((word for word in argv if not word.startswith("-")), None)
    if word is not None and word not in COMMANDS:
        hint = did_you_mean(word, COMMANDS) or "; see ralph-tui --help"
        raise UsageError(f"no command {word[:80]!r}{hint}")
    everything = _ALL in argv and (word is None or not {"-h", "--help"}.isdisjoint(argv))
    if everything and word is None:
        argv = ["--help"]
    parser, commands = build_parser(() if word is None else (word,), everything=everything)
    try:
        args, extras = parser.parse_known_args(argv)
    except SystemExit:  # --help and --version have printed
        return ExitCode.COMPLETED
    if extras:
        within: Parser = getattr(args, "within", commands.get(args.subcommand, parser))
        within.refuse_extras(extras)
    if args.subcommand is None:
        return _show_home(parser)
    refuse_agents(args)
    return int(_import_command(args.subcommand).run(args))


def _import_command(name: str) -> ModuleType:
    return importlib.import_module(extensions.COMMANDS.get(name, f"{__name__}.commands.{name}"))


def _show_home(parser: Parser) -> int:
    """Show the home screen on a terminal; elsewhere, print the help and the newest run."""
    if on_terminal():
        return int(importlib.import_module(f"{__name__}.home").show_home(dispatch))
    parser.print_help()
    print("\nnewest run here:")
    try:
        _dispatch(["status"])
    except RalphError as error:
        print(_error_text(error))
    return ExitCode.COMPLETED


def _error_text(error: RalphError) -> str:
    """Sanitize an error, which may quote file names and settings: foreign text."""
    return one_line(str(error))


def _folder_is_gone() -> bool:
    try:
        return not os.getcwd()  # noqa: PTH109 - the path itself is not used
    except OSError:
        return True


def _replace_unprintable() -> None:
    """Print ``?`` for a character that the terminal cannot show, instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Redirect stdout to the null device, so that Python reports no unwritten output at exit."""
    with contextlib.suppress(OSError):  # too many files may be open
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
