"""``ralph-tui search``: find words in the records of all runs, with a command for each match."""

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.runs import describe_no_runs, fleet_folders, newest_run
from ralph_tui.adapters.search.documents import KINDS
from ralph_tui.adapters.search.terms import query_terms
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.ports.search import NOT_SEARCHED, Found
from ralph_tui.runtime.sources.archive import search_all
from ralph_tui.text.format import day_and_clock
from ralph_tui.text.sanitize import clip, one_line

LIMIT = 20
MAX_LIMIT = 1000
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Search the objectives, reflections, learnings, actions, outcomes and handoffs of all "
        "runs of this repository. Each result shows the command that opens it in a replay. Words "
        "match by prefix; results with all words come first. Runs of other tools are included; "
        f"{NOT_SEARCHED}."
    )
    parser.add_argument("query", metavar="QUERY", nargs="+", help="words, in any order")
    parser.add_argument(
        "--kind",
        dest="kinds",
        metavar="KIND",
        action="append",
        choices=KINDS,
        help=f"only these kinds: {', '.join(KINDS)}",
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=int,
        default=LIMIT,
        help=f"maximum number of results, 1-{MAX_LIMIT} ({LIMIT})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(args: argparse.Namespace) -> int:
    """Print the matches. Raises ``UsageError`` and ``SearchError``."""
    query = " ".join(args.query)
    if not 1 <= args.limit <= MAX_LIMIT:
        raise UsageError(f"--limit takes 1 to {MAX_LIMIT}, not {args.limit}")
    root = worktree_root(Path.cwd())
    found = search_all(
        root,
        query,
        args.limit,
        kinds=tuple(dict.fromkeys(args.kinds or KINDS)),
        report=lambda sentence: print(f"ralph-tui: {one_line(sentence)}", file=sys.stderr),
    )
    if args.json:
        for one in found:
            print(json.dumps(as_json(one), ensure_ascii=False))
    elif found:
        print("\n\n".join(map(_format_match, found)))
    else:
        print(_describe_none(query, root))
    return ExitCode.COMPLETED


def command_for(found: Found) -> str:
    """Return the command that opens the match in a replay; empty if no run's record has it."""
    return f"ralph-tui replay {found.run} --at {found.seq}" if found.run else ""


def as_json(found: Found) -> dict[str, Any]:
    """Return a match as an object, without unknown fields."""
    fields = {
        "kind": found.what,
        "run": found.run or None,
        "iteration": found.iteration or None,
        "seq": found.seq if found.run else None,
        "at": found.at and found.at.isoformat().replace("+00:00", "Z"),
        "objective": found.objective or None,
        "text": found.text,
        "marks": [list(mark) for mark in found.marks],
        "open": command_for(found) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _format_match(found: Found) -> str:
    where = f"iteration {found.iteration}" if found.iteration else ""
    when = day_and_clock(found.at, datetime.now(UTC)) if found.at else ""
    facts = [found.what, found.run, where, when]
    lines = [
        " · ".join(fact for fact in facts if fact),
        f"  {_mark_words(found)}",
        _style(_DIM, f"  {command_for(found)}") if found.run else "",
    ]
    return "\n".join(line for line in lines if line)


def _mark_words(found: Found) -> str:
    """Mark the matching words: bold on a terminal, between stars elsewhere."""
    pieces, end = [], 0
    for begin, stop in found.marks:
        word = found.text[begin:stop]
        pieces += [found.text[end:begin], _style(_BOLD, word) if _on_screen() else f"*{word}*"]
        end = stop
    return "".join([*pieces, found.text[end:]])


def _style(style: str, text: str) -> str:
    return f"{style}{text}{_PLAIN}" if _on_screen() else text


def _on_screen() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _describe_none(query: str, root: Path) -> str:
    if not query_terms(query):
        return "the query has no words; try ralph-tui search oauth mock"
    if fleet_folders(root) and newest_run(root) is None:
        return f"nothing to search yet: {describe_no_runs(root)}"
    return f"no results for {clip(one_line(query), 80)}; try fewer or shorter words; {NOT_SEARCHED}"
