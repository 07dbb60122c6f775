"""Checkpoints of an external run, and which iteration each belongs to.

Beside shared outputs their numbers run on through the whole run, and an iteration's summary repeats
all that were before; in a folder per iteration each has its own. Within a session a new group
begins where the time since its start is not greater than before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.importers.fields import Json, as_ordinal, as_seconds, as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.numbering import Numbered
from ralph_tui.importers.told import ToldCheckpoint

SHARED = "outputs/checkpoints"
MOST_CHECKPOINTS = 2_000
"""Of one folder that are read: one every half hour makes as many in six weeks."""


@dataclass(frozen=True)
class _Moment:
    number: int
    told: ToldCheckpoint

    @property
    def begins(self) -> float:
        return self.told.duration_s


def checkpoints_of(
    files: RunFiles, numbered: Sequence[Numbered], *, own: bool
) -> Mapping[int, list[ToldCheckpoint]]:
    """By the number an iteration is told by; `own`: what lies in the run's folder is its own."""
    shared = _read(files, SHARED) if own else {}
    found: dict[int, list[ToldCheckpoint]] = {}
    taken, last = set[int](), 0
    previous: datetime | None = None
    for one in numbered:
        folder = f"iterations/{one.number:03}/checkpoints"
        mine = _read(files, folder) if own else {}
        summary = as_map((one.entry or {}).get("checkpointSummary"))
        said = _summarized(summary)
        if mine:
            found[one.shown] = [moment.told for _, moment in sorted(mine.items())]
            continue
        if not said:
            continue
        begins = min(said.items())[1].told.at
        cumulative = bool(shared) or (begins is not None and begins == previous)
        previous = begins
        numbers = [number for number in sorted(said) if not cumulative or number > last]
        known = {number: shared.get(number, said[number]) for number in numbers}
        found[one.shown] = [moment.told for _, moment in sorted(known.items())]
        taken |= set(known)
        last = max(said)
    rest = [moment for number, moment in sorted(shared.items()) if number not in taken]
    _give(rest, taken, numbered, found)
    return found


def _give(
    rest: Sequence[_Moment],
    taken: set[int],
    numbered: Sequence[Numbered],
    found: dict[int, list[ToldCheckpoint]],
) -> None:
    """Groups that no summary claims, in their order, to iterations that have none.

    Those behind the last claimed one belong to what came after it.
    """
    groups = list(_groups(rest))
    claimed = [index for index, one in enumerate(numbered) if found.get(one.shown)]
    behind = claimed[-1] + 1 if claimed else 0
    early = [group for group in groups if taken and group[0].number < max(taken)]
    free_before = [one for one in numbered[:behind] if not found.get(one.shown)]
    free_after = list(numbered[behind:])
    for mine, free in ((early, free_before), (groups[len(early) :], free_after)):
        for group, one in zip(mine, free, strict=False):
            found[one.shown] = [moment.told for moment in group]


def _groups(moments: Sequence[_Moment]) -> Iterator[list[_Moment]]:
    group: list[_Moment] = []
    for moment in moments:
        before = group[-1] if group else None
        if before is not None and (
            moment.told.session_id != before.told.session_id or moment.begins <= before.begins
        ):
            yield group
            group = []
        group.append(moment)
    if group:
        yield group


def _read(files: RunFiles, folder: str) -> dict[int, _Moment]:
    found = {}
    for number in files.numbers(folder, "-checkpoint.json")[:MOST_CHECKPOINTS]:
        name = f"{folder}/{number:03}-checkpoint.json"
        fields = files.json(name)
        if fields is not None:
            found[number] = _moment(number, fields, name, len(as_list(fields.get("filesModified"))))
    return found


def _summarized(summary: Json) -> dict[int, _Moment]:
    found: dict[int, _Moment] = {}
    for each in map(as_map, as_list(summary.get("checkpoints"))):
        number = as_ordinal(each.get("number"))
        if number is not None and len(found) < MOST_CHECKPOINTS:
            found[number] = _moment(number, each, "", as_ordinal(each.get("filesModified")) or 0)
    return found


def _moment(number: int, fields: Json, path: str, changed: int) -> _Moment:
    return _Moment(
        number,
        ToldCheckpoint(
            as_when(fields.get("timestamp")),
            changed,
            as_seconds(fields.get("duration")) or 0.0,
            as_text(fields.get("sessionId")),
            path,
        ),
    )
