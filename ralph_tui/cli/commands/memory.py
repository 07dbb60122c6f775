"""``ralph-tui memory``: show and change what runs have learned here."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from ralph_tui.adapters.knowledge import KnowledgeStore, knowledge_folder
from ralph_tui.adapters.knowledge.ledger import Ledger
from ralph_tui.adapters.knowledge.schema import Entry
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.runs import run_names
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.editor import edit_text
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import confirm, text_argument
from ralph_tui.cli.memory_exchange import export_learnings, import_learnings
from ralph_tui.cli.memory_stats import compute_stats
from ralph_tui.cli.memory_words import (
    all_learnings,
    as_json,
    contradictions,
    details,
    explain_unknown_type,
    format_card,
    format_rows,
    unused_learnings,
    wrap_text,
)
from ralph_tui.events.memory import CHANGED, Change, Learning, LearningType
from ralph_tui.layers.memory.task_types import TASK_TYPES
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line, plain

ACTIONS = {
    "list": "list learnings, the most useful first",
    "show": "show one learning in full",
    "edit": "reword a learning, in your editor or with --text",
    "mute": "keep learnings out of every prompt",
    "unmute": "allow muted learnings in prompts again",
    "pin": "pin learnings to every prompt",
    "unpin": "unpin learnings, so that they are used only where they fit",
    "delete": "delete learnings",
    "export": "export proven learnings to a file",
    "import": "import learnings from a file",
    "stats": "compare attempts with earlier ones; show which learnings help",
}
PREFIX = "learn-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Show and change what runs have learned in this repository. Learnings are "
        "saved in .aiwg/knowledge/ralph-learnings.json, a text file that you can edit, even "
        "during a run. You can shorten an ID as long as it is unique."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    for name, sentence in ACTIONS.items():
        action = actions.add_parser(name, help=sentence)
        action.description = f"{sentence[0].upper()}{sentence[1:]}."
        action.set_defaults(within=action)
        _ARGUMENTS.get(name, _add_ids)(action)


def run(args: argparse.Namespace) -> int:
    """Run the action, then print the notices about the files. Raises ``RalphError``."""
    root = worktree_root(Path.cwd())
    store = KnowledgeStore(knowledge_folder(root), settings=_settings(root))
    try:
        return int(_RUN.get(args.action, _pin_or_mute)(store, root, args))
    finally:
        for notice in store.take_notices():
            print(f"ralph-tui: {one_line(notice)}", file=sys.stderr)


LISTED = 200
"""Maximum number of learnings that a list prints without ``--all``."""

# arguments ------------------------------------------------------------------------------------


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--type", choices=get_args(LearningType), help="only learnings of this type"
    )
    parser.add_argument(
        "--task-type",
        metavar="TYPE",
        choices=TASK_TYPES,
        help=f"only learnings for these tasks: {', '.join(TASK_TYPES)}",
    )
    parser.add_argument(
        "--unproven", action="store_true", help="only learnings that a single run reported"
    )
    parser.add_argument("--all", action="store_true", help=f"show more than the first {LISTED}")
    parser.add_argument("--json", action="store_true", help="JSON output for scripts")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the learning's id, from 'memory list'")
    parser.add_argument("--json", action="store_true", help="JSON output for scripts")


def _add_edit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the learning's id, from 'memory list'")
    parser.add_argument("--text", metavar="TEXT", help="its new text; - reads standard input")


def _add_ids(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, from 'memory list'")


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_ids(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="write to FILE instead of standard output (-)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a knowledge file; - reads standard input")


def _add_stats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="JSON output for scripts")


# actions --------------------------------------------------------------------------------------


def _list(store: KnowledgeStore, _: Path, args: argparse.Namespace) -> int:
    ledger = store.ledger()
    found = [
        learning
        for learning in all_learnings(ledger)
        if args.type in (None, learning.type)
        and args.task_type in (None, learning.task_type)
        and not (args.unproven and learning.standing == "proven")
    ]
    if args.json:
        _print_json([as_json(learning) for learning in found])
        return ExitCode.COMPLETED
    for learning in found if args.all else found[:LISTED]:
        print("\n".join(format_rows(learning)))
    unproven = sum(learning.standing == "staged" for learning in found)
    which = "" if len(found) == 1 else f"{unproven} of them "
    more = f", {which}not yet proven" if unproven else ""
    if len(found) > LISTED and not args.all:
        more += f"; showing the first {LISTED}, --all shows all"
    narrowed = args.type or args.task_type or args.unproven
    if found:
        print("\n".join(wrap_text(f"{count(len(found), 'learning')}{more}")))
    else:
        print("none match" if narrowed else "no learnings here yet")
    for line in unused_learnings(ledger):
        print("\n".join(wrap_text(line)))
    return ExitCode.COMPLETED


def _show(store: KnowledgeStore, root: Path, args: argparse.Namespace) -> int:
    ledger = store.ledger()
    learning = _find(ledger, args.id)
    entries, others = _find_entries(ledger, learning), contradictions(ledger, learning)
    if args.json:
        _print_json(details(learning, entries, others))
    else:
        print("\n".join(format_card(learning, entries, others, run_names(root))))
    return ExitCode.COMPLETED


def _edit(store: KnowledgeStore, _: Path, args: argparse.Namespace) -> int:
    learning = _find(store.ledger(), args.id)
    if args.text is not None:
        text = text_argument(args.text)
    else:
        notes = [
            f"{learning.learning_id}, {learning.type}: the text for later prompts.",
            "Leave the text empty to change nothing.",
        ]
        text = plain(edit_text(learning.text, notes, otherwise="use --text TEXT")).strip()
    if text in ("", learning.text):
        print("nothing was changed", file=sys.stderr)
        return ExitCode.COMPLETED if text else ExitCode.FAILED
    return _change(store, [learning], "edit", text)


def _pin_or_mute(store: KnowledgeStore, _: Path, args: argparse.Namespace) -> int:
    ledger = store.ledger()
    return _change(store, [_find(ledger, name) for name in args.ids], args.action)


def _delete(store: KnowledgeStore, _: Path, args: argparse.Namespace) -> int:
    ledger = store.ledger()
    meant = [_find(ledger, name) for name in args.ids]
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("not a terminal; use --yes to confirm")
        for learning in meant:
            print("\n".join(format_rows(learning)))
        if not confirm(f"Delete {count(len(meant), 'learning')}?"):
            print("nothing was deleted", file=sys.stderr)
            return ExitCode.FAILED
    return _change(store, meant, "delete")


def _change(
    store: KnowledgeStore, meant: Sequence[Learning], change: Change, text: str = ""
) -> int:
    for learning in dict.fromkeys(one.learning_id for one in meant):
        now = store.change(learning, change, text)
        saying = now.saying if now is not None else ""
        line = f"{learning} is {CHANGED[change]}{f': {saying}' if change == 'edit' else ''}"
        print(clip(one_line(line), 200))
    return ExitCode.COMPLETED


def _show_stats(store: KnowledgeStore, root: Path, args: argparse.Namespace) -> int:
    stats = compute_stats(root, all_learnings(store.ledger()), _settings(root))
    if args.json:
        _print_json(stats.as_json())
    else:
        print("\n".join(stats.lines()))
    return ExitCode.COMPLETED


# helpers --------------------------------------------------------------------------------------


def _settings(root: Path) -> MemorySettings:
    """Return the memory settings that runs here use."""
    from ralph_tui.config.sources import load  # noqa: PLC0415 - keeps --help quick

    return load(root, {}, os.environ).settings.memory


def _find(ledger: Ledger, name: str) -> Learning:
    """Find a learning by its full id or by an unambiguous prefix."""
    learnings = {learning.learning_id: learning for learning in all_learnings(ledger)}
    if name in learnings:
        return learnings[name]
    found = [one for one in learnings if name and one.startswith((name, f"{PREFIX}{name}"))]
    if len(found) == 1:
        return learnings[found[0]]
    shown = one_line(name)[:80]
    if found:
        raise UsageError(f"{shown!r} matches {len(found)} learnings; type more of the id")
    none = f"no learning {shown!r}; 'ralph-tui memory list' shows all ids"
    raise UsageError(explain_unknown_type(ledger, name) or none)


def _find_entries(ledger: Ledger, learning: Learning) -> list[Entry]:
    """Return the stored entries of a learning: a single one if it is proven."""
    held = [entry for entry in ledger.learnings if one_line(entry["id"]) == learning.learning_id]
    return held[:1] or [
        entry["learning"]
        for entry in ledger.staged
        if one_line(entry["id"]) == learning.learning_id
    ]


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


_ARGUMENTS = {
    "list": _add_list,
    "show": _add_show,
    "edit": _add_edit,
    "delete": _add_delete,
    "export": _add_export,
    "import": _add_import,
    "stats": _add_stats,
}
_RUN = {
    "list": _list,
    "show": _show,
    "edit": _edit,
    "delete": _delete,
    "export": export_learnings,
    "import": import_learnings,
    "stats": _show_stats,
}
