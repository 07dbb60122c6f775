"""No byte that a terminal can send ends a screen."""

import random
from collections.abc import Sequence

from textual import events

from ralph_tui.tui.driver import TerminalInput
from tests.rows import each_row


def keys_of(*pieces: bytes) -> list[str]:
    """Keys decoded from these pieces of input, one read per piece."""
    reader, typed = TerminalInput(), []
    for piece in pieces:
        typed += [m.key for m in reader.feed(piece) if isinstance(m, events.Key)]
    return typed


@each_row(
    "noise",
    [
        b"\x1b[99999999999u",  # no character has this number
        b"\x1b[97;1:3u",
        b"\x1b[97;;99999999u",
        b"\x1b[97:65;2u",
        b"\x1b[48;0;0;0;0t\x1b[<0;5;5M",
        b"\x1b[48;24;80;0;0t\x1b[<0;5;5M",
        b"\x1b[48;99999;99999;1;1t",
        b"\x1b[55296u",  # half of a character
        b"\x1b[<0;99999999999999999999;1M",
        b"\x1b[99999999;1R",
        b"\x1b[?2048;9$y",
    ],
)
def test_a_sequence_without_sense_is_dropped(noise: bytes) -> None:
    assert keys_of(noise + b"q")[-1] == "q"
    assert keys_of(*(bytes([byte]) for byte in noise + b"q"))[-1] == "q"


def test_a_byte_that_is_no_text_is_replaced() -> None:
    assert keys_of(b"a\xffb") == ["a", "replacement_character", "b"]
    assert keys_of("é".encode()[:1], "é".encode()[1:]) == ["é"]


@each_row("column", [1, 95, 96, 162, 222])
def test_a_legacy_mouse_report_is_no_text(column: int) -> None:
    """Mouse bytes are numbers; two of them may even form one letter in UTF-8."""
    report = b"\x1b[M" + bytes([32, 32 + column, 32 + 101])
    assert keys_of(b"a" + report + b"b") == ["a", "b"]
    for cut in range(4, len(report)):
        assert keys_of(b"a" + report[:cut], report[cut:] + b"b") == ["a", "b"]


def test_a_paste_of_bytes_is_one_paste() -> None:
    messages = list(TerminalInput().feed(b"\x1b[200~a\xff\xfe\x00b\x1b[201~"))
    pasted = [message.text for message in messages if isinstance(message, events.Paste)]
    assert pasted == ["a\ufffd\ufffdb"]


PIECES: Sequence[bytes] = (
    *(bytes([byte]) for byte in range(256)),
    *(b"\x1b[", b"\x1b[<", b"\x1b[M", b"\x1b[200~", b"\x1b[201~", b"\x1b[48;", b"\x1b]0;"),
    *(b";", b":", b"u", b"t", b"M", b"m", b"R", b"$y", b"0", b"9999999999", "²٣".encode()),
)


@each_row("seed", range(10))
def test_noise_is_read_to_its_end(seed: int) -> None:
    chance = random.Random(seed)
    reader = TerminalInput()
    for _ in range(200):
        for message in reader.feed(b"".join(chance.choices(PIECES, k=chance.randrange(20)))):
            assert message is not None
        list(reader.tick())
