"""Bytes to lines, and lines to a transcript without secrets."""

import os
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.output import LineSplitter, Transcript
from ralph_tui.text.secrets import redact
from ralph_tui.text.secrets.lines import LineFilter
from tests.examples import FEWER

PIECE = 64 * 1024

SECRET = "sk-" + "b2" * 20


@given(st.lists(st.binary(max_size=20)), st.integers(1, 8))
def test_splitting_loses_nothing_and_bounds_every_line(chunks: list[bytes], limit: int) -> None:
    splitter = LineSplitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.close()
    assert b"".join(lines) == b"".join(chunks).replace(b"\n", b"")
    assert all(len(line) <= limit for line in lines)


@given(st.lists(st.binary(max_size=20)))
def test_short_lines_come_whole(chunks: list[bytes]) -> None:
    splitter = LineSplitter(1000)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.close()
    assert b"\n".join(lines) == b"".join(chunks).removesuffix(b"\n")


def test_offsets_point_to_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"of the session before\n")
    transcript = Transcript(path)
    offsets = [at for _, at in transcript.write(["é one", f"key {SECRET}", "three"])]
    transcript.close()
    data = path.read_bytes()
    assert [data[offset:].split(b"\n")[0] for offset in offsets] == [
        "é one".encode(),
        b"key [redacted]",
        b"three",
    ]


@FEWER
@given(st.integers(0, 3 * PIECE))
@example(PIECE - 20)
@example(PIECE - 1)
@example(2 * PIECE - 10)
def test_a_secret_in_a_huge_line_is_hidden_wherever_it_stands(position: int) -> None:
    filler = "some words, " * (3 * PIECE // 12)
    line = f"{filler[:position]} {SECRET} {filler[position:]}"
    assert "b2b2" not in redact(line)


def test_a_private_key_across_a_seam_is_hidden() -> None:
    body = "\\n".join(["c3" * 32] * 40)
    key = f"-----BEGIN RSA PRIVATE KEY-----\\n{body}\\n-----END RSA PRIVATE KEY-----"
    filler = "word " * (PIECE // 5 - 200)
    assert "c3c3" not in redact(f"{filler}{key} {filler}")


def test_a_private_key_in_plain_lines_is_hidden() -> None:
    clean = LineFilter()
    lines = ["a", "x -----BEGIN PRIVATE KEY-----", "c3c3", "-----END PRIVATE KEY-----", "b"]
    assert [clean(line) for line in lines] == ["a", "x [redacted]", "[redacted]", "[redacted]", "b"]


def test_a_full_disk_stops_the_writing_only(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "transcript.jsonl")
    assert transcript._file is not None
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), transcript._file.fileno())
    transcript.write(["one"])
    transcript.write(["two"])
    transcript.close()
    assert transcript.error is not None
