"""``ralph-tui memory export`` and ``import``: learnings as a plain file, or through a pipe."""

import argparse
import sys
from pathlib import Path

from ralph_tui.adapters.knowledge import KnowledgeStore
from ralph_tui.adapters.knowledge.exchange import ImportResult, entries_of, export_text, take
from ralph_tui.adapters.knowledge.files import LARGEST
from ralph_tui.adapters.knowledge.ledger import Ledger
from ralph_tui.adapters.records.folders import named_path
from ralph_tui.base.errors import RalphError, UsageError, why
from ralph_tui.base.plain_files import NotPlainError, read_bytes
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.memory_words import wrap_text
from ralph_tui.cli.output_file import write_output
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line


def export_learnings(store: KnowledgeStore, _: Path, args: argparse.Namespace) -> int:
    """Write the proven learnings to a file, or to standard output."""
    learnings = store.ledger().learnings
    text = export_text(learnings)
    if args.file in (None, "-"):
        sys.stdout.write(text)
        return ExitCode.COMPLETED
    write_output(named_path(args.file), text, force=args.force)
    print(f"{count(len(learnings), 'learning')} in {one_line(args.file)}", file=sys.stderr)
    return ExitCode.COMPLETED


def import_learnings(store: KnowledgeStore, _: Path, args: argparse.Namespace) -> int:
    """Import learnings from a file, and print how many were imported."""
    entries = entries_of(_read_content(args.file), one_line(args.file))
    taken = ImportResult()

    def merge(ledger: Ledger) -> None:
        nonlocal taken
        taken = take(ledger, entries)

    store.update(merge)
    print(f"imported: {taken.fresh} new, {taken.joined} merged with known ones")
    print(f"skipped: {taken.known} already known, {len(taken.refused)} not usable")
    for reason in taken.refused:
        print("\n".join(wrap_text(f"  {reason}")))
    return (
        ExitCode.COMPLETED if len(taken.refused) < len(entries) or not entries else ExitCode.FAILED
    )


def _read_content(name: str) -> bytes:
    if name == "-":
        content = sys.stdin.buffer.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise RalphError("standard input has more than 128 MB; no knowledge file is that large")
        return content
    path = named_path(name)
    try:
        return read_bytes(path, most=LARGEST, follow=True)
    except NotPlainError as error:  # the user chose the file
        raise UsageError(
            f"cannot read {one_line(name)}: {error.strerror}; choose another file"
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot read {one_line(name)}: {why(error, 'choose another file')}"
        ) from error
