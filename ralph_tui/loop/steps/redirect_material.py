"""Text of a proposed REDIRECT: the evidence of the problem, then the instructions.

Names, paths and the agent's words are fenced as data. Pure.
"""

import shlex
from collections.abc import Sequence
from itertools import pairwise

from ralph_tui.events.oversight import Subject
from ralph_tui.layers.intelligence.fence import data, fenced, item
from ralph_tui.layers.oversight import propose
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import count, percent

NAMED = 10
"""Maximum number of tests or files named in a list."""
TRIED = 6
"""Maximum number of iterations whose summaries are listed."""
RESULTS = 6
"""Number of results listed if they oscillate."""


def redirect_words(about: Subject, state: RunState) -> str:
    """Return the instructions that a REDIRECT proposes."""
    spans = [span for span in state.timeline.spans if span.completion is not None]
    facts = {"stuck": _stuck, "regressing": _regressing, "oscillating": _oscillating}.get(about)
    said = facts(spans) if facts and spans else []
    said += _invalid(state) if about == "validation" else []
    return "\n\n".join([*said, *_blockers(state), propose(about)])


def _best(spans: Sequence[IterationSpan]) -> int:
    """Return the index of the first of the best results."""
    return max(range(len(spans)), key=lambda place: (spans[place].completion or 0.0, -place))


def _stuck(spans: Sequence[IterationSpan]) -> list[str]:
    best = _best(spans)
    top, since = spans[best], spans[best + 1 :]
    where = f"since iteration {top.number}" if top.number else "since the start"
    said = [f"Completion has not risen above {percent(top.completion or 0.0)} {where}."]
    gates = [span.gate for span in (top, *since) if span.gate and span.gate.passed is not None]
    if gates and gates[-1].failing:
        always = set.intersection(*(set(gate.failing) for gate in gates))
        names = [name for name in gates[-1].failing if name in always]
        if names:
            said.append(_names(f"These tests have failed in every measurement {where}", names))
    if changed := _changed(since):
        said += [changed, "Those edits did not raise completion."]
    if tried := _tried(since):
        said.append(data("Attempts so far, in the agent's own words", tried))
        said.append("Choose an approach that is not on this list.")
    return said


def _regressing(spans: Sequence[IterationSpan]) -> list[str]:
    best = _best(spans)
    top, since = spans[best], spans[best + 1 :]
    name = f"after iteration {top.number}" if top.number else "at the start"
    now = percent(spans[-1].completion or 0.0, top.completion or 0.0)
    was = percent(top.completion or 0.0)
    said = [f"The best result was {was} {name}; iteration {spans[-1].number} reached {now}."]
    broken: dict[str, int] = {}
    were = set(top.gate.failing) if top.gate else set()
    for span in since:
        if span.gate is not None and top.gate is not None and not top.gate.unnamed:
            for test in () if span.gate.broken else span.gate.failing:
                broken.setdefault(test, span.number)
    still = set(spans[-1].gate.failing) if spans[-1].gate else set()
    lines = [f"- {item(t)} (iteration {k})" for t, k in broken.items() if t in still - were]
    if lines:
        said.append(data("Tests that broke since then, with the iteration", lines[:NAMED]))
    if changed := _changed(since):
        said.append(changed)
    if top.boundary is not None and since:
        paths = dict.fromkeys(
            change.path for span in since if span.files for change in span.files.changes
        )
        files = " ".join(shlex.quote(item(path)) for path in list(paths)[:NAMED])
        said.append(
            "This command shows what changed since the best result:\n\n"
            + fenced(f"git diff {top.boundary.commit}{f' -- {files}' if files else ''}")
        )
    return said


def _oscillating(spans: Sequence[IterationSpan]) -> list[str]:
    top, last = spans[_best(spans)], spans[-RESULTS:]
    results = ", ".join(percent(span.completion or 0.0).removesuffix(" %") for span in last)
    where = f"iteration {top.number}" if top.number else "before iteration 1"
    said = [
        f"The last {len(last)} results went up and down: {results} %. "
        f"Best: {percent(top.completion or 0.0)}, {where}."
    ]
    gates = [span.gate for span in last if span.gate and not span.gate.unnamed]
    names = dict.fromkeys(name for gate in gates for name in gate.failing)
    turns = [name for name in names if _flips([name in gate.failing for gate in gates])]
    if turns:
        said.append(_names("These tests alternate between passing and failing", turns))
    return said


def _flips(failed: Sequence[bool]) -> bool:
    """True if a test changed at least twice: a test that failed once and now passes was fixed."""
    return sum(one != other for one, other in pairwise(failed)) > 1


def _blockers(state: RunState) -> list[str]:
    made = state.intelligence.assessment
    standing = [one.text for one in made.blockers if one.standing] if made else []
    if not standing:
        return []
    return [
        data("Recurring blockers", [f"- {item(t)}" for t in standing]),
        "First find out which failing tests they really affect. Make the other tests pass.",
    ]


def _invalid(state: RunState) -> list[str]:
    errors = state.intelligence.errors(state.run.iteration)
    return [data("Errors that validation found", [f"- {item(one.text)}" for one in errors])]


def _names(label: str, names: Sequence[str]) -> str:
    more = [f"- and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return data(label, [*(f"- {item(name)}" for name in names[:NAMED]), *more])


def _changed(spans: Sequence[IterationSpan]) -> str:
    """List the files changed in these iterations, with totals; empty if no file changed."""
    lines: dict[str, tuple[int, int]] = {}
    for span in spans:
        for change in span.files.changes if span.files else ():
            added, removed = lines.get(change.path, (0, 0))
            lines[change.path] = added + change.added, removed + change.removed
    said = [f"- {item(path)} (+{added} −{removed})" for path, (added, removed) in lines.items()]
    if not said:
        return ""
    more = [f"- and {count(len(said) - NAMED, 'more file')}"] if said[NAMED:] else []
    numbers = str(spans[0].number)
    numbers = f"s {numbers}-{spans[-1].number}" if len(spans) > 1 else f" {numbers}"
    return data(f"Iteration{numbers} changed these files", [*said[:NAMED], *more])


def _tried(spans: Sequence[IterationSpan]) -> list[str]:
    said = []
    for span in spans[-TRIED:]:
        text = next((r.summary for r in reversed(span.reports) if r.summary.strip()), "")
        if text:
            said.append(f"- Iteration {span.number}: {item(text)}")
    return said
