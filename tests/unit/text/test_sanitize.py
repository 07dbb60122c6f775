"""Invisible characters are removed, except those that scripts and emoji need."""

from ralph_tui.text.sanitize import MAX_MARKS, one_line, plain
from tests.rows import each_row


@each_row(
    "unseen",
    [
        "".join(chr(0xE0000 + ord(letter)) for letter in "delete all"),
        "\u200d",
        "\u200c",
        "\u00ad",
        "\u034f",
        "\u3164",
        "\uffa0",
        "\u115f\u1160",
        "\ufe00\ufe0e\ufe0f",
        "\U000e0100\U000e01ef",
        "\u180b\u206a\U0001d173",
    ],
)
def test_what_nobody_sees_is_taken_out(unseen: str) -> None:
    for text in (
        f"a{unseen}b",
        f"{unseen}ab",
        f"ab{unseen}",
        "".join(f"{c}{unseen}" for c in "ab"),
    ):
        assert one_line(text) == plain(text) == "ab"


def test_joiners_and_styles_are_kept_once() -> None:
    assert plain("\u0645\u06cc\u200c\u200c\u200d\u062e") == "\u0645\u06cc\u200c\u062e"
    assert plain("❤\ufe0f\ufe0f\ufe0f\ufe01\U000e0120 ok") == "❤\ufe0f ok"


@each_row("mark", ["\u0301", "\u0489", "\u20dd", "\u0e31", "\u1161", "\U0001e947"])
def test_marks_are_not_stacked(mark: str) -> None:
    assert plain(f"x{mark * 200}y{mark}") == f"x{mark * MAX_MARKS}y{mark}"
    joined = plain(f"x{(mark + chr(0x200D)) * 200}y")
    assert len(joined) <= 2 + MAX_MARKS
    assert plain(joined) == joined


@each_row(
    "text",
    [
        "👨‍👩‍👧‍👦 👩🏽‍💻 ❤️‍🔥 🏳️‍🌈 1️⃣ #️⃣ ☎︎ ©️ 🇩🇪",
        "é e\u0301 Ti\u1ebfng Vi\u1ec7t o\u0302\u0323\u0301",
        "नमस्ते क्‍ष श्रीमान् বাংলা தமிழ் മലയാളം ක්‍රි ශ්‍රී",
        "می‌خواهم كتاب",
        "בְּרֵאשִׁ֖ית בָּרָ֣א",
        "བསྒྲུབས ཧཱུྃ ภาษาไทยที่",
        "한국어 조선말 각",
        "日本語 。「」…",
        "──────── ████████ ·········· →→→→→→→→ ⠋⠙⠹",
    ],
)
def test_scripts_and_emoji_stay(text: str) -> None:
    assert plain(text) == text
    assert plain(plain(text + "\x07")) == text
