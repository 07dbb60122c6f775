"""``ralph-tui prompt``: show past prompts or the next one, or check a prompt template."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.workspace.template_file import parse_text, read_template
from ralph_tui.base.errors import RalphError, UsageError, why
from ralph_tui.base.plain_files import read_bytes
from ralph_tui.cli.options import load_settings
from ralph_tui.config.settings import Settings
from ralph_tui.events import PromptPrepared
from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.layers.intelligence.template import BUILT_IN, VARIABLES, missing_parts
from ralph_tui.runtime.sources.find_run import AnyRun, find_ours, find_run, read_run
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.terms import IN_CLONE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = actions.add_parser(
        "show", help="show a prompt as sent; without RUN and K, the prompt that would be sent now"
    )
    show.add_argument(
        "run", metavar="RUN", nargs="?", help="task, task/attempt, fleet/loop, folder, journal"
    )
    show.add_argument(
        "--iteration",
        metavar="K",
        type=int,
        help="show the prompt of iteration K (default: the last)",
    )
    show.add_argument(
        "--session",
        metavar="N",
        type=int,
        help="show the prompt of its Nth session (default: the last)",
    )
    check = actions.add_parser("check", help="check a template and list its variables")
    check.add_argument(
        "file", metavar="FILE", nargs="?", help="template (default: intelligence.prompt_template)"
    )
    for action in (show, check):
        action.set_defaults(within=action, set_options=[])


def run(args: argparse.Namespace) -> int:
    """Print a prompt, or check a template.

    Raises ``RalphError`` if there is no prompt, or the template cannot be used.
    """
    return _check(args) if args.action == "check" else _show(args)


def _show(args: argparse.Namespace) -> int:
    root = worktree_root(Path.cwd())
    if args.run is None and args.iteration is None and args.session is None:
        found = find_ours(root, None)
        # Slow to import: it rebuilds the run's state with the loop's own layers.
        from ralph_tui.runtime.next_prompt import next_prompt  # noqa: PLC0415

        k, text, cut, outcome = next_prompt(
            root, found, lambda known: _load_settings(args, root, known)
        )
        also = (
            f"; it reports that iteration {cut} was cut off, and what that changed" if cut else ""
        )
        _report(
            f"the prompt that {found.name} would send {_moment(outcome)}, in iteration {k}, about "
            f"{estimate_tokens(text):,} tokens (an estimate); when the iteration starts, "
            "learnings are "
            f"added, and a model may reword it{also}"
        )
    else:
        text = _sent_prompt(find_run(root, args.run, hooked=False), args.iteration, args.session)
    print(plain(text), end="" if text.endswith("\n") else "\n")
    return 0


def _moment(outcome: str) -> str:
    if outcome == "completed":
        return "if it had not completed"
    return "if it is resumed" if outcome else "now"


def _sent_prompt(run: AnyRun, iteration: int | None, session: int | None) -> str:
    events = read_run(run).events
    sent = [event for event in events if isinstance(event, PromptPrepared)]
    if iteration is not None:
        sent = [event for event in sent if event.iteration == iteration]
    if not sent:
        which = "no prompt yet" if iteration is None else f"no prompt in iteration {iteration}"
        raise UsageError(f"{run.name} has sent {which}; see ralph-tui history {run.name}")
    # Each session of an iteration has a file; a prompt that was never sent is overwritten.
    k = sent[-1].iteration
    sessions = list({event.path: event for event in sent if event.iteration == k}.values())
    if session is not None and not 1 <= session <= len(sessions):
        had = count(len(sessions), "prompt")
        raise UsageError(f"iteration {k} of {run.name} has {had}; session {session} does not exist")
    number = session or len(sessions)
    last = sessions[number - 1]
    path = run.folder / last.path
    try:
        if not path.resolve().is_relative_to(run.folder.resolve()):
            raise RalphError(f"the record of {run.name} points to a prompt outside its own folder")
        text = read_bytes(path, below=run.folder).decode("utf-8", "replace")
    except OSError as error:
        looped = isinstance(run, RecordedRun) and run.fleet is not None
        what = why(error, IN_CLONE if looped else "it may have been deleted")
        raise RalphError(f"the prompt {one_line(last.path)} cannot be read: {what}") from error
    tokens = f", about {last.tokens:,} tokens (an estimate)" if last.tokens else ""
    edited = f", edited by {last.edited_by}" if last.edited_by else ""
    which = f", session {number} of {len(sessions)}" if len(sessions) > 1 else ""
    _report(f"{run.name}, iteration {k}{which}, as it was sent{tokens}{edited}")
    for what in last.cut:
        _report(f"omitted: {what}")
    return text


def _check(args: argparse.Namespace) -> int:
    root = worktree_root(Path.cwd())
    name = args.file or _load_settings(args, root).intelligence.prompt_template
    if name is None:
        print(f"no prompt template is set; the built-in layout:\n\n{BUILT_IN}\n")
    else:
        given = str(Path(name).absolute()) if args.file else name
        template = parse_text(name, read_template(root, given))
        for what in missing_parts(template):
            _report(f"{one_line(name)}: {what}")
        used = ", ".join(f"${word}" for word in VARIABLES if word in template.names)
        print(f"{one_line(name)} is valid; it uses {used or 'no variables'}\n")
    width = max(map(len, VARIABLES)) + 3
    print("variables:")
    for word, what in VARIABLES.items():
        print(f"  {'$' + word:<{width}}{what}")
    return 0


def _load_settings(
    args: argparse.Namespace, root: Path, recorded: Mapping[str, object] | None = None
) -> Settings:
    return load_settings(args, root, recorded).settings


def _report(text: str) -> None:
    print(f"ralph-tui: {one_line(text)}", file=sys.stderr)
