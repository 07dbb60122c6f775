"""``ralph-tui doctor``: check the set-up, test the channels, show the embedder for similar tasks.

The checks are in `cli.checkup`.
"""

import argparse
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from ralph_tui.adapters.outreach import (
    TEST,
    Message,
    UndeliveredError,
    build_channels,
    outbox_folder,
)
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.search.embedder import HashedConcepts
from ralph_tui.adapters.search.trained import trained_embedder
from ralph_tui.cli.checkup import CHECKS, read_environment, run_checks
from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.cli.checkup.words import as_object, format_finding, summary
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.options import load_settings, terminal_width
from ralph_tui.config.sources import user_config_file
from ralph_tui.layers.sensor.gate import GateResult, read_words
from ralph_tui.runtime.new_runs import CommandTrial
from ralph_tui.text.format import duration
from ralph_tui.text.sanitize import one_line

HOW_TO = """\
no channel is set up, so you are not notified when a run needs an answer. Add to {path}
a webhook, a tracker, or both:

  [outreach]
  webhook = "https://..."                   # takes a JSON POST
  tracker = "gitea"                         # or "github"
  tracker_url = "https://git.example.com"   # not for github.com
  repository = "owner/name"                 # gets the issues

The tracker's token comes from the environment: GITEA_TOKEN or GITHUB_TOKEN, or the variable that
token_variable names.
"""
TRY_LATER = "; check the address and the network, or try again later"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Check everything a run needs and suggest a fix for each problem; the exit code is 1 "
        "if a problem prevents a run. Nothing is changed or sent. --notify sends a test through "
        "every configured channel instead; on a tracker it opens an issue and closes it again. "
        "--embedder shows which embedder finds similar tasks, and fetches the trained model if "
        "its library is installed. -c runs a completion command once, as a run would, and shows "
        "the result that a run would read."
    )
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument("--notify", action="store_true", help="send a test through every channel")
    parser.add_argument(
        "-c", "--command", metavar="COMMAND", help="show the result read from COMMAND's output"
    )
    parser.add_argument(
        "--embedder", action="store_true", help="show the embedder for similar tasks"
    )
    parser.add_argument(
        "--set",
        dest="set_options",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="any setting, such as outreach.tracker=github",
    )


def run(args: argparse.Namespace) -> int:
    """Print the result of each check; return 1 if there is a problem or a message failed."""
    if args.command is not None:
        return _try_command(args)
    if not (args.notify or args.embedder):
        return _check(args)
    if args.embedder:
        _show_embedder()
    return _notify(args) if args.notify else ExitCode.COMPLETED


def _check(args: argparse.Namespace) -> int:
    env = read_environment(args.set_options)
    found, width = [], terminal_width()
    for finding in run_checks(CHECKS, env):
        found.append(finding)
        if not args.json:
            print("\n".join(format_finding(finding, width)), flush=True)
    if args.json:
        print(json.dumps(as_object(found), ensure_ascii=False, indent=2))
    else:
        print(f"\n{summary(found)}")
    problem = any(finding.level == "problem" for finding in found)
    return ExitCode.FAILED if problem else ExitCode.COMPLETED


def _try_command(args: argparse.Namespace) -> int:
    """Run a completion command once. Raises ``LockHeldError`` while a run uses the worktree."""
    root = worktree_root(Path.cwd())
    timeout_s = load_settings(args, root).settings.gate.timeout_s
    found = _read_from(CommandTrial(root, args.command, timeout_s).run())
    if args.json:
        print(json.dumps(as_object([found]), ensure_ascii=False, indent=2))
    else:
        print("\n".join(format_finding(found, terminal_width())))
    return ExitCode.FAILED if found.level == "problem" else ExitCode.COMPLETED


def _read_from(result: GateResult) -> Finding:
    took = duration(result.duration_s)
    if result.error:
        return Finding("problem", "command", result.error.rstrip("."))
    if result.timed_out:
        return Finding("problem", "command", f"stopped after {took}, the limit of `gate.timeout_s`")
    said = f"{read_words(result)} (exit {result.exit_code}, {took})"
    return Finding("note" if result.counts is None else "ok", "command", said)


def _show_embedder() -> None:
    found, why_not = trained_embedder(fetch=True)
    used = found or HashedConcepts()
    print(one_line(f"embedder {used.name}: {used.dimension} dimensions"))
    if why_not:
        print(one_line(f"  the built-in embedder is used; {why_not}"))


def _notify(args: argparse.Namespace) -> int:
    root = worktree_root(Path.cwd())
    settings = load_settings(args, root).settings.outreach
    channels = build_channels(settings, os.environ, outbox_folder(root))
    if not channels:
        print(HOW_TO.format(path=user_config_file()), end="")
        return ExitCode.COMPLETED
    code = ExitCode.COMPLETED
    for channel in channels:
        print(f"{channel.name:<8} {channel.place} ... ", end="", flush=True)
        try:
            print(f"ok: {channel.probe(_test_message(root))}")
        except UndeliveredError as problem:
            advice = TRY_LATER if problem.then == "retry" else ""
            print(f"failed: {problem}{advice}")
            code = ExitCode.FAILED
    return code


def _test_message(root: Path) -> Message:
    name = str(uuid4())
    return Message(
        key=f"doctor/{name}",
        escalation_id=name,
        run_id=name,
        level="info",
        about=TEST,
        loop="doctor",
        iteration=0,
        max_iterations=0,
        reason="Test message from ralph-tui doctor. No action is needed.",
        host=socket.gethostname(),
        folder=root.name,
        raised=datetime.now(UTC),
    )
