"""Find causes in a run: what its idle iterations had in common, and which blockers ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ralph_tui.layers.memory.issues import recurring_issues
from ralph_tui.layers.memory.similarity import similar
from ralph_tui.state import IterationSpan
from ralph_tui.text.sanitize import clip, one_line

NAMED: Final = 3
"""Maximum files, tests or iterations named in a sentence."""
COMPARED: Final = 2
"""Iterations from which something can be common to them."""
LONGEST: Final = 300
"""Maximum characters of an agent's statement within a sentence."""


@dataclass(frozen=True)
class EndedBlocker:
    """A blocker that the agent reported, and then did not report any more."""

    text: str
    named: int
    """First iteration that reported it."""
    gone: IterationSpan
    """First iteration after which a report no longer has it."""


def name_some(names: Sequence[str]) -> str:
    """Join names, at least one and at most `NAMED`: ``a, b, c and 4 more``."""
    more = len(names) - NAMED
    parts = [one_line(name) for name in names[:NAMED]] + [f"{more} more"] * (more > 0)
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def in_files(span: IterationSpan) -> str:
    """Return the files that an iteration changed, as in ``, with changes in a.py and b.py``."""
    paths = _paths(span)
    return f", with changes in {name_some(paths)}" if paths else ""


def common_traits(idle: Sequence[IterationSpan]) -> list[str]:
    """Describe what all these iterations have in common; empty for fewer than `COMPARED`."""
    return list(_traits(idle)) if len(idle) >= COMPARED else []


def _traits(idle: Sequence[IterationSpan]) -> Iterator[str]:
    if files := _in_all([_paths(span) for span in idle]):
        yield f"each changed {name_some(files)}"
    if all(span.files is not None and not span.files.changes for span in idle):
        yield "none changed a file"
    gates = [span.gate for span in idle]
    if tests := _in_all([gate.failing if gate else [] for gate in gates]):
        yield f"{name_some(tests)} failed after each"
    if broken := _in_all([[gate.broken] if gate and gate.broken else [] for gate in gates]):
        yield f"the build broke in each: {clip(broken[0], LONGEST)}"
    for issue in recurring_issues(idle):
        if len(issue.iterations) == len(idle):
            yield f"each met this problem: {clip(issue.text, LONGEST).rstrip('.')}"


def ended_blockers(spans: Sequence[IterationSpan]) -> list[EndedBlocker]:
    """Return the blockers that a later report no longer names, in the order of their first."""
    open_: dict[str, int] = {}
    ended: list[EndedBlocker] = []
    for span in spans:
        if not span.reports:
            continue
        said = [
            line for report in span.reports for text in report.blockers if (line := one_line(text))
        ]
        for text, named in list(open_.items()):
            if not any(similar(text, now) for now in said):
                ended.append(EndedBlocker(text, named, span))
                del open_[text]
        for text in said:
            if not any(similar(text, known) for known in open_):
                open_[text] = span.number
    return ended


def blocker_words(ended: EndedBlocker) -> str:
    """Describe one blocker's end in a sentence."""
    text = clip(ended.text, LONGEST).rstrip(".")
    return (
        f"The blocker of iteration {ended.named} ({text}) was gone after iteration "
        f"{ended.gone.number}{in_files(ended.gone)}."
    )


def _paths(span: IterationSpan) -> list[str]:
    return [change.path for change in span.files.changes] if span.files else []


def _in_all(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the values that all lists contain, in the order of the first."""
    first, *others = lists
    return [value for value in first if all(value in other for other in others)]
