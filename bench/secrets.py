"""Measure which secrets are hidden, which ordinary lines are kept, and the cost of redaction."""

import json
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from bench import talker
from bench.result import Result, Scale
from bench.secret_forms import caught, forms
from ralph_tui.text.sanitize import plain
from ralph_tui.text.secrets import redact
from ralph_tui.text.secrets.lines import LineFilter

ORDINARY = tuple(
    Path(__file__).with_name("ordinary_lines.txt").read_text(encoding="utf-8").splitlines()
)
"""Lines of code, logs, lock files and documents that mention keys or look random."""
LINES_PER_SECOND = 200


def hidden(scale: Scale) -> Iterator[Result]:
    """Yield the results of both lists, and the CPU share at a busy agent's rate."""
    all_forms = forms()
    missed = [form.name for form in all_forms if not caught(form, redact(form.text))]
    yield Result(
        "secrets hidden, of those that scanners document",
        f"{len(all_forms) - len(missed)} of {len(all_forms)}",
        "all",
        not missed,
        {"hidden": len(all_forms) - len(missed), "forms": len(all_forms)},
        tuple(f"not hidden: {name}" for name in missed),
    )
    changed = [line for line in ORDINARY if redact(line) != line]
    yield Result(
        "ordinary lines left alone",
        f"{len(ORDINARY) - len(changed)} of {len(ORDINARY)}",
        "all",
        not changed,
        {"kept": len(ORDINARY) - len(changed), "lines": len(ORDINARY)},
        tuple(f"redacted: {redact(line)}" for line in changed),
    )
    count = scale.of(20_000, 4_000)
    for what, lines in (
        ("plain text", list(islice(talker.plain(), count))),
        ("stream-json", list(islice(talker.stream_json(), count))),
        ("code and logs", [*ORDINARY] * (count // len(ORDINARY))),
    ):
        share = _seconds(lines) / len(lines) * LINES_PER_SECOND
        yield Result(
            f"CPU of redaction at {LINES_PER_SECOND} lines/s of {what}",
            f"{share:.2%} of a core",
            "<= 3 % of a core",
            share <= 0.03,
            {"share": share},
        )


def _seconds(lines: Iterable[str]) -> float:
    """Return the CPU seconds to filter these lines for a transcript and for the journal."""
    clean = LineFilter()
    began = time.process_time()
    for line in lines:
        clean(line)
        plain(_spoken(line))
    return time.process_time() - began


def _spoken(line: str) -> str:
    """Return the text that an event contains: the whole line, or a message's content."""
    if not line.startswith("{"):
        return line
    try:
        told = json.loads(line)
    except ValueError:
        return line
    content = told.get("message", {}).get("content") if isinstance(told, dict) else None
    return str(content) if content else line
