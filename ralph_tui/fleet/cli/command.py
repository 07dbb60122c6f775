"""``ralph-tui fleet``: run many loops of this repository at once, each in its own clone."""

import argparse
import importlib

from ralph_tui.cli.options import add_goal, add_settings
from ralph_tui.fleet.dispatch import KEY_HOLDERS

ACTIONS = {
    "run": "run the objectives in a file, several attempts at one, or a tracker's issues",
    "status": "show the status of the fleet and its loops",
    "attach": "watch the fleet, or one of its loops, from any terminal",
    "pause": "pause loops before their next iteration",
    "unpause": "unpause loops",
    "guide": "send guidance to the agents of loops",
    "decide": "show or answer a loop's open question",
    "abort": "abort a loop, or the fleet with 'all'; the work is kept",
    "stop": "stop the fleet after the running iterations, or at once with --now",
    "resume": "continue a fleet that was stopped or whose process is gone",
    "prune": "remove clones and branches left by past fleets",
    "worker": "run loops here for a fleet on another machine",
}
_LOOP = "loop id, as 'fleet status' shows it, or all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fleet`` and its actions."""
    parser.description = (
        "Run many loops on this repository at once, each in its own clone, with one budget. "
        "The work of each becomes a branch here; nothing is merged."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    for name, sentence in ACTIONS.items():
        action = actions.add_parser(name, help=sentence)
        action.description = f"{sentence[0].upper()}{sentence[1:]}."
        action.set_defaults(within=action)
        _ARGUMENTS[name](action)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action. Raises ``RalphError``."""
    module, _, name = _RUN.get(args.action, f"steering:{args.action}").partition(":")
    return int(getattr(importlib.import_module(f"ralph_tui.fleet.cli.{module}"), name)(args))


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="FILE",
        nargs="?",
        help="a fleet file (TOML); or an OBJECTIVE in quotes, with -c",
    )
    add_goal(parser)
    parser.add_argument(
        "--best-of",
        metavar="N",
        type=int,
        default=None,
        help="run N attempts to their end and choose the best: one that passes again in a fresh "
        "clone, with the fewest changed lines, then the lowest cost",
    )
    parser.add_argument(
        "--first",
        action="store_true",
        help="with --best-of: choose the first that completes, and stop the rest",
    )
    parser.add_argument("--choice", choices=("best", "first", "all"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--from-issues",
        metavar="LABEL",
        help="run a loop for each open issue with this label in the tracker",
    )
    parser.add_argument(
        "--base", metavar="REF", help="commit or branch that all loops start from (HEAD)"
    )
    parser.add_argument(
        "--isolation",
        choices=("clone", "worktree"),
        help="kind of working copy for each loop (clone)",
    )
    parser.add_argument(
        "--setup", metavar="COMMAND", help="command to run once in every new working copy"
    )
    parser.add_argument("--budget", metavar="USD", help="limit for all loops together (none)")
    _add_hosts(parser)
    _add_front(parser)
    add_settings(parser, budget=False)


def _add_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "fleet",
        metavar="FLEET",
        nargs="?",
        help="fleet name, such as fleet-001 (default: the newest)",
    )
    _add_hosts(parser)
    _add_front(parser)


def _add_hosts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--agents", metavar="N", type=int, help="maximum loops at once on this machine (2)"
    )
    parser.add_argument(
        "--listen", metavar="ADDRESS", help="let hosts join at tls://HOST:PORT; needs --tls"
    )
    parser.add_argument(
        "--tls",
        metavar="FOLDER",
        help=f"folder with the fleet's key and certificate; created if missing; {KEY_HOLDERS}",
    )
    parser.add_argument("--trees", metavar="FOLDER", help="folder for the loops' working copies")


def _add_front(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--headless", action="store_true", help="print plain lines instead of a screen"
    )
    parser.add_argument(
        "--json", action="store_true", help="print events, one JSON object per line"
    )
    parser.add_argument(
        "--detach", action="store_true", help="start it in the background, without a screen"
    )
    parser.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)


def _add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "fleet", metavar="FLEET", nargs="?", help="fleet name (default: the newest)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def _add_attach(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "loop",
        metavar="LOOP",
        nargs="?",
        help="a loop, or an earlier fleet (default: the newest fleet, with all its loops)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print events, one JSON object per line"
    )


def _add_loop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("loop", metavar="LOOP", help=_LOOP)


def _add_guide(parser: argparse.ArgumentParser) -> None:
    _add_loop(parser)
    parser.add_argument("text", metavar="TEXT", help="the guidance; - reads standard input")


def _add_abort(parser: argparse.ArgumentParser) -> None:
    _add_loop(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def _add_decide(parser: argparse.ArgumentParser) -> None:
    from ralph_tui.cli.answering import add_answer_arguments  # noqa: PLC0415 - only for this action

    parser.add_argument("loop", metavar="LOOP", help="loop id, as 'fleet status' shows it")
    add_answer_arguments(parser)


def _add_stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--now", action="store_true", help="do not wait for running iterations")


def _add_prune(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trees", metavar="FOLDER", help="the folder given to fleets with --trees")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument(
        "--resumable",
        "--all",
        action="store_true",
        help="also remove clones whose work exists nowhere else: loops that 'fleet resume' would "
        "otherwise continue start over, and work that was not collected is lost",
    )
    parser.add_argument(
        "--branches",
        action="store_true",
        help="also remove branches of attempts that were not chosen",
    )


def _add_worker(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run loops of the fleet at ADDRESS on this machine, each in its own clone. "
        f"{KEY_HOLDERS.capitalize()}."
    )
    parser.add_argument("address", metavar="ADDRESS", help="address of the fleet: tls://HOST:PORT")
    parser.add_argument(
        "--agents", metavar="N", type=int, default=2, help="maximum loops at once (2)"
    )
    parser.add_argument("--tls", metavar="FOLDER", help="a copy of the fleet's key folder")
    parser.add_argument(
        "--lease",
        metavar="TIME",
        help="stop loops after this long without contact with the fleet (default and "
        "maximum: the fleet's lease)",
    )
    parser.add_argument("--base", metavar="FOLDER", help="folder for the loops' working copies")
    parser.add_argument(
        "--name", metavar="NAME", help="name of this host (default: the machine's name)"
    )


_ARGUMENTS = {
    "run": _add_run,
    "status": _add_status,
    "attach": _add_attach,
    "pause": _add_loop,
    "unpause": _add_loop,
    "guide": _add_guide,
    "decide": _add_decide,
    "abort": _add_abort,
    "stop": _add_stop,
    "resume": _add_resume,
    "prune": _add_prune,
    "worker": _add_worker,
}
_RUN = {
    "run": "starting:run",
    "resume": "starting:resume",
    "status": "showing:status",
    "attach": "showing:attach",
    "decide": "steering:decide",
    "prune": "pruning:prune",
    "worker": "worker:run",
}
"""Module (in this package) and function for each action; other actions are in `steering`."""
