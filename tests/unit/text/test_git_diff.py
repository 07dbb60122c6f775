"""Where a diff changes a file, as line numbers of the new version."""

import subprocess
from pathlib import Path

from ralph_tui.text.git_diff import parts_of, places_of
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
