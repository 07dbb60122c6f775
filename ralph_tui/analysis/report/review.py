"""The sections for a reviewer: changed tests, the net change, and the failing tests.

Rule: they show the net change and the names as recorded; they never count changes that were undone.
"""

from collections.abc import Iterable, Sequence

from ralph_tui.analysis.report.markdown import code, escaped, table
from ralph_tui.analysis.report.material import Material
from ralph_tui.analysis.touched import to_check, touched_by
from ralph_tui.events import GateFinished
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.text.format import are, count

MAX_FILES = 20
"""Maximum number of paths in a list."""
MAX_TESTS = 30
HEAD = ("category", "files", "lines added", "removed")
_LISTED_BY_NAME = (
    "Test files changed:",
    "Configuration of the ",
    "Files that the completion command ",
)
"""Prefixes of sensor warnings that are left out if their paths are listed."""


def first(material: Material) -> str:
    """List by name whatever could make tests pass without the work being done."""
    touched = _touched(material)
    config, tests, named = to_check(touched, material.started.command)
    net = None if material.changes is None else {change.path for change in material.changes}
    lines = [
        *_named("Tests changed", tests, touched, net),
        *_named("Test configuration changed", config, touched, net),
        *_named("Files named by the completion command changed", named, touched, net),
    ]
    for iteration, text in material.measured:
        if not (lines and text.startswith(_LISTED_BY_NAME)):
            where = f"after iteration {iteration}" if iteration else "before iteration 1"
            lines.append(f"- {where}: {escaped(text)}")
    return "\n".join(lines)


def _touched(material: Material) -> dict[str, list[int]]:
    """Return every path known to have changed, with the iterations that changed it."""
    found = touched_by(material.state)
    for change in material.changes or ():
        found.setdefault(change.path, [])
    return found


def _named(
    title: str, paths: Sequence[str], touched: dict[str, list[int]], net: set[str] | None
) -> list[str]:
    if not paths:
        return []
    words = [_one(path, touched[path], net) for path in paths[:MAX_FILES]]
    more = [f"and {len(paths) - MAX_FILES} more"] if len(paths) > MAX_FILES else []
    return [f"- **{title}:** {', '.join([*words, *more])}"]


def _one(path: str, iterations: Sequence[int], net: set[str] | None) -> str:
    undone = ", since undone" if net is not None and path not in net else ""
    numbers = ", ".join(map(str, iterations[:MAX_FILES]))
    where = f"iteration{'s' if iterations[1:] else ''} {numbers}" if iterations else ""
    material = f"{where}{undone}".removeprefix(", ")
    return f"{code(path)}{f' ({material})' if material else ''}"


def files(material: Material) -> str:
    """Return the net difference, or only the names if it is unknown."""
    touched = _touched(material)
    if material.changes is None:
        if not touched:
            return ""
        why = (
            f"The net difference is unknown: {escaped(_missing(material))}. "
            f"{count(len(touched), 'file')} changed along the way; changes may have been undone:"
        )
        return f"{why}\n\n{_list(f'- {code(path)}' for path in touched)}"
    if not material.changes:
        return "No files differ from the start." if touched else ""
    totals = files_changed(0, material.changes, live=False).totals
    rows = [
        (total.category, str(total.files), f"+{total.added}", f"−{total.removed}")
        for total in sorted(totals, key=lambda total: -total.files)
    ]
    largest = sorted(material.changes, key=lambda change: -(change.added + change.removed))
    listed = _list(
        f"- {code(change.path)}: {change.status}, +{change.added} −{change.removed}"
        for change in largest
    )
    until = "the last snapshot" if material.state.run.live else "the end"
    if material.state.oversight.stale:
        until = "the restored files"
    return f"Between the start and {until}:\n\n{table(HEAD, rows)}\n\n{listed}"


def _missing(material: Material) -> str:
    started = material.started
    if started.imported:
        return f"{started.imported.partition(',')[0]} takes no snapshots"
    if not material.state.timeline.snapshots:
        return "the run has no snapshots"
    return started.snapshots_elsewhere if material.copied else (
        "the snapshots are not in this repository"
    )  # fmt: skip


def _list(lines: Iterable[str]) -> str:
    known = list(lines)
    more = [f"- and {len(known) - MAX_FILES} more"] if len(known) > MAX_FILES else []
    return "\n".join([*known[:MAX_FILES], *more])


def tests(material: Material) -> str:
    """Compare the tests before and after by name; the counts of a broken build are ignored."""
    counted = [
        span.gate
        for span in material.state.timeline.spans
        if span.gate is not None and span.gate.total is not None and not span.gate.broken
    ]
    broken = material.state.gate.broken_words
    rows = [f"At the end, {escaped(broken)}."] if broken else []
    return "\n\n".join([*rows, *([_compared(material, counted)] if counted else [])])


def _compared(material: Material, counted: Sequence[GateFinished]) -> str:
    """Compare the first counts with the last ones, and name the tests."""
    before, after = counted[0], counted[-1]
    if before is after:
        when = "at the start" if not before.iteration else f"after iteration {before.iteration}"
        return "\n".join([f"{_passing(after)} {when}.", *_names("failing", after, _failing(after))])
    since = "at the start" if not before.iteration else f"after iteration {before.iteration}"
    was, now = dict.fromkeys(_failing(before)), dict.fromkeys(_failing(after))
    fewer = max(gate.total or 0 for gate in counted) - (after.total or 0)
    gone = _lost_tests(material, after)[:fewer] if fewer else []
    fixed = [name for name in was if name not in now and name not in gone]
    still = [name for name in was if name in now]
    new = [name for name in now if name not in was]
    # If some failing or removed tests are unnamed, a missing name proves nothing.
    proven = not after.unnamed and len(gone) == fewer
    rows = [f"{_passing(before)} {since}, {_passing(after)} {_when(after, material)}.", ""]
    rows += _group("fixed" if proven else "failing before, not named now", fixed)
    rows += _group("gone", gone)
    if unknown := fewer - len(gone):
        more = "more " if gone else ""
        rows.append(f"- {count(unknown, f'{more}test')} {are(unknown)} gone and not named")
    rows += _group("newly failing" if not before.unnamed else "failing, not named before", new)
    rows += _names("still failing", after, still)
    if before.unnamed:
        many = f"{before.unnamed} more failed {since} and {_were(before.unnamed)} not named"
        if not before.failing:
            many = f"{before.unnamed} failed {since}; the output did not name them"
        rows.append(f"- {many}")
    return "\n".join(rows).rstrip()


def _when(gate: GateFinished, material: Material) -> str:
    last = material.state.gate.last
    if gate is not last and last is not None:
        return f"after iteration {gate.iteration}"
    if material.state.oversight.stale:
        return "before the files were restored"
    return "at the last measurement" if material.state.run.live else "at the end"


def _lost_tests(material: Material, gate: GateFinished) -> list[str]:
    """Return the tests that are no longer counted, if the measurements name them."""
    named = next((one.gone for one in reversed(material.state.gate.readings) if one.gone), [])
    return _whole_names(gate, named)


def _failing(gate: GateFinished) -> list[str]:
    return _whole_names(gate, gate.failing)


def _whole_names(gate: GateFinished, names: Sequence[str]) -> list[str]:
    """Return full names; unittest gives a test's name, and its full name in brackets."""
    if gate.runner != "unittest":
        return list(names)
    return [whole.removesuffix(")") or name for name, _, whole in map(_parted, names)]


def _parted(name: str) -> tuple[str, str, str]:
    return name.partition(" (")


def _passing(gate: GateFinished) -> str:
    return f"{gate.passed} of {count(gate.total or 0, 'test')} passed"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _names(title: str, gate: GateFinished, names: Sequence[str]) -> list[str]:
    """Return the named tests, and how many more failed without a name."""
    unnamed = [f"- {gate.unnamed} more failed and {_were(gate.unnamed)} not named"]
    if not gate.unnamed:
        unnamed = []
    elif not gate.failing:
        unnamed = [f"- {gate.unnamed} failed; the output does not name them"]
    return [*_group(title, names), *unnamed]


def _group(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = sorted(names)[:MAX_TESTS]
    more = [f"  - and {len(names) - MAX_TESTS} more"] if len(names) > MAX_TESTS else []
    return [f"- **{title}** ({len(names)}):", *(f"  - {code(name)}" for name in shown), *more]
