"""The run as a timeline: points are looked at, compared, restored; git is never waited for."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.cli.looking import RecordedFiles
from ralph_tui.commands import Command, Restore
from ralph_tui.errors import RalphError
from ralph_tui.events import AlarmRaised, CheckpointCaptured, Event, WorktreeRestored
from ralph_tui.state import RunState
from ralph_tui.tui.diff import LONGEST, MOST_LINES, rows_of
from ralph_tui.tui.modals.changes import Changes
from ralph_tui.tui.panes.stops import stops_of, to_restore, tree_at, tree_before
from ralph_tui.tui.panes.timeline import Timeline
from ralph_tui.workspace.repository import open_repository
from ralph_tui.workspace.snapshots import GitWorkspace
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.held import CHANGES, DIFFS, Held

# the diff as rows --------------------------------------------------------------------------------


def test_signs_tell_what_colours_tell() -> None:
    rows = [row[0] for row in rows_of(DIFFS["ralph_parser/lexer.py"])[1:]]
    assert {text[0] for text, style in rows if style == "good"} == {"+"}
    assert {text[0] for text, style in rows if style == "bad"} == {"-"}
    assert {text[:2] for text, style in rows if style == "accent"} == {"@@"}
    assert sum(style == "good" for _, style in rows) == 5
    assert sum(style == "bad" for _, style in rows) == 2


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line() -> None:
    rows = rows_of(DIFFS["tests/test_old.py"])
    assert ("--- [red]not a header[/red]", "bad") in [row[0] for row in rows]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("docs/icon.png", "binary"),
        ("tools/check", "new executable"),
        ("tests/test_old.py", "deleted file"),
    ],
)
def test_a_file_begins_with_its_name_and_what_became_of_it(path: str, told: str) -> None:
    _, name, facts = rows_of(DIFFS[path])[0]
    assert name[0] == path
    assert told in facts[0]


def test_a_change_of_the_mode_alone() -> None:
    text = "diff --git a/a b/x b/a b/x\nold mode 100644\nnew mode 100755\n"
    assert rows_of(text) == [
        [("■ ", "accent"), ("a b/x", "strong"), ("  plain file → executable", "dim")]
    ]


def test_an_endless_diff_is_cut_and_says_so() -> None:
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n"
    rows = rows_of(head + "+x\n" * (MOST_LINES + 500))
    assert len(rows) <= MOST_LINES
    assert "cut here" in rows[-1][0][0]
    assert "504 lines" in rows[-1][0][0]
    assert len(rows_of(head + "+" + "x" * 10_000_000)[2][0][0]) <= LONGEST


def test_secrets_are_not_shown_wherever_they_stand() -> None:
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n"
    key = ["-----BEGIN PRIVATE KEY-----", *["c2VjcmV0"] * 80, "-----END PRIVATE KEY-----"]
    lines = ["x"] * 30 + key + ["y"] * 300 + ["token = 'abcdefgh12345678'"]
    shown = "\n".join(row[0][0] for row in rows_of(head + "\n".join(f"+{i}" for i in lines)))
    assert "c2VjcmV0" not in shown
    assert "abcdefgh12345678" not in shown
    assert shown.count("+y") == 300


@pytest.mark.parametrize("lines", range(40, 60))
def test_no_row_is_lost_or_added_between_the_pieces(lines: int) -> None:
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n"
    assert len(rows_of(head + "+x\n" * lines)) == lines + 2


@given(st.lists(st.sampled_from(["+", "-", " "]).flatmap(
    lambda sign: st.text(st.characters(exclude_characters="\n\r"), max_size=30).map(sign.__add__)
), max_size=30))  # fmt: skip
def test_every_line_of_a_hunk_has_its_row(lines: list[str]) -> None:
    text = "\n".join(["diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1 +1 @@", *lines, ""])
    rows = rows_of(text)
    styles = {"+": "good", "-": "bad", " ": "text"}
    assert [row[0][1] for row in rows[2:]] == [styles[line[0]] for line in lines]
    assert not any("\x1b" in part for row in rows for part, _ in row)


# which files a point stands for ------------------------------------------------------------------


def test_points_and_their_trees() -> None:
    state = RunState().apply_all(story("rolled_back"))
    known = state.timeline.snapshots
    for stop in stops_of(state):
        target = to_restore(stop, state)
        assert target is not None
        if stop.rollback is not None:
            assert target.number == stop.rollback.present
            assert tree_before(stop, state) == known[stop.rollback.present].tree
            assert tree_at(stop, state) == stop.rollback.tree
        elif stop.checkpoint is not None:
            assert target.number == stop.checkpoint.snapshot
        elif stop.label and stop.span.number == 2:
            start, end = stop.span.checkpoints
            assert tree_before(stop, state) == known[start.snapshot or 0].tree
            assert tree_at(stop, state) == known[end.snapshot or 0].tree
    assert tree_before(stops_of(state)[0], state) is None, "nothing is before the baseline"


# the screen --------------------------------------------------------------------------------------


def timeline(driver: Driver) -> Timeline:
    return driver.cockpit.timeline


def dialog(driver: Driver) -> Changes:
    assert isinstance(driver.app.screen, Changes)
    return driver.app.screen


def page(driver: Driver) -> str:
    return "\n".join("".join(text for text, _ in row) for row in dialog(driver).page.rows)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
def test_changes_of_a_point_are_read_file_by_file(size: tuple[int, int]) -> None:
    files = Held()

    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "enter")
        await driver.sees("all 4 files")
        await driver.until(lambda: "lexer.py" in page(driver) and "check" in page(driver))
        await driver.press("right")
        await driver.until(lambda: page(driver).startswith("■ ralph_parser/lexer.py"))
        assert "tools/check" not in page(driver)
        await driver.sees("▸ ~ ralph_parser/lexer.py")
        for _ in range(9):
            await driver.press("right")
        await driver.until(lambda: page(driver).startswith("■ tools/check  new executable"))
        assert all(len(row) <= size[0] for row in driver.text())
        await driver.press("escape")
        assert driver.app.screen is driver.cockpit

    drive(live(story("steady"), files=files), look, size)
    assert files.asked[0][2] is None


def test_an_answer_for_a_file_that_is_not_selected_any_more_is_dropped() -> None:
    files = Held(takes_s=0.15)

    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "enter")
        await driver.until(lambda: files.asked)
        await driver.press("right")
        await driver.until(lambda: len(files.asked) == 2)
        await driver.press("left", "right", "right")
        seen = set()

        def arrived() -> bool:
            seen.add(page(driver).split("\n")[0])
            return files.asked[-1][2] == "tests/test_old.py" and "deleted" in page(driver)

        await driver.until(arrived)
        assert not any(text.startswith(("■ docs", "■ ralph")) for text in seen)

    drive(live(story("steady"), files=files), look)


def test_the_baseline_has_nothing_before_it() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "enter")
        await driver.sees("the run begins here")

    drive(live(story("steady"), files=Held()), look)


def test_a_long_line_moves_aside() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, Changes))
        await driver.press("right")
        await driver.until(lambda: page(driver).startswith("■ ralph_parser"))
        await driver.press("end")
        assert "at=start)" not in "\n".join(driver.text())
        await driver.press(">", ">")
        await driver.sees("at=start)")
        await driver.press("<", "<")
        assert "at=start)" not in "\n".join(driver.text())

    drive(live(story("steady"), files=Held()), look)


def test_two_points_are_compared_the_earlier_one_first() -> None:
    files = Held()

    async def look(driver: Driver) -> None:
        await driver.press("3", "end", "v", "home")
        await driver.sees("the baseline 09:26 → ")
        await driver.press("enter")
        await driver.until(lambda: files.asked)
        snapshots = driver.cockpit.state.timeline.snapshots
        assert files.asked[0][0] == snapshots[1].tree
        await driver.press("escape", "escape")
        assert timeline(driver).marked is None
        await driver.sees("baseline  09:26–09:26")

    drive(live(story("steady"), files=files), look)


def test_esc_closes_the_zoom_only_when_nothing_is_marked() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "z", "space", "escape")
        assert driver.cockpit.zoomed == "timeline"
        assert timeline(driver).marked is None
        await driver.press("escape")
        assert driver.cockpit.zoomed is None

    drive(live(story("steady")), look)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (None, "the files cannot be looked at from here"),
        (Held(gone="/x does not hold it"), "/x does not"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence(files: Held | None, says: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "enter")
        await driver.sees(says)

    drive(replay(story("steady"), files=files), look)


def test_a_restore_asks_first_and_says_what_it_would_change() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "r")
        await driver.sees("Restore snapshot 3: iteration 1, 09:")
        await driver.sees("would change 4 files +7 −5: docs/icon.png")
        await driver.press("n")
        assert driver.sent == []
        await driver.press("r")
        await driver.sees("would change 4 files")
        await driver.press("y")
        assert driver.sent == [Restore(snapshot=3)]

    drive(live(story("paused"), files=Held()), look)


def test_a_restore_is_undone_by_the_same_key() -> None:
    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        back = WorktreeRestored(
            iteration=2, snapshot=2, present=4, tree=state.timeline.snapshots[2].tree, files=3
        )
        driver.inbox.append(back.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.sees("restored snapshot 2: 3 files; r on ↶ undoes it")
        await driver.press("3", "r")
        await driver.sees("Undo the rollback of 09:")
        await driver.sees("would change")
        await driver.press("y")
        assert driver.sent == [Restore(snapshot=4)]

    drive(live(story("paused"), files=Held()), look)


def test_an_old_rollback_is_no_news() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3")
        assert timeline(driver).chosen is None

    drive(live(story("rolled_back")), look)


@pytest.mark.parametrize(
    ("told", "keys", "says"),
    [
        ("running", ("r",), "r restore: the files are in use; pause first: p"),
        ("paused", ("r",), "select a point with"),
        ("steady", ("3", "home", "r"), "r restore: the run is over"),
    ],
)
def test_a_restore_that_cannot_be_says_why(told: str, keys: tuple[str, ...], says: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press(*keys)
        assert says in driver.cockpit.footer.notice

    driver = drive(live(story(told), files=Held()), look)
    assert driver.sent == []


def test_a_replay_restores_nothing() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "r")
        assert driver.cockpit.footer.notice == "r restore: only in a live run"

    drive(replay(story("steady"), files=Held()), look)


def test_a_refused_restore_says_why() -> None:
    async def look(driver: Driver) -> None:
        wish: Command = Restore(snapshot=1)
        driver.cockpit.source.refused.append((wish, "the files are in use: pause the run"))
        await driver.until(lambda: "in use" in driver.cockpit.footer.notice)

    drive(live(story("running")), look)


def test_giving_up_says_what_rolling_back_would_change() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("a")
        await driver.sees("would change 4 files +7 −5")

    drive(live(story("running"), files=Held()), look)


def test_a_selected_point_stays_while_others_come_before_it() -> None:
    async def look(driver: Driver) -> None:
        pane, state = timeline(driver), driver.cockpit.state
        more: list[Event] = [
            AlarmRaised(iteration=7, alarm="STUCK", severity="warning", reason="x"),
            CheckpointCaptured(iteration=7, number=4, trigger="key"),
        ]
        alarm, checkpoint = (
            event.model_copy(update={"seq": state.seq + 1 + index, "at": state.at})
            for index, event in enumerate(more)
        )
        driver.inbox.append(alarm)
        await driver.until(lambda: state.seq == alarm.seq)
        await driver.press("3", "end")
        chosen, before = pane.stops[pane.current], pane.current
        assert chosen.alarm == "STUCK"
        driver.inbox.append(checkpoint)
        await driver.until(lambda: pane.current == before + 1)
        assert pane.stops[pane.current].key == chosen.key

    drive(live(story("running")), look)


# the real thing ----------------------------------------------------------------------------------


@pytest.fixture
def recorded(git_repo: Path) -> tuple[Path, tuple[str, str]]:
    """An attempt's folder in a repository, and the trees of two snapshots."""
    workspace = GitWorkspace(open_repository(git_repo), "5a4f0d51-4a54-4fbb-9f0e-3f4f7d5a1f11")
    first = workspace.snapshot(1, "one").tree
    (git_repo / "README.md").unlink()
    (git_repo / "tool").write_text("#!/bin/sh\n")
    (git_repo / "tool").chmod(0o755)
    (git_repo / "link").symlink_to("tool")
    (git_repo / "ünï code.bin").write_bytes(b"\0\1\2")
    second = workspace.snapshot(2, "two").tree
    attempt = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    return attempt, (first, second)


def test_recorded_files_tell_changes_and_diffs(recorded: tuple[Path, tuple[str, str]]) -> None:
    attempt, trees = recorded
    files = RecordedFiles(attempt)
    changes = {change.path: change.status for change in files.changes(*trees)}
    assert changes == {
        "README.md": "deleted", "tool": "added", "link": "added", "ünï code.bin": "added",
    }  # fmt: skip
    heads = {path: rows_of(files.diff(*trees, path))[0] for path in changes}
    assert "deleted file" in heads["README.md"][2][0]
    assert "new executable" in heads["tool"][2][0]
    assert "new symbolic link" in heads["link"][2][0]
    assert "binary" in heads["ünï code.bin"][2][0]
    assert len(files.diff(*trees).split("diff --git")) == 5
    assert files.changes(trees[0], trees[0]) == ()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def cloned_anew(root: Path) -> None:
    """The records are there, and a repository, but no snapshot in it."""
    shutil.rmtree(root / ".git")
    git(root, "init", "-q")


def refs_deleted(root: Path) -> None:
    for number in ("001", "002"):
        git(root, "update-ref", "-d", f"refs/ralph/5a4f0d51-4a54-4fbb-9f0e-3f4f7d5a1f11/{number}")
    shutil.rmtree(root / ".git/ralph-tui")
    git(root, "prune", "--expire=now")


def unpacked_elsewhere(root: Path) -> None:
    shutil.rmtree(root / ".git")


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        (cloned_anew, "does not hold the snapshots"),
        (refs_deleted, "does not hold the snapshots"),
        (unpacked_elsewhere, "not inside a git repository"),
        (shutil.rmtree, "gone"),
    ],
)
@pytest.mark.parametrize("late", [False, True], ids=["before", "while open"])
def test_what_is_gone_is_told(
    recorded: tuple[Path, tuple[str, str]],
    git_repo: Path,
    happens: object,
    says: str,
    *,
    late: bool,
) -> None:
    attempt, trees = recorded
    files = RecordedFiles(attempt)
    if late:
        assert files.changes(*trees)
    assert callable(happens)
    happens(git_repo)
    with pytest.raises(RalphError, match=says):
        files.changes(*trees)
    with pytest.raises(RalphError, match=says):
        files.diff(*trees)


def test_private_folder_that_is_gone_is_made_again(
    recorded: tuple[Path, tuple[str, str]], git_repo: Path
) -> None:
    attempt, trees = recorded
    shutil.rmtree(git_repo / ".git/ralph-tui")
    assert len(RecordedFiles(attempt).changes(*trees)) == len(CHANGES)
