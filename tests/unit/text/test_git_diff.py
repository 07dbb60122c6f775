"""Where a diff changes a file, as line numbers of the new version."""

import subprocess
from pathlib import Path

from ralph_tui.text.git_diff import last_changed_line, last_of_diff, parts_of, places_of
from tests.rows import each_row

OLD = [f"line {n}" for n in range(1, 401)]


def diff(tmp_path: Path, old: list[str], new: list[str]) -> str:
    """A diff as git writes it."""
    for name, lines in (("a", old), ("b", new)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", "a", "b"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return parts_of(done.stdout)[0][1]


def changed(*numbers: int) -> list[str]:
    return [f"{line}!" if n in numbers else line for n, line in enumerate(OLD, 1)]


@each_row(
    ("new", "places"),
    [
        (changed(45), "45"),
        (changed(*range(45, 121)), "45-120"),
        (changed(45, 47, 130), "45-47, 130"),
        (changed(1, 100, 200, 210, 400), "1-100, 200-210, 400"),
        ([*OLD[:50], "a", "b", *OLD[50:]], "51-52"),
        (OLD[:50] + OLD[60:], "51"),
        (OLD[10:], "1"),
        (["--- a", "+++ b", *OLD], "1-2"),
    ],
)
def test_places_are_those_of_the_new_file(tmp_path: Path, new: list[str], places: str) -> None:
    assert places_of(diff(tmp_path, OLD, new)) == places


def test_a_new_file_is_changed_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    assert places_of(diff(tmp_path, [], OLD)) == "1-400"


def test_a_binary_file_has_no_lines() -> None:
    assert places_of("diff --git a/x b/x\nBinary files a/x and b/x differ\n") == ""


@each_row(
    ("new", "line"),
    [
        (changed(45), 45),
        (changed(45, 130), 130),
        ([*OLD[:50], "a", "b", *OLD[50:]], 52),
        (OLD[:50] + OLD[60:], 51),
    ],
)
def test_the_last_change_of_a_diff_has_a_line(tmp_path: Path, new: list[str], line: int) -> None:
    assert last_of_diff(diff(tmp_path, OLD, new)) == line


@each_row(
    ("result", "line"),
    [
        ({"structuredPatch": [{"newStart": 1, "lines": ["+a"]},
                              {"newStart": 88, "lines": [" a", "-b", "+c", "+d", " e"]}]}, 90),
        ({"structuredPatch": [], "content": "a\nb\n"}, 2),
        ({"structuredPatch": [{"lines": ["+a"]}]}, None),
        ({"content": "a\nb\n"}, None),
        (None, None),
    ],
)  # fmt: skip
def test_an_edits_own_result_has_the_line_of_its_last_change(
    result: object, line: int | None
) -> None:
    assert last_changed_line(result) == line
