"""The files of an external run by the number of an iteration, and the times of its transcripts."""

import re
from array import array
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import BinaryIO

from ralph_tui.importers.records import Json, RunFiles, as_ordinal, as_when
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_list, as_map, as_text

SHARED_TRANSCRIPT = "outputs/session-transcript.jsonl"
OVERSEER_LOG = "-overseer-log.json"
LONGEST_LINE = 4 << 20
MOST_LINES = 400_000
MOST_BYTES = 64 << 20
"""Of a transcript that are looked at for times."""
FIRST = 3
"""Lines by which a session's beginning is found."""
LEAST = 2
"""Lines that a session must have to be found: sessions begin with the same one."""
SKIPPED = 6
"""Lines at a session's beginning that its transcript may lack: what is no event is not in it."""
NEAR = 40
"""Lines that an output may lack of its transcript at one place."""
_BLANKS = b" \t\r\n"
_STAMP = re.compile(
    rb',\s*"timestamp":\s*(?:"([^"\\]{1,40})"|(\d{1,16}))(?:,\s*"sessionId":\s*"[^"\\]{0,80}")?\s*\}$'
)
"""What the tool adds to the end of a line: when it came, and of which session it is."""
_UNKNOWN = 0.0
_SAME = 256
"""Bytes by which two transcripts are told to begin alike."""


def key_of(line: bytes) -> int:
    """What a line is known by, whoever has written it down: blanks are left out."""
    told = line.translate(None, _BLANKS)
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big", signed=True)


class Tape:
    """The transcript of an external run: the lines its sessions printed, each by key and time.

    It may hold one session, or all of them one after another. Where a session begins in it is told
    by the session's first lines. Of a line no more is remembered than its key, and when it came.
    """

    def __init__(self, files: RunFiles, name: str, start: int = 0) -> None:
        """`start`: where in the file to begin, bytes."""
        self._keys = array("q")
        self._times = array("d")
        self._next = 0
        with files.opened(name) as file:
            if file is not None:
                file.seek(start)
                self._read(file)

    def _read(self, file: BinaryIO) -> None:
        left = MOST_BYTES
        while left > 0 and len(self._keys) < MOST_LINES:
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            left -= len(line)
            if line.endswith(b"\n") and line.strip():
                bare, at = unstamped(line.rstrip())
                self._keys.append(key_of(bare))
                self._times.append(at)

    def times(self, keys: "array[int]") -> Iterator[float]:
        """Of a session with these lines when each came, epoch seconds; 0 where that is not known.

        Sessions are asked for in their order: each is looked for behind the one before it.
        """
        if len(keys) < LEAST:
            return
        windows = [list(keys[skip : skip + FIRST]) for skip in range(SKIPPED)]
        starts = map(self._find, [one for one in windows if len(one) >= min(FIRST, len(keys))])
        at = next((start for start in starts if start is not None), None)
        if at is None:
            return
        for key in keys:
            if (found := self._near(key, at)) is None:
                yield _UNKNOWN
            else:
                yield self._times[found]
                at = self._next = found + 1

    def _find(self, first: list[int]) -> int | None:
        """Where these lines stand one after the other, behind all sessions so far."""
        at = self._next
        while first:
            try:
                at = self._keys.index(first[0], at)
            except ValueError:
                return None
            if list(self._keys[at : at + len(first)]) == first:
                return at
            at += 1
        return None

    def _near(self, key: int, at: int) -> int | None:
        try:
            return self._keys.index(key, at, at + NEAR)
        except ValueError:
            return None


def unstamped(line: bytes) -> tuple[bytes, float]:
    """The line as it was printed, and when it came, epoch seconds."""
    match = _STAMP.search(line[-200:])
    if match is None:
        return line, _stamp_inside(line)
    at = as_when(match[1].decode("ascii", "replace") if match[1] else int(match[2]))
    bare = line[: len(line) - len(match[0])] + b"}"
    return bare, at.timestamp() if at else _UNKNOWN


def _stamp_inside(line: bytes) -> float:
    if b'"timestamp"' not in line:
        return _UNKNOWN
    try:
        at = as_when(as_map(parse_json(line)).get("timestamp"))
    except ValueError:
        return _UNKNOWN
    return at.timestamp() if at else _UNKNOWN


class ExternalFiles:
    """The files of a run by the number of an iteration, wherever its form keeps them."""

    def __init__(self, files: RunFiles, run_id: str) -> None:
        self.files = files
        self._run_id = run_id
        self._now = ("", 0, 0)
        """The transcript that was asked for last, its length, and where its own lines begin."""

    @cached_property
    def left(self) -> frozenset[int]:
        """Numbers of which a prompt or an output lies there."""
        files = self.files
        return frozenset(
            [
                *files.numbers("prompts", "-prompt.md"),
                *files.numbers("outputs", "-stdout.log"),
                *files.numbers("logs", "-stdout.log"),
            ]
        )

    def output(self, number: int, kind: str = "stdout") -> str:
        """Its name; empty for none."""
        return self.files.first(
            f"outputs/{number:03}-{kind}.log",
            f"logs/{number:03}-{kind}.log",
            f"iterations/{number:03}/{kind}.log",
        )

    def transcript(self, number: int) -> tuple[str, int]:
        """The transcript in the folder of an iteration, and where its own lines begin in it.

        Ask for them in their order: one repeats those of all before it.
        """
        name = self.files.first(f"iterations/{number:03}/session-transcript.jsonl")
        if not name:
            return "", 0
        if name != self._now[0]:
            before, size = self._now[0], self._now[1]
            start = size if before and self._goes_on(before, name) else 0
            self._now = name, self.files.size(name), start
        return name, self._now[2]

    def beside(self, number: int, name: str) -> Json:
        """A JSON file in the folder of an iteration; empty where there is none."""
        return self.files.json(f"iterations/{number:03}/{name}") or {}

    def tape(self, number: int) -> Tape:
        """The transcript with the times of an iteration; ask for them in their order."""
        name, start = self.transcript(number)
        return Tape(self.files, name, start) if name else self._shared_tape

    def _goes_on(self, before: str, name: str) -> bool:
        heads = []
        for each in (before, name):
            with self.files.opened(each) as file:
                heads.append(file.read(_SAME) if file else b"")
        return heads[0] == heads[1] and self.files.size(name) >= self._now[1]

    @cached_property
    def _shared_tape(self) -> Tape:
        return Tape(self.files, SHARED_TRANSCRIPT)

    @cached_property
    def checks(self) -> dict[int, Json]:
        """The overseer's log of this run: its checks by the number of their iteration."""
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
        """Those of this run; empty for none."""
        safe = self._run_id.replace("-", "").isalnum()  # else it can be no part of a name
        return self.files.json(f"analytics/{self._run_id}.json") or {} if safe else {}

    @cached_property
    def analysed(self) -> dict[int, Json]:
        """What the analytics say, by the number of an iteration."""
        rows = map(as_map, as_list(self.analytics.get("iterations")))
        return {as_ordinal(row.get("iteration_number")) or 0: row for row in rows}

    @cached_property
    def reflections(self) -> dict[int, Json]:
        """By the number of their iteration, those written since the run began."""
        found = {}
        for name in self.files.names("reflections"):
            if name.startswith("reflection-") and name.endswith(".json"):
                each = self.files.json(f"reflections/{name}") or {}
                number = as_ordinal(each.get("iteration"))
                if number and as_text(each.get("content")) and as_when(each.get("timestamp")):
                    found[number] = each
        return found
