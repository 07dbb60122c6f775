"""Output on its way to a log: no secret passes, nothing else changes, all is bounded."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui.adapters.processes import bounded_work, capture
from ralph_tui.adapters.processes.capture import HOLD_LIMIT, TAIL_LIMIT, CappedLog
from ralph_tui.text.secrets import HIDDEN, redact
from tests.rows import each_row
from tests.waiting import until

SECRETS = [
    "sk-ant-api03-" + "a1B2" * 8,
    "pk-" + "a1B2" * 8,
    "rk-" + "a1B2" * 8,
    *(f"gh{letter}_" + "A1b2" * 9 for letter in "pousr"),
    "github_pat_" + "A1b2" * 9,
    "glpat-" + "A1b2" * 6,
    "xoxb-1234567890-abcdef",
    "AKIA" + "Q1W2" * 4,
    "ASIA" + "Q1W2" * 4,
    "AIza" + "a1B2c" * 7,
    "npm_" + "a1B2" * 9,
    "pypi-" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz",
    "Authorization: Basic dXNlcjpodW50ZXIyaHVudGVy",
    "'authorization': 'Bearer abcdefgh12345678'",
    "bearer abcdefgh12345678",
    "API-KEY=abcdefgh12345678",
    "my_api_key: abcdefgh12345678",
    "apikey = 'abcdefgh12345678'",
    "CLIENT_SECRET=abcdefgh12345678",
    '"token": "abcdefgh12345678"',
    "password:\n    abcdefgh12345678",
    "DB_PASSWD=abcdefgh12345678",
    "postgres://user:hunter2hunter2@db/x",
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEowIBAAKCAQEA\n" * 4
    + "-----END RSA PRIVATE KEY-----",
]
WORDS = [
    "",
    "PASSED",
    "é✓",
    "a token of love",
    "http://localhost/x",
    "task-list",
    "E  key:",
    "=",
    "\t",
    "\x1b[31m",
]

secret_lines = st.tuples(st.sampled_from(WORDS), st.sampled_from(SECRETS), st.sampled_from(WORDS))
lines = st.one_of(st.sampled_from(WORDS), st.text(max_size=40), secret_lines.map(" ".join))


def read_back(path: Path, pieces: list[bytes], limit: int = capture.LOG_LIMIT) -> bytes:
    log = CappedLog(path, limit)
    for piece in pieces:
        log.write(piece)
    log.close()
    assert log.failure == ""
    return path.read_bytes()


@each_row("secret", SECRETS)
def test_every_kind_of_secret_is_hidden(tmp_path: Path, secret: str) -> None:
    shown = read_back(tmp_path / "log", [f"before\n{secret}\nafter\n".encode()]).decode()
    assert HIDDEN in shown
    assert shown == redact(f"before\n{secret}\nafter\n")


@given(st.lists(lines, max_size=12).map("\n".join), st.integers(0, 400))
@example("token:\n\n abcdefgh12345678 x", 5)
@example("token\x85:\u2003abcdefgh12345678", 5)
def test_bytes_are_redacted_as_text_is(content: str, cut: int) -> None:
    data = content.encode("utf-8", "surrogatepass")
    text = data.decode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory() as folder:
        kept = read_back(Path(folder) / "log", [data[:cut], data[cut:]])
    assert kept == redact(text).encode("utf-8", "surrogateescape")


@given(st.binary(max_size=300))
def test_bytes_without_secrets_stay_what_they_are(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    if redact(text) == text:
        with tempfile.TemporaryDirectory() as folder:
            assert read_back(Path(folder) / "log", [data]) == data


def test_no_secret_slips_through_between_two_pieces(tmp_path: Path) -> None:
    """The cut may fall anywhere; all secrets are in one log, and one ends it."""
    blocks = [f"before {secret}\nafter\n".encode() for secret in SECRETS]
    blocks.append(blocks[0].removesuffix(b"\nafter\n"))
    expected = b"".join(redact(block.decode()).encode() for block in blocks)
    for cut in range(max(map(len, blocks)) + 1):
        pieces = [part for block in blocks for part in (block[:cut], block[cut:])]
        assert read_back(tmp_path / "log", pieces) == expected


def test_a_secret_in_an_endless_line_is_hidden(tmp_path: Path) -> None:
    secret = b"sk-" + b"a1B2" * 10
    whole = b"word " * 15_000 + secret + b' "token": "abcdefgh12345678" ' + b"word " * 15_000
    pieces = [whole[at : at + 1000] for at in range(0, len(whole), 1000)]
    log = CappedLog(tmp_path / "log")
    for piece in pieces:
        log.write(piece)
        assert log._held_size <= HOLD_LIMIT + len(piece)
    log.close()
    kept = (tmp_path / "log").read_bytes()
    assert secret not in kept
    assert b"abcdefgh" not in kept
    assert kept == redact(whole.decode()).encode()


def test_secrets_of_the_environment_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "correct horse battery")
    pieces = [b"say correct ho", b"rse battery now\n"]
    assert read_back(tmp_path / "log", pieces) == b"say [redacted] now\n"


def test_a_line_is_in_the_log_as_soon_as_it_is_whole(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "log")
    log.write(b"first\nsec")
    assert (tmp_path / "log").read_bytes() == b"first\n"
    log.write(b"ond\n")
    assert (tmp_path / "log").read_bytes() == b"first\nsecond\n"
    log.close()


@each_row("count", [0, 1, 10, 5_000, 150_000])
def test_head_and_tail_are_kept_and_what_is_missing_is_said(tmp_path: Path, count: int) -> None:
    whole = b"".join(b"line %06d\n" % number for number in range(count))
    pieces = [whole[at : at + 65_536] for at in range(0, len(whole), 65_536)]
    kept = read_back(tmp_path / "log", pieces, limit=20_000)
    head, marker, tail = kept.partition(b"\n[ralph-tui: ")
    if not marker:
        assert kept == whole
        assert len(whole) <= 20_000 + TAIL_LIMIT
    else:
        missing, _, tail = tail.partition(b" bytes of output are left out here]\n")
        assert head == whole[:20_000]
        assert whole.endswith(tail)
        assert TAIL_LIMIT - 65_536 < len(tail) <= TAIL_LIMIT
        assert len(head) + int(missing) + len(tail) == len(whole)


def test_the_tail_in_memory_is_bounded_whatever_the_pieces(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "log", limit=10)
    for _ in range(150):
        log.write(b"x" * 9_999 + b"\n")
        assert sum(map(len, log._tail)) <= TAIL_LIMIT + 10_000
    log.close()
    assert log.tail().endswith(b"x\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_keeps_the_end_in_memory(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "log")
    assert log._file is not None
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), log._file.fileno())
    log.write(b"one\ntwo\n")
    log.write(b"three")
    log.close()
    assert log.failure == "No space left on device; free some space"
    assert log.full
    assert log.tail() == b"one\ntwo\nthree"


def test_a_log_that_cannot_be_opened_keeps_the_end_in_memory(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "missing" / "log")
    log.write(b"one\n")
    log.close()
    assert log.failure == "No such file or directory; free some space"
    assert log.tail() == b"one\n"


# -- more than there is time for ---------------------------------------------------------------

NEARLY = b"password = "


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search for secrets uses up all the time."""
    monkeypatch.setattr(bounded_work, "RESERVE_S", 1e-9)
    monkeypatch.setattr(bounded_work, "SHARE", 0.0)


def test_beyond_its_time_the_end_is_kept_and_what_is_left_out_is_said(
    tmp_path: Path, no_time: None
) -> None:
    line = NEARLY * 20 + b"\n"
    size = len(line) * 2000 + len(b"tests ran\n5 passed\n")
    log = CappedLog(tmp_path / "log")
    for _ in range(2000):
        log.write(line)
    log.write(b"tests ran\n5 passed\n")
    log.close()
    kept = (tmp_path / "log").read_bytes()
    head, missing, end = kept.partition(b"\n[ralph-tui: ")
    left_out, _, end = end.partition(b" bytes of output are left out here: too much output to ")
    assert head == line[:-1] + b"\n"
    assert missing
    assert int(left_out) == log.unread > size - 3 * HOLD_LIMIT
    mark, _, end = end.partition(b"]\n")
    assert mark == b"check in time"
    assert end.endswith(b"password = \ntests ran\n5 passed\n")
    assert len(head) + log.unread + len(end) == size
    assert log.tail().endswith(b"5 passed\n")


def test_of_a_line_without_end_nothing_is_kept_beyond_its_time(
    tmp_path: Path, no_time: None
) -> None:
    log = CappedLog(tmp_path / "log")
    size = 0
    for _ in range(100):
        log.write(NEARLY * 1000)
        size += len(NEARLY) * 1000
        assert log._held_size <= 3 * HOLD_LIMIT
    log.close()
    kept = (tmp_path / "log").read_bytes()
    head, _, end = kept.partition(b"\n[ralph-tui: ")
    assert len(head) + log.unread == size
    assert len(head) < 2 * HOLD_LIMIT
    assert end.startswith(b"%d bytes" % log.unread)


def test_a_line_that_was_left_out_in_part_is_left_out_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "HOLD_LIMIT", 1000)
    monkeypatch.setattr(bounded_work, "RESERVE_S", 1e-9)
    monkeypatch.setattr(bounded_work, "SHARE", 0.0)
    log = CappedLog(tmp_path / "log")
    log.write(NEARLY * 10 + b"\n")
    log.write(NEARLY * 1000)
    monkeypatch.setattr(bounded_work, "RESERVE_S", 100.0)
    monkeypatch.setattr(bounded_work, "SHARE", 1e9)
    secret = b"hunter2-hunter2"
    until(lambda: not log._work.spent)
    for _ in range(300):
        log.write(secret + b" " * 10)
    log.write(b"\n" + secret + b"\nthe next\n")
    log.write(NEARLY + secret + b"\nlast\n")
    assert (tmp_path / "log").read_bytes().endswith(b"]\nthe next\npassword = [redacted]\nlast\n")
    log.close()
    kept = (tmp_path / "log").read_bytes()
    assert secret not in kept
    assert kept.count(b"[ralph-tui: ") == 1


def test_output_without_a_hint_is_whole_however_long_it_is(tmp_path: Path, no_time: None) -> None:
    block = b"nothing to see here\n" * 5000
    assert read_back(tmp_path / "log", [block] * 20) == block * 20


@pytest.mark.parametrize(
    "secret",
    [
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "MIIEowIBAAKCAQEA\n" * 4
        + "-----END RSA PRIVATE KEY-----",
        "password:\n\n    abcdefgh12345678",
        "token = \n  ghijkl-mnopqr-98765432 # mine",
        "PASSWORD=abcdefgh-12345678,ijklmnop",
        "ghp_" + "A1b2" * 4 + "\n" + "C3d4" * 5 + " more",
    ],
)
def test_no_half_of_a_secret_is_kept_where_its_beginning_was_left_out(
    tmp_path: Path, no_time: None, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setattr(capture, "HOLD_LIMIT", 300)
    pieces = [
        word
        for word in secret.replace("=", " ").replace(",", " ").split()
        if len(word) > 14 and "KEY" not in word
    ]
    assert pieces
    for behind in range(0, 320, 4):
        log = CappedLog(tmp_path / "log")
        log.write(NEARLY + b"\n")
        before, after = b"a line\n" * 200, b"a fine end\n" * (behind // 11) + b"." * (behind % 11)
        log.write(before + secret.encode() + b"\n")
        log.write(after + b"\nlast\n")
        log.close()
        kept = (tmp_path / "log").read_text()
        assert kept.endswith("last\n")
        assert log.unread
        for piece in pieces:
            assert piece not in kept, behind


def test_who_waits_for_the_end_gets_it_at_once(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "log")
    log.write(b"begun\n")
    log.hurry()
    for _ in range(1000):
        log.write(NEARLY * 1000 + b"\n")
    log.write(b"stopped\nby force\n")
    log.close()
    assert log.unread > 10_000_000
    kept = (tmp_path / "log").read_bytes()
    assert kept.startswith(b"begun\n\n[ralph-tui: ")
    assert kept.endswith(b"stopped\nby force\n")
