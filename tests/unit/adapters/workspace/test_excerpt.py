"""A diff excerpt for reading: bounded, a share for each file, no secrets."""

import os
from pathlib import Path

from ralph_tui.adapters.workspace import excerpt
from tests.unit.adapters.workspace.test_snapshots import ODD_NAMES
from tests.workspaces import workspace_of

LIMIT = 20_000


def between(root: Path, before: dict[str, bytes], after: dict[str, bytes | None]) -> str:
    """The excerpt of these changes."""
    workspace = workspace_of(root)
    for name, content in before.items():
        (root / name).write_bytes(content)
    first = workspace.snapshot(1, "before").tree
    for name, changed in after.items():
        (root / name).unlink(missing_ok=True)
        if changed is not None:
            (root / name).write_bytes(changed)
    second = workspace.snapshot(2, "after").tree
    return workspace.excerpt(first, second, LIMIT)


def test_a_small_change_is_shown_whole(git_repo: Path) -> None:
    text = between(git_repo, {"a.txt": b"one\n"}, {"a.txt": b"two\n", "b.txt": b"new\n"})
    assert "-one\n+two\n" in text
    assert "+new\n" in text
    assert "not shown" not in text


def test_a_large_file_does_not_push_out_the_others(git_repo: Path) -> None:
    long = b"".join(b"line %d of it\n" % number for number in range(4000))
    text = between(git_repo, {}, {"a-long.txt": long, "z.txt": b"short\n"})
    assert len(text) <= LIMIT
    assert "+short\n" in text
    assert "+line 0 of it\n" in text
    assert "more lines of this file not shown)" in text
    assert len(text) > LIMIT / 2


def test_what_is_no_text_or_too_much_of_it_is_counted(git_repo: Path) -> None:
    huge = b"x\n" * (excerpt.MAX_LINES + 1)
    text = between(git_repo, {}, {"huge.txt": huge, "one-line.js": b"y" * 3_000_000})
    assert "yyyy" not in text
    assert "1 changed file not shown" in text
    assert len(text) < 1000
    many = {f"f{n:03}.txt": b"%d\n" % n for n in range(excerpt.MAX_FILES + 20)}
    text = between(git_repo, {}, {**many})
    assert "(20 changed files not shown: too large, binary, or too many)" in text


def test_a_secret_is_taken_out_also_where_a_file_is_cut(git_repo: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    lines = f"token = {secret}\n".encode() * 2000
    text = between(git_repo, {}, {"config.ini": lines})
    assert "a1B2c3D4e5" not in text
    assert len(text) <= LIMIT


def test_any_name_is_found(git_repo: Path) -> None:
    names = ODD_NAMES[:9]
    text = between(git_repo, {}, {os.fsdecode(name): b"inside\n" for name in names})
    assert text.count("+inside\n") == len(names)


def test_nothing_is_the_diff_of_a_tree_with_itself(git_repo: Path) -> None:
    assert between(git_repo, {}, {}) == ""


def test_a_share_that_a_short_text_leaves_goes_to_the_longer_ones() -> None:
    texts = ["a\n" * 500, "b\n", "c\n" * 500]
    kept = excerpt.share_limit(texts, 1000)
    assert kept[1] == "b\n"
    assert sum(map(len, kept)) <= 1000
    assert min(len(kept[0]), len(kept[2])) > 400
