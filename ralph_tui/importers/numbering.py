"""Determine an external run's iterations, the files of each, and their times.

A missing number is an iteration that crashed before it was recorded.

With shared outputs, checkpoints are numbered through the whole run, and an iteration's summary
repeats all earlier ones. With a folder per iteration, each has its own numbers. Within a session a
new group of checkpoints begins where their duration does not increase.

Times come from a transcript if possible, or else from checkpoints. Failing that, an iteration ends
at the health check or snapshot after it, or else at the time in its analytics. An iteration without
any of these shares the time between its neighbours.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from ralph_tui.events import CheckpointCaptured
from ralph_tui.importers.conversion import Checkpoint, IterationContent, RunContent
from ralph_tui.importers.external import Numbered, number_entries
from ralph_tui.importers.output_reader import Transcript
from ralph_tui.importers.records import Json, RunFiles, as_ordinal, as_seconds, as_time
from ralph_tui.text.json_fields import as_list, as_map, as_text

WIDEST_GAP = 50
"""Maximum gap in the numbering that is filled with crashed iterations that left no files."""
SHARED = "outputs/checkpoints"
MAX_CHECKPOINTS = 2_000
"""Maximum number of checkpoints read from a folder: one every half hour for six weeks."""
SHARED_TRANSCRIPT = "outputs/session-transcript.jsonl"
OVERSEER_LOG = "-overseer-log.json"
_SAME = 256
"""Number of bytes compared to decide whether two transcripts begin alike."""
_SECOND = timedelta(seconds=1)


class ExternalFiles:
    """The files of a run by iteration number, wherever its form stores them."""

    def __init__(self, files: RunFiles, run_id: str) -> None:
        self.files = files
        self._run_id = run_id
        self._current = ("", 0, 0)
        """The last transcript used: its name, its size, and the offset of its own lines."""

    @cached_property
    def left(self) -> frozenset[int]:
        """Numbers of the iterations that left a prompt or an output."""
        files = self.files
        return frozenset(
            [
                *files.numbers("prompts", "-prompt.md"),
                *files.numbers("outputs", "-stdout.log"),
                *files.numbers("logs", "-stdout.log"),
            ]
        )

    def output(self, number: int, kind: str = "stdout") -> str:
        """Return the name of an output; empty if missing."""
        return self.files.first(
            f"outputs/{number:03}-{kind}.log",
            f"logs/{number:03}-{kind}.log",
            f"iterations/{number:03}/{kind}.log",
        )

    def transcript(self, number: int) -> tuple[str, int]:
        """Return the transcript in an iteration's folder, and the offset of its own lines.

        Call it in the iterations' order, because a transcript may repeat those before it.
        """
        name = self.files.first(f"iterations/{number:03}/session-transcript.jsonl")
        if not name:
            return "", 0
        if name != self._current[0]:
            before, size = self._current[0], self._current[1]
            start = size if before and self._is_continued(before, name) else 0
            self._current = name, self.files.size(name), start
        return name, self._current[2]

    def beside(self, number: int, name: str) -> Json:
        """Return a JSON file in an iteration's folder; empty if missing."""
        return self.files.json(f"iterations/{number:03}/{name}") or {}

    def transcript_of(self, number: int) -> Transcript:
        """Return the transcript with an iteration's times; call it in the iterations' order."""
        name, start = self.transcript(number)
        return Transcript(self.files, name, start) if name else self._shared_transcript

    def _is_continued(self, before: str, name: str) -> bool:
        heads = []
        for each in (before, name):
            with self.files.open_file(each) as file:
                heads.append(file.read(_SAME) if file else b"")
        return heads[0] == heads[1] and self.files.size(name) >= self._current[1]

    @cached_property
    def _shared_transcript(self) -> Transcript:
        return Transcript(self.files, SHARED_TRANSCRIPT)

    @cached_property
    def checks(self) -> dict[int, Json]:
        """Health checks in the overseer's log of this run, by iteration number."""
        for name in self.files.names("overseer"):
            if not name.endswith(OVERSEER_LOG):
                continue
            log = self.files.json(f"overseer/{name}") or {}
            whose = log.get("loopId")
            whose = as_map(whose).get("loopId") if isinstance(whose, dict) else whose
            if self._run_id and whose == self._run_id:
                checks = map(as_map, as_list(log.get("healthCheckLog")))
                return {as_ordinal(each.get("iterationNumber")) or 0: each for each in checks}
        return {}

    @cached_property
    def analytics(self) -> Json:
        """Analytics of this run; empty if missing."""
        safe = self._run_id.replace("-", "").isalnum()  # otherwise it is not safe in a file name
        return self.files.json(f"analytics/{self._run_id}.json") or {} if safe else {}

    @cached_property
    def rows_by_number(self) -> dict[int, Json]:
        """Rows of the analytics, by iteration number."""
        rows = map(as_map, as_list(self.analytics.get("iterations")))
        return {as_ordinal(row.get("iteration_number")) or 0: row for row in rows}

    @cached_property
    def reflections(self) -> dict[int, Json]:
        """Valid reflections, by iteration number."""
        found = {}
        for name in self.files.names("reflections"):
            if name.startswith("reflection-") and name.endswith(".json"):
                each = self.files.json(f"reflections/{name}") or {}
                number = as_ordinal(each.get("iteration"))
                if number and as_text(each.get("content")) and as_time(each.get("timestamp")):
                    found[number] = each
        return found


def number_iterations(
    entries: Sequence[Json], current: int, left: Callable[[int], bool], *, whole: bool
) -> list[Numbered]:
    """Return all iterations; `left` is true for numbers with a prompt or an output.

    `current` is the loop's last iteration. `whole` means that it is the state's only loop, so files
    with lower numbers than its first are its own.
    """
    listed = number_entries(entries)
    known = {one.number for one in listed}
    found: list[Numbered] = []
    last = 0
    for one in listed:
        first = not last
        for number in range(last + 1, one.number):
            there = left(number) or (not first and one.number - last <= WIDEST_GAP)
            if number not in known and there and (whole or not first):
                found.append(Numbered(number, number))
        found.append(one)
        last = max(last, one.number)
    crashed = (n for n in range(last + 1, current + 1) if n == last + 1 or left(n))
    found += [Numbered(number, number) for number in crashed]
    shown = 0
    for one in found:
        one.shown = shown = max(one.number, shown + 1)
    return found


def checkpoints_of(
    files: RunFiles, numbered: Sequence[Numbered], *, own: bool
) -> Mapping[int, list[Checkpoint]]:
    """Return checkpoints by displayed number.

    `own` is True if the files in the run's folder belong to this loop.
    """
    shared = _read_checkpoints(files, SHARED) if own else {}
    found: dict[int, list[Checkpoint]] = {}
    taken, last = set[int](), 0
    previous: datetime | None = None
    for one in numbered:
        folder = f"iterations/{one.number:03}/checkpoints"
        mine = _read_checkpoints(files, folder) if own else {}
        summary = as_map((one.entry or {}).get("checkpointSummary"))
        said = _parse_summary(summary)
        if mine:
            found[one.shown] = [moment for _, moment in sorted(mine.items())]
            continue
        if not said:
            continue
        begins = said[min(said)][1]
        cumulative = bool(shared) or (begins is not None and begins == previous)
        previous = begins
        numbers = [number for number in sorted(said) if not cumulative or number > last]
        known = {number: shared.get(number, said[number]) for number in numbers}
        found[one.shown] = [moment for _, moment in sorted(known.items())]
        taken |= set(known)
        last = max(said)
    rest = [moment for number, moment in sorted(shared.items()) if number not in taken]
    _assign_groups(rest, taken, numbered, found)
    return found


def _assign_groups(
    rest: Sequence[Checkpoint],
    taken: set[int],
    numbered: Sequence[Numbered],
    found: dict[int, list[Checkpoint]],
) -> None:
    """Assign checkpoint groups without a summary, in order, to iterations that have none.

    Groups after the last claimed one belong to later iterations.
    """
    groups = _group(rest)
    claimed = [index for index, one in enumerate(numbered) if found.get(one.shown)]
    behind = claimed[-1] + 1 if claimed else 0
    early = [group for group in groups if taken and group[0][0].number < max(taken)]
    free_before = [one for one in numbered[:behind] if not found.get(one.shown)]
    free_after = list(numbered[behind:])
    for mine, free in ((early, free_before), (groups[len(early) :], free_after)):
        for group, one in zip(mine, free, strict=False):
            found[one.shown] = group


def _group(moments: Sequence[Checkpoint]) -> list[list[Checkpoint]]:
    groups: list[list[Checkpoint]] = []
    for moment in moments:
        event, before = moment[0], groups[-1][-1][0] if groups else None
        begins = before is None or event.duration_s <= before.duration_s
        if begins or (before is not None and event.session_id != before.session_id):
            groups.append([])
        groups[-1].append(moment)
    return groups


def _read_checkpoints(files: RunFiles, folder: str) -> dict[int, Checkpoint]:
    found = {}
    for number in files.numbers(folder, "-checkpoint.json")[:MAX_CHECKPOINTS]:
        name = f"{folder}/{number:03}-checkpoint.json"
        fields = files.json(name)
        if fields is not None:
            found[number] = _make_checkpoint(
                number, fields, name, len(as_list(fields.get("filesModified")))
            )
    return found


def _parse_summary(summary: Json) -> dict[int, Checkpoint]:
    found: dict[int, Checkpoint] = {}
    for each in map(as_map, as_list(summary.get("checkpoints"))):
        number = as_ordinal(each.get("number"))
        if number is not None and len(found) < MAX_CHECKPOINTS:
            found[number] = _make_checkpoint(
                number, each, "", as_ordinal(each.get("filesModified")) or 0
            )
    return found


def _make_checkpoint(number: int, fields: Json, path: str, changed: int) -> Checkpoint:
    event = CheckpointCaptured(
        iteration=0,
        number=number,
        trigger="timer",
        path=path,
        session_id=as_text(fields.get("sessionId")),
        duration_s=as_seconds(fields.get("duration")) or 0.0,
        files=changed,
    )
    return event, as_time(fields.get("timestamp"))


class TimeClues(NamedTuple):
    """Times that hint at when an iteration happened."""

    before: datetime | None = None
    """Time of the snapshot before its session."""
    first: datetime | None = None
    """Time of the session's first line."""
    last: datetime | None = None
    health: datetime | None = None
    after: datetime | None = None
    """Time of the snapshot after its session."""
    analytics: datetime | None = None


def settle_times(content: RunContent, clues: Sequence[TimeClues]) -> None:
    """Set the times of every iteration; `clues` has one item for each, in order."""
    for iteration, clue in zip(content.iterations, clues, strict=True):
        _set_own_times(iteration, clue)
    _share_gaps(content)
    previous = content.started
    for index, (iteration, clue) in enumerate(zip(content.iterations, clues, strict=True)):
        following = content.iterations[index + 1 :]
        upto = following[0].started if following else content.updated
        began = clue.before
        within = began is not None and (previous is None or began >= previous)
        if began is not None and within and iteration.started and began <= iteration.started:
            iteration.opened = began
        done = [at for at in (clue.after, clue.health, clue.analytics) if at is not None]
        late = [at for at in done if iteration.ended and at >= iteration.ended]
        iteration.closed = max((at for at in late if not upto or at <= upto), default=None)
        previous = iteration.closed or iteration.ended or previous


def _set_own_times(iteration: IterationContent, clue: TimeClues) -> None:
    moments = [at for _, at in iteration.checkpoints if at is not None]
    lasted = timedelta(seconds=iteration.duration_s or 0.0)
    if clue.first is not None and clue.last is not None:
        iteration.started, iteration.ended = clue.first, clue.last
        if moments:  # they have fractions of a second, unlike transcripts
            iteration.started = _refine(clue.first, moments[0])
            iteration.ended = _refine(clue.last, moments[-1])
    elif moments:
        iteration.started = moments[0]
        iteration.ended = moments[-1] if len(moments) > 1 else None
        if iteration.ended is None and iteration.duration_s:
            iteration.ended = moments[0] + lasted
    else:
        iteration.ended = clue.health or clue.after or clue.analytics
        if iteration.ended is not None:
            iteration.started = iteration.ended - lasted
    if iteration.started is not None and iteration.ended is not None:
        iteration.ended = max(iteration.started, iteration.ended)


def _refine(rough: datetime, moment: datetime) -> datetime:
    """Return a checkpoint's time if it is within the same second as a time in whole seconds."""
    return moment if not rough.microsecond and rough <= moment < rough + _SECOND else rough


def _share_gaps(content: RunContent) -> None:
    """Let iterations without a time share the gap between their neighbours."""
    index = 0
    while index < len(content.iterations):
        if content.iterations[index].started is not None:
            index += 1
            continue
        end = index
        while end < len(content.iterations) and content.iterations[end].started is None:
            end += 1
        before = content.iterations[index - 1] if index else None
        low = (before.ended or before.started) if before else content.started
        high = content.iterations[end].started if end < len(content.iterations) else content.updated
        if low is not None:
            whole = max(timedelta(0), high - low) if high is not None else timedelta(0)
            part = whole / (end - index)
            for place, iteration in enumerate(content.iterations[index:end]):
                iteration.started = low + place * part
                iteration.ended = low + (place + 1) * part
        index = end
