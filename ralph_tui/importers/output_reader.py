"""Convert the output of an external run's session to events, with the reader of our own sessions.

The arrival time of a line comes from the run's transcript, if there is one. The agents print tool
calls as separate lines and also within messages; each id is used once. Only the beginning and end
of a very long output are read, and the number of events is limited.
"""

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from ralph_tui.adapters.agents.claims import SPOKEN
from ralph_tui.adapters.agents.claude.stream_reader import StreamReader
from ralph_tui.events import AgentNoted, AgentSpoke, Event, PromiseMade, SessionFinished
from ralph_tui.importers.records import Json, RunFiles, as_time
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.format import count
from ralph_tui.text.json_fields import as_list, as_map, as_text
from ralph_tui.text.sanitize import shorten

HEAD_BYTES, TAIL_BYTES = 32 << 20, 1 << 20
"""Bytes read from the beginning and end of an output; a night's work stays far below them."""
MAX_EVENTS = 20_000
"""Maximum number of events in a session; its usage is counted to the end regardless."""
_STDERR = 2000
"""Number of bytes read from the end of an error output."""

_DONE = "ralph_external_completion"
"""Key in the line in which an agent reports that its work is done."""
_DONE_PATTERN = re.compile(rf'"{_DONE}"\s*:\s*true')
_PARSED_MARKS = (_DONE, '"tool_use"', '"tool_result"', '"error"')
"""Substrings of lines that `StreamReader.feed` cannot handle alone."""

_BARE = {"tool_use": "assistant", "tool_result": "user"}
"""Line types that may appear without their usual message, and the type of that message."""
LONGEST_LINE = 4 << 20
MAX_LINES = 400_000
MAX_BYTES = 64 << 20
"""Maximum number of bytes searched for times in a transcript."""
FIRST = 3
"""Number of lines that identify the beginning of a session."""
LEAST = 2
"""Minimum number of a session's lines to match; all sessions begin with the same line."""
SKIPPED = 6
"""Number of a session's first lines to try as the start of its transcript.

A transcript contains only events, so the lines before the first event are missing there.
"""
NEAR = 40
"""Maximum number of transcript lines that an output may skip in one place."""
_BLANKS = b" \t\r\n"
_STAMP = re.compile(
    rb',\s*"timestamp":\s*(?:"([^"\\]{1,40})"|(\d{1,16}))(?:,\s*"sessionId":\s*"[^"\\]{0,80}")?\s*\}$'
)
"""The tool's addition to the end of a line: arrival time and session."""
_UNKNOWN = 0.0

Timed = tuple[Event, datetime | None]


def line_key(line: bytes) -> int:
    """Return a key that identifies a line, regardless of blanks."""
    block_seen = line.translate(None, _BLANKS)
    return int.from_bytes(blake2b(block_seen, digest_size=8).digest(), "big", signed=True)


class Transcript:
    """The transcript of an external run: for each line of its sessions, a key and a time.

    It contains one session, or all of them in order. A session's first lines locate its beginning.
    Only the key and the arrival time of a line are stored.
    """

    def __init__(self, files: RunFiles, name: str, start: int = 0) -> None:
        """`start` is the first byte to read."""
        self._keys = array("q")
        self._times = array("d")
        self._next = 0
        with files.open_file(name) as file:
            if file is not None:
                file.seek(start)
                self._read(file)

    def _read(self, file: BinaryIO) -> None:
        left = MAX_BYTES
        while left > 0 and len(self._keys) < MAX_LINES:
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            left -= len(line)
            if line.endswith(b"\n") and line.strip():
                bare, at = strip_stamp(line.rstrip())
                self._keys.append(line_key(bare))
                self._times.append(at)

    def times(self, keys: "array[int]") -> Iterator[float]:
        """Yield the arrival time of each of a session's lines, in epoch seconds; 0 if unknown.

        Call it in the sessions' order, because each is searched for after the previous one.
        """
        if len(keys) < LEAST:
            return
        windows = [list(keys[skip : skip + FIRST]) for skip in range(SKIPPED)]
        starts = map(self._find, [one for one in windows if len(one) >= min(FIRST, len(keys))])
        at = next((start for start in starts if start is not None), None)
        if at is None:
            return
        for key in keys:
            if (found := self._find_near(key, at)) is None:
                yield _UNKNOWN
            else:
                yield self._times[found]
                at = self._next = found + 1

    def _find(self, first: list[int]) -> int | None:
        """Return the index of these consecutive lines after all sessions so far; None if absent."""
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

    def _find_near(self, key: int, at: int) -> int | None:
        try:
            return self._keys.index(key, at, at + NEAR)
        except ValueError:
            return None


def strip_stamp(line: bytes) -> tuple[bytes, float]:
    """Return the line as it was printed, and its arrival time in epoch seconds."""
    match = _STAMP.search(line[-200:])
    if match is None:
        return line, _find_stamp(line)
    at = as_time(match[1].decode("ascii", "replace") if match[1] else int(match[2]))
    bare = line[: len(line) - len(match[0])] + b"}"
    return bare, at.timestamp() if at else _UNKNOWN


def _find_stamp(line: bytes) -> float:
    if b'"timestamp"' not in line:
        return _UNKNOWN
    try:
        at = as_time(as_map(parse_json(line)).get("timestamp"))
    except ValueError:
        return _UNKNOWN
    return at.timestamp() if at else _UNKNOWN


@dataclass
class ParsedOutput:
    """A session according to its output."""

    finished: SessionFinished
    """The end of the session, as far as it is known."""
    events: list[Timed] = field(default_factory=list)
    first: datetime | None = None
    """When its first line arrived; None without a transcript."""
    last: datetime | None = None
    session_id: str = ""
    plain: bool = False
    """True if it printed text instead of events."""


class OutputReader:
    """Reads the output of one session."""

    def __init__(self, iteration: int, root: str) -> None:
        self._iteration = iteration
        self._reader = StreamReader(iteration, Path(root or "/"))
        self._begun: set[str] = set()
        self._answered: set[str] = set()
        self._text_lines: list[str] = []
        self._skipped = 0
        self._skipped_events = 0
        self._since = 0.0
        self._promise = False
        self._printed = ParsedOutput(SessionFinished(iteration=iteration, outcome="error"))

    def read(
        self,
        files: RunFiles,
        name: str,
        transcript: Transcript | None,
        stderr: str,
        exit_code: int | None,
        *,
        start: int = 0,
    ) -> ParsedOutput:
        """Read the whole session; `name` is its output in the run's folder, read from `start`."""
        times = iter(_times(files, name, transcript, start))
        with files.open_file(name) as file:
            if file is not None:
                for line, offset in self._lines(file, start):
                    self._add_line(line, offset, next(times, None))
        return self._finish(_read_tail(files, stderr), exit_code)

    def _lines(self, file: BinaryIO, start: int) -> Iterator[tuple[bytes, int]]:
        """Yield lines with their offsets: the head, then the tail."""
        size = file.seek(0, 2)
        file.seek(start)
        yield from self._lines_to(file, min(size, start + HEAD_BYTES))
        if size - file.tell() > TAIL_BYTES:
            self._skipped += 1
            file.seek(size - TAIL_BYTES)
            while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
        yield from self._lines_to(file, size)

    def _lines_to(self, file: BinaryIO, end: int) -> Iterator[tuple[bytes, int]]:
        """Yield lines that begin before `end`, except those that are too long."""
        while (offset := file.tell()) < end and (line := file.readline(LONGEST_LINE)):
            if len(line) < LONGEST_LINE or line.endswith(b"\n"):
                yield line, offset
                continue
            self._skipped += 1
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)

    def _add_line(self, line: bytes, offset: int, at: datetime | None) -> None:
        parsed = self._printed
        if not line.strip():
            return
        parsed.first = parsed.first or at
        parsed.last = at or parsed.last
        for event in self._events(line.decode("utf-8", "replace"), offset, at):
            if len(parsed.events) < MAX_EVENTS:
                parsed.events.append((event, at))
            else:
                self._skipped_events += 1

    def _events(self, line: str, offset: int, at: datetime | None) -> list[Event]:
        now = self._seconds_at(at)
        if self._reader.heard and not any(word in line for word in _PARSED_MARKS):
            return self._reader.feed(line, offset, now)
        try:
            fields = as_map(parse_json(line))
        except ValueError:
            fields = {}
        if not as_text(fields.get("type")) and _DONE not in fields:
            if self._reader.heard:
                return self._reader.feed(line, offset, now)
            self._text_lines.append(line[:SPOKEN])
            del self._text_lines[MAX_EVENTS:]
            return []
        if _DONE in fields:
            return self._promise_events() if fields[_DONE] is True else []
        if fields.get("type") == "error":
            text = as_text(fields.get("error")) or as_text(
                as_map(fields.get("error")).get("message")
            )
            block_seen = shorten(text or "an error without a message", SPOKEN)
            return [
                AgentNoted(iteration=self._iteration, level="error", text=block_seen, offset=offset)
            ]
        known = self._drop_repeats(fields)
        if known is None:
            return []
        events = self._reader.feed(line if known is fields else json.dumps(known), offset, now)
        if any(isinstance(e, AgentSpoke) and _DONE_PATTERN.search(e.text) for e in events):
            events += self._promise_events()
        return events

    def _promise_events(self) -> list[Event]:
        """Return the event for the promise, at most once per session."""
        before, self._promise = self._promise, True
        return [] if before else [PromiseMade(iteration=self._iteration)]

    def _seconds_at(self, at: datetime | None) -> float:
        """Return the seconds since the first known time, used to measure how long tools took."""
        if at is not None and self._printed.first is not None:
            self._since = max(self._since, (at - self._printed.first).total_seconds())
        return self._since

    def _drop_repeats(self, fields: Json) -> Json | None:
        """Return the line with only its new blocks; None if none is new.

        A bare block is wrapped in a message.
        """
        kind = as_text(fields.get("type"))
        if kind in _BARE:
            blocks = self._new_blocks([fields])
            return {"type": _BARE[kind], "message": {"content": blocks}} if blocks else None
        content = as_map(fields.get("message")).get("content")
        if kind not in ("assistant", "user") or not isinstance(content, list):
            return fields
        blocks = self._new_blocks([as_map(block) for block in as_list(content)])
        if len(blocks) == len(content):
            return fields
        message = {**as_map(fields.get("message")), "content": blocks}
        return {**fields, "message": message}

    def _new_blocks(self, blocks: list[Json]) -> list[Json]:
        """Leave out tool calls and results that were already used."""
        found = []
        for block in blocks:
            kind = as_text(block.get("type"))
            if kind.endswith("tool_use"):
                known, block_seen = as_text(block.get("id")), self._begun
            elif kind.endswith("tool_result"):
                known, block_seen = as_text(block.get("tool_use_id")), self._answered
            else:
                found.append(block)
                continue
            if known not in block_seen:
                block_seen.add(known)
                found.append(block)
        return found

    def _finish(self, stderr: str, exit_code: int | None) -> ParsedOutput:
        parsed, reader = self._printed, self._reader
        if self._text_lines and not reader.heard:
            parsed.plain = True
            parsed.events += self._words()
        if self._skipped or self._skipped_events:
            self._note_gap()
        ended = reader.ends.of_last_turn if not reader.in_turn else None
        end = ended or reader.ends.at_exit(exit_code, stderr, heard=reader.heard)
        parsed.session_id = reader.session_id
        parsed.finished = SessionFinished(
            iteration=self._iteration,
            outcome=end.outcome,
            reason=end.reason,
            exit_code=exit_code,
            cost_usd=reader.usage.cost_usd,
            tokens=reader.usage.tokens,
            turns=reader.turns,
            tool_calls=reader.tools.calls,
            tool_errors=reader.tools.errors,
            limit=end.limit,
            resets_at=end.resets_at,
        )
        return parsed

    def _words(self) -> Iterator[Timed]:
        """Yield plain text in pieces of limited length."""
        batch: list[str] = []
        for line in [*self._text_lines, ""]:
            if batch and (not line or sum(map(len, batch)) + len(line) > SPOKEN):
                yield AgentSpoke(iteration=self._iteration, text="".join(batch).strip("\n")), None
                batch = []
            batch += [line] if line.strip() else []

    def _note_gap(self) -> None:
        what = [
            *([count(self._skipped_events, "event")] if self._skipped_events else []),
            *(["the middle of its output"] if self._skipped else []),
        ]
        note = AgentNoted(
            iteration=self._iteration,
            level="warn",
            text=f"Left out here; see its log for {' and '.join(what)}",
        )
        self._printed.events.append((note, self._printed.last))


def _times(
    files: RunFiles, name: str, transcript: Transcript | None, start: int
) -> Iterator[datetime | None]:
    """Yield the arrival time of each line that is not blank, or None."""
    if transcript is None:
        return
    keys = array("q")
    with files.open_file(name) as file:
        left = HEAD_BYTES
        if file is not None:
            file.seek(start)
        while file is not None and left > 0 and (line := file.readline(LONGEST_LINE)):
            left -= len(line)
            if line.strip():
                keys.append(line_key(strip_stamp(line.rstrip())[0]))
    for at in transcript.times(keys):
        yield datetime.fromtimestamp(at, UTC) if at else None


def _read_tail(files: RunFiles, name: str) -> str:
    """Return the end of an error output."""
    with files.open_file(name) as file:
        if file is None:
            return ""
        file.seek(max(0, files.size(name) - _STDERR))
        return file.read(_STDERR).decode("utf-8", "replace")
