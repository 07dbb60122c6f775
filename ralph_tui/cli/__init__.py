"""The command line: one module per command, each with ``add_parser(subparsers)`` and ``run(args)``.

Rule: this module and the top of every command module import nothing heavy, so ``--help`` is as
fast as Python starts; a command imports what it needs inside ``run``. It wires, it holds no logic.
"""

import argparse
import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from ralph_tui import __version__
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.parser import Parser, did_you_mean
from ralph_tui.errors import RalphError, UsageError
from ralph_tui.text.sanitize import one_line

COMMANDS = (
    *("run", "demo", "resume", "attach", "replay", "status"),
    *("pause", "unpause", "guide", "decide", "abort", "checkpoint", "restore"),
    *("report", "prune", "rebuild"),
    *("lab", "doctor"),
)
"""In the order of the help; each is a module of `commands`."""

DESCRIPTION = """\
Runs a coding agent in a loop until a command you trust says that the work is done: completion is
measured after every iteration, a controller reacts, a cockpit shows it live, and every run can be
replayed."""

EPILOG = """\
See it work, on a sample project:   ralph-tui demo
In a git repository of yours:       ralph-tui run "Fix the failing tests" -c "pytest -q" \\
                                      --agent command --agent-command "..."
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code, as `ExitCode` names them."""
    gc.disable()  # loading makes many objects, and all of them stay; a run enables it again
    _print_whatever_comes()
    try:
        code = _dispatch(sys.argv[1:] if argv is None else list(argv))
        if sys.stdout:
            sys.stdout.flush()
    except RalphError as error:
        print(f"ralph-tui: {_shown(error)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return ExitCode.FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _give_up_output()
        print("ralph-tui: no space left on the device: free some and try again", file=sys.stderr)
        return ExitCode.FAILED
    return code


def build_parser() -> tuple[Parser, Mapping[str, Parser]]:
    """The parser, and those of its commands by name."""
    parser = Parser(
        prog="ralph-tui",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"ralph-tui {__version__}")
    # Not "command": `run -c` has that name.
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", title="commands")
    for name in COMMANDS:
        _command(name).add_parser(commands)
    return parser, commands.choices


def _dispatch(argv: list[str]) -> int:
    parser, commands = build_parser()
    word = next((word for word in argv if not word.startswith("-")), None)
    if word is not None and word not in commands:
        hint = did_you_mean(word, commands) or ": see ralph-tui --help"
        raise UsageError(f"there is no command {word[:80]!r}{hint}")
    try:
        args, extras = parser.parse_known_args(argv)
    except SystemExit:  # --help and --version have printed
        return ExitCode.COMPLETED
    if extras:
        commands.get(args.subcommand, parser).refuse_extras(extras)
    if args.subcommand is None:
        return _home(parser)
    return int(_command(args.subcommand).run(args))


def _command(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.commands.{name}")


def _home(parser: Parser) -> int:
    """Without a command: what there is to type, and how the newest run stands."""
    parser.print_help()
    print("\nnewest run here:")
    try:
        _command("status").run(parser.parse_args(["status"]))
    except RalphError as error:
        print(_shown(error))
    return ExitCode.COMPLETED


def _shown(error: RalphError) -> str:
    """An error quotes file names and settings: foreign text."""
    return one_line(str(error))


def _print_whatever_comes() -> None:
    """A terminal that cannot show a character gets a ``?`` for it instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _give_up_output() -> None:
    """Nobody can take our output: without this, Python complains about the rest of it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
