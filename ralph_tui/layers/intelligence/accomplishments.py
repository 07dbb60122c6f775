"""The accomplishments of an iteration, from evidence or, failing that, the agent's words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ralph_tui.events import GateFinished
from ralph_tui.events.intelligence import Evidence as Source
from ralph_tui.events.intelligence import Statement
from ralph_tui.layers.intelligence.evidence import Evidence, InnerLoop
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

NAMED = 10
"""Maximum number of tests, items or commits listed one by one."""
NAMED_FILES = 3
LONGEST = 200
"""Maximum length of one statement, in characters."""
MAX_GUESSES = 3
"""Maximum number of statements based on the agent's words alone."""

_DONE = re.compile(
    r"""(?:[-*•✓✔✅]\s*|\d{1,3}[.)]\s+)?(?:\*\*)?
    (?:(?:i|we)(?:'ve|’ve|\ have)?\ )?(?:(?:also|now|successfully|already|just)\ ){0,2}
    (?:added|built|changed|cleaned|completed|converted|corrected|created|deleted|documented
       |extracted|finished|fixed|handled|implemented|improved|installed|introduced|made|merged
       |migrated|moved|patched|refactored|removed|renamed|replaced|resolved|restored|rewrote
       |simplified|solved|split|tested|updated|upgraded|verified|wrote)\b""",
    re.IGNORECASE | re.VERBOSE,
)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
"""Pattern of the gap between two sentences."""


@dataclass(frozen=True)
class TestDiff:
    """Differences between two test results."""

    by_name: tuple[str, ...] | None = None
    """Tests that failed before and do not fail now; None if names cannot show this."""
    newly_failing: tuple[str, ...] = ()
    """Tests that fail now and did not fail before, as far as names can show this."""
    more: int = 0
    """Additional passing tests; negative if fewer pass."""


def compare(before: GateFinished | None, now: GateFinished | None) -> TestDiff:
    """Compare two results of the completion command.

    Names are compared only if both lists are complete and no fewer tests were collected, because a
    missing test does not fail either.
    """
    if before is None or now is None or not (_counted(before) and _counted(now)):
        return TestDiff()
    if before.broken or now.broken:
        return TestDiff()  # counts of a broken build say nothing about tests
    more = (now.passed or 0) - (before.passed or 0)
    whole = not (before.unnamed or now.unnamed)
    if not whole or (now.total or 0) < (before.total or 0):
        return TestDiff(more=more)
    were, are = set(before.failing), set(now.failing)
    return TestDiff(
        by_name=tuple(name for name in before.failing if name not in are),
        newly_failing=tuple(name for name in now.failing if name not in were),
        more=more,
    )


def accomplishments(evidence: Evidence, passes: TestDiff) -> list[Statement]:
    """Return at most about 40 statements, the strongest evidence first."""
    found = [*_tests(passes), *_plan(evidence.ticked), *_commits(evidence), *_files(evidence)]
    ended = (loop for loop in evidence.traces.loops if loop.success)
    found += (statement("loop", loop_words(loop)) for loop in ended)
    if found:
        return found
    report = evidence.report
    if report is not None and report.summary.strip():
        return [statement("report", report.summary)]
    done = (sentence for sentence in sentences(evidence.words) if _DONE.match(sentence))
    return [
        statement("text", sentence) for sentence, _ in zip(done, range(MAX_GUESSES), strict=False)
    ]


def loop_words(loop: InnerLoop) -> str:
    """Describe a loop inside the session in one line."""
    how = "reached its goal" if loop.success else "is" if loop.active else "stopped"
    limit = f" of {loop.limit}" if loop.limit else ""
    about = f" ({loop.task})" if loop.task else ""
    words = f": {loop.words}" if loop.words else ""
    return f"a loop inside the session{about} {how} at iteration {loop.iterations}{limit}{words}"


def statement(source: Source, text: str) -> Statement:
    """Return a short, one-line statement."""
    return Statement(text=short(text), source=source)


def short(text: str, limit: int = LONGEST) -> str:
    """Return one line of at most `limit` characters; only the start of a long text is processed."""
    return clip(" ".join(one_line(text[: 4 * limit]).split()), limit)


def sentences(words: str) -> Iterator[str]:
    """Yield the non-empty sentences of a text."""
    return (part for part in (each.strip() for each in SENTENCE.split(words)) if part)


def listed(names: Sequence[str], limit: int = NAMED_FILES, whole: int | None = None) -> str:
    """Join names: ``a, b, c and 4 more``; `whole` is the total if `names` is incomplete."""
    more = (len(names) if whole is None else whole) - len(names[:limit])
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


def _counted(gate: GateFinished) -> bool:
    """True if the counts cover all tests."""
    return gate.passed is not None and not gate.timed_out


def _tests(passes: TestDiff) -> Iterator[Statement]:
    names = passes.by_name or ()
    for name in names[:NAMED]:
        yield statement("tests", f"{short(name, LONGEST - 20)} now passes")
    if len(names) > NAMED:
        yield statement("tests", f"{len(names) - NAMED} more failing tests now pass")
    if (more := passes.more - len(names)) > 0:
        yield statement("tests", f"{count(more, 'more test')} {'passes' if more == 1 else 'pass'}")


def _plan(ticked: Sequence[str]) -> Iterator[Statement]:
    for item in ticked[:NAMED]:
        yield statement("plan", f"ticked in the plan: {item}")
    if len(ticked) > NAMED:
        yield statement("plan", f"{len(ticked) - NAMED} more items ticked in the plan")


def _commits(evidence: Evidence) -> Iterator[Statement]:
    commits = evidence.traces.commits
    for subject in commits[:NAMED]:
        yield statement("commits", f"committed: {subject}")
    if len(commits) > NAMED:
        yield statement("commits", f"{len(commits) - NAMED} more commits")


def _files(evidence: Evidence) -> Iterator[Statement]:
    files = evidence.files
    known = {change.path for change in files.changes} if files else set()
    ignored = [path for path in evidence.traces.artifacts if path not in known]
    if ignored:  # files that Git does not track
        yield statement("files", f"artifacts: {len(ignored)} changed ({listed(ignored)})")
    if files is None:
        return
    parts = []
    for status in ("added", "modified"):
        if paths := [change.path for change in files.changes if change.status == status]:
            parts.append(f"{len(paths)} {status} ({listed(paths)})")
    if parts:
        unnamed = sum(total.files for total in files.totals) - len(files.changes)
        more = f", {unnamed} more changed" if unnamed > 0 else ""
        yield statement("files", f"files: {', '.join(parts)}{more}")
