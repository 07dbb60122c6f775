"""The timeline view: browse, compare and restore snapshots without waiting for git."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.commands import Command, Restore
from ralph_tui.events.workspace import FileChange
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.state import RunState
from ralph_tui.tui.draw.diff import LONGEST, MAX_LINES, rows_of
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.modals.changes import Changes
from ralph_tui.tui.modals.restore import Restore as RestoreDialog
from ralph_tui.tui.panes.facts import difference, facts
from ralph_tui.tui.panes.iterations import IterationsPane
from ralph_tui.tui.panes.timeline_points import points_of, to_restore, tree_at, tree_before
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.fake_files import DIFFS, FakeFiles
from tests.unit.adapters.search.journals import attempt, write
from tests.world.recorder import Recorder

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


@each_row(
    ("path", "expected"),
    [
        ("docs/icon.png", "binary"),
        ("tools/check", "new executable"),
        ("tests/test_old.py", "deleted file"),
    ],
)
def test_a_file_begins_with_its_name_and_what_became_of_it(path: str, expected: str) -> None:
    _, name, facts = rows_of(DIFFS[path])[0]
    assert name[0] == path
    assert expected in facts[0]


def test_a_change_of_the_mode_alone() -> None:
    text = "diff --git a/a b/x b/a b/x\nold mode 100644\nnew mode 100755\n"
    assert rows_of(text) == [
        [("── ", "accent"), ("a b/x", "strong"), ("  plain file → executable", "dim")]
    ]


def test_an_endless_diff_is_cut_and_says_so() -> None:
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n"
    rows = rows_of(head + "+x\n" * (MAX_LINES + 500))
    assert len(rows) <= MAX_LINES
    assert "cut here" in rows[-1][0][0]
    assert "504 more lines" in rows[-1][0][0]
    assert len(rows_of(head + "+" + "x" * 10_000_000)[2][0][0]) <= LONGEST


def test_secrets_are_not_shown_wherever_they_stand() -> None:
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n"
    key = ["-----BEGIN PRIVATE KEY-----", *["c2VjcmV0"] * 80, "-----END PRIVATE KEY-----"]
    lines = ["x"] * 30 + key + ["y"] * 300 + ["token = 'abcdefgh12345678'"]
    shown = "\n".join(row[0][0] for row in rows_of(head + "\n".join(f"+{i}" for i in lines)))
    assert "c2VjcmV0" not in shown
    assert "abcdefgh12345678" not in shown
    assert shown.count("+y") == 300


@each_row("lines", range(40, 60))
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


# which files belong to a snapshot -----------------------------------------------------------------


def test_points_and_their_trees() -> None:
    state = RunState().apply_all(story("rolled_back"))
    known = state.timeline.snapshots
    for point in points_of(state):
        target = to_restore(point, state)
        assert target is not None
        assert point.whole == (point.rollback is None and point.checkpoint is None)
        if point.rollback is not None:
            assert target.number == point.rollback.present
            assert tree_before(point, state) == known[point.rollback.present].tree
            assert tree_at(point, state) == point.rollback.tree
        elif point.checkpoint is not None:
            assert target.number == point.checkpoint.snapshot
        elif point.span.number == 2:
            start, end = point.span.checkpoints
            assert tree_before(point, state) == known[start.snapshot or 0].tree
            assert tree_at(point, state) == known[end.snapshot or 0].tree
    assert tree_before(points_of(state)[0], state) is None, "nothing is before the baseline"


# the screen --------------------------------------------------------------------------------------


def timeline(driver: Driver) -> IterationsPane:
    return driver.cockpit.body.timeline


def dialog(driver: Driver) -> Changes:
    assert isinstance(driver.app.screen, Changes)
    return driver.app.screen


def page(driver: Driver) -> str:
    return "\n".join("".join(text for text, _ in row) for row in dialog(driver).page.rows)


def test_changes_of_a_point_are_read_file_by_file() -> None:
    files = FakeFiles()

    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "enter")
        await driver.sees("all 4 files")
        await driver.until(lambda: "lexer.py" in page(driver) and "check" in page(driver))
        await driver.press("right")
        await driver.until(lambda: page(driver).startswith("── ralph_parser/lexer.py"))
        assert "tools/check" not in page(driver)
        await driver.sees("▸ ~ ralph_parser/lexer.py")
        for _ in range(9):
            await driver.press("right")
        await driver.until(lambda: page(driver).startswith("── tools/check  new executable"))
        assert all(len(row) <= 80 for row in driver.text())
        await driver.press("escape")
        assert driver.app.screen is driver.cockpit

    drive(live(story("steady"), files=files), look)
    assert files.asked[0][2] is None


def test_an_answer_for_a_file_that_is_not_selected_any_more_is_dropped() -> None:
    files = FakeFiles(takes_s=0.6)

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
        assert not any(text.startswith(("── docs", "── ralph")) for text in seen)

    drive(live(story("steady"), files=files), look)


def test_the_baseline_has_nothing_before_it() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "enter")
        await driver.sees("the run starts here")

    drive(live(story("steady"), files=FakeFiles()), look)


def test_a_long_line_moves_aside() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, Changes))
        await driver.press("right")
        await driver.until(lambda: page(driver).startswith("── ralph_parser"))
        await driver.press("end")
        assert "at=start)" not in "\n".join(driver.text())
        await driver.press(">", ">")
        await driver.sees("at=start)")
        await driver.press("<", "<")
        assert "at=start)" not in "\n".join(driver.text())

    drive(live(story("steady"), files=FakeFiles()), look)


def test_two_points_are_compared_the_earlier_one_first() -> None:
    files = FakeFiles()

    async def look(driver: Driver) -> None:
        await driver.press("3", "end", "v", "home")
        await driver.sees("the start 09:26 → ")
        await driver.press("enter")
        await driver.until(lambda: files.asked)
        snapshots = driver.cockpit.state.timeline.snapshots
        assert files.asked[0][0] == snapshots[1].tree
        await driver.press("escape", "escape")
        assert timeline(driver).marked is None
        await driver.sees("before iteration 1  09:26:00–09:26:14")

    drive(live(story("steady"), files=files), look)


def test_esc_closes_the_zoom_only_when_nothing_is_marked() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "z", "space", "escape")
        assert driver.cockpit.body.zoomed == "iterations"
        assert timeline(driver).marked is None
        await driver.press("escape")
        assert driver.cockpit.body.zoomed is None

    drive(live(story("steady")), look)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (None, "the files cannot be checked from here"),
        (FakeFiles(gone="/x does not hold it"), "/x does not"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence(files: FakeFiles | None, says: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "up", "enter")
        await driver.sees(says)

    drive(replay(story("steady"), files=files), look)


def test_a_restore_asks_first_and_says_what_it_would_change() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "r")
        await driver.sees("Restore snapshot 3 (iteration 1, 09:")
        await driver.sees("would change 4 files +7 −5 (1 deleted): docs/icon.png")
        await driver.press("n")
        assert driver.sent == []
        await driver.press("r")
        await driver.sees("would change 4 files")
        await driver.press("y")
        await driver.until(lambda: driver.sent == [Restore(snapshot=3)])

    drive(live(story("paused"), files=FakeFiles()), look)


def test_a_yes_counts_for_what_stood_there() -> None:
    class Growing(FakeFiles):
        def from_present(self, tree: str) -> tuple[FileChange, ...]:
            return super().from_present(tree)[: 2 + len(self.asked)]

    files = Growing()

    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "r")
        await driver.sees("would change 2 files")
        files.asked.append(("a file", "has come", None))
        await driver.press("y")
        await driver.sees("would change 3 files")
        await driver.sees("y restore; it would change more than was shown")
        assert driver.sent == []
        await driver.press("y")
        await driver.until(lambda: driver.sent == [Restore(snapshot=3)])

    drive(live(story("paused"), files=files), look)


def test_a_restore_that_cannot_be_told_does_not_say_that_nothing_changes() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "r")
        await driver.sees("cannot check what would change: /x has no index")
        await driver.sees("y restore anyway")
        await driver.press("escape", "a")
        await driver.sees("cannot check what would change: /x has no index")

    drive(live(story("paused"), files=FakeFiles(gone="/x has no index")), look)


def test_what_a_snapshot_lacks_is_said_before_it_is_restored() -> None:
    lacks = {"missing": ["film.mov", "core"], "missing_count": 9}
    events = [
        event.model_copy(update=lacks) if event.kind == "snapshot_taken" else event
        for event in story("paused")
    ]

    async def look(driver: Driver) -> None:
        text = "It lacks 9 paths, left unchanged: film.mov, core and 7 more"
        await driver.press("3", "home", "right", "r")
        await driver.sees(text)
        await driver.press("escape", "a")
        await driver.sees(text)

    drive(live(events, files=FakeFiles()), look)


def words(rows: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in row) for row in rows)


def test_a_point_tells_only_what_was_known_at_its_moment() -> None:
    state = RunState().apply_all(story("running"))
    now, (point,) = (
        story("running")[-1].at,
        [p for p in points_of(state) if p.checkpoint and p.checkpoint.trigger == "key"],
    )
    before = state.timeline.spans[point.span.number - 1]
    assert before.gate is not None
    text = words(facts(point, state, now, 100))
    assert "$" not in text
    assert "tok" not in text
    assert f"{before.gate.passed} of {before.gate.total} pass" in text
    assert f"{before.completion:.0f} % before it" in text
    whole = next(p for p in points_of(state) if p.span is before)
    assert before.finished is not None
    assert f"${before.finished.cost_usd:.2f}" in words(facts(whole, state, now, 100))


def test_a_checkpoint_tells_its_session_and_the_memory_of_the_agent() -> None:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    bare = ev.CheckpointCaptured(iteration=1, number=2, trigger="timer", snapshot=2, session_id="a")
    for more in ({"memory_bytes": 312 << 20, "duration_s": 1800.0}, {}):
        run.add(bare.model_copy(update=more))
    state = RunState().apply_all(run.events)
    *_, first, second = [point for point in points_of(state) if point.checkpoint]
    rows = [facts(point, state, run.at, 80) for point in (first, second)]
    reported = [text for some in rows for row in some for text, _ in row if "session" in text]
    assert reported == ["30m into the session · agent peak 312 MB", "0s into the session"]


def test_what_lies_between_two_points_is_what_was_spent_between_them() -> None:
    state = RunState().apply_all(story("steady"))
    now = story("steady")[-1].at
    points = {p.span.number: p for p in points_of(state) if p.whole}
    cost = {s.number: s.finished.cost_usd for s in state.timeline.spans if s.finished is not None}

    def difference_text(first: int, second: int) -> str:
        return words(difference(points[first], points[second], state, now, 100))

    assert f"${cost[2]:.2f}" in difference_text(1, 2)
    assert f"${(cost[2] or 0) + (cost[3] or 0):.2f}" in difference_text(1, 3)


def test_an_iteration_comes_after_a_checkpoint_of_its_midst_when_they_are_compared() -> None:
    events = story("running")
    key = next(e for e in events if isinstance(e, ev.CheckpointCaptured) and e.trigger == "key")

    async def look(driver: Driver) -> None:
        await driver.press("3", "v", "end")
        ends = timeline(driver).ends
        assert ends is not None
        assert [point.name for point in ends] == [
            f"iteration 7, snapshot {key.snapshot}",
            "iteration 7",
        ]

    drive(live(events), look)


def test_files_changed_since_are_not_told_as_the_iterations_work() -> None:
    events = story("rolled_back")
    state = RunState().apply_all(events)
    span = next(s for s in reversed(state.timeline.spans) if s.finished and s.files)
    point = next(s for s in points_of(state) if s.span is span and s.whole)
    assert span.files is not None
    path = span.files.changes[0].path.rsplit("/", 1)[-1]
    assert path in words(facts(point, state, events[-1].at, 100))
    later = state.seq + 1
    span.files = span.files.model_copy(update={"seq": later, "live": True})
    assert path not in words(facts(point, state, events[-1].at, 100))


def test_a_restore_is_undone_by_the_same_key() -> None:
    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        back = ev.WorktreeRestored(
            iteration=2, snapshot=2, present=4, tree=state.timeline.snapshots[2].tree, files=3
        )
        driver.inbox.append(back.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.sees("restored snapshot 2: 3 files; r on ↶ undoes it")
        assert " % ↶" in driver.text()[1], "it was measured with other files"
        await driver.press("3", "r")
        await driver.sees("Undo the restore at 09:")
        await driver.sees("would change")
        await driver.press("y")
        await driver.until(lambda: driver.sent == [Restore(snapshot=4)])

    drive(live(story("paused"), files=FakeFiles()), look)


def test_a_restore_that_changed_nothing_offers_no_undo() -> None:
    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        back = ev.WorktreeRestored(iteration=2, snapshot=2, present=4, tree="0" * 40, files=0)
        driver.inbox.append(back.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.sees("restored snapshot 2: 0 files")
        assert driver.cockpit.footer.notice == "restored snapshot 2: 0 files"

    drive(live(story("paused"), files=FakeFiles()), look)


@pytest.mark.parametrize("moved", [False, True])
def test_after_a_rollback_the_next_iteration_is_told_about_again(moved: bool) -> None:  # noqa: FBT001
    """Unless the user has selected a snapshot meanwhile."""

    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        back = ev.WorktreeRestored(
            iteration=2, snapshot=2, present=4, tree=state.timeline.snapshots[2].tree, files=3
        )
        driver.inbox.append(back.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.until(lambda: timeline(driver).chosen is not None)
        await driver.press("3", *["left"] * moved)
        chosen = timeline(driver).chosen
        begun = ev.IterationStarted(iteration=3, max_iterations=10)
        driver.inbox.append(begun.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.until(lambda: driver.cockpit.state.run.iteration == 3)
        assert timeline(driver).chosen == (chosen if moved else None)
        here = timeline(driver).points[timeline(driver).current].place
        assert here == ("iteration 2" if moved else "iteration 3")

    drive(live(story("paused"), files=FakeFiles()), look)


def test_an_old_rollback_is_no_news() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3")
        assert timeline(driver).chosen is None

    drive(live(story("rolled_back")), look)


@pytest.mark.parametrize(
    ("expected", "keys", "says"),
    [
        ("running", ("r",), "r restore: the files are in use; press p to pause first"),
        ("steady", ("3", "home", "r"), " in the run's own repository"),
    ],
)
def test_a_restore_that_cannot_be_says_why(expected: str, keys: tuple[str, ...], says: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press(*keys)
        assert says in driver.cockpit.footer.notice

    driver = drive(live(story(expected), files=FakeFiles()), look)
    assert driver.sent == []


def test_a_replay_of_a_run_that_lies_elsewhere_names_the_command() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3", *["up"] * 30, "r")
        notice = driver.cockpit.footer.notice
        command = "ralph-tui restore 1 --run task-001/001"
        assert notice == f"r restore: use {command} in the run's own repository"
        assert "r restore ·" not in "\n".join(driver.text()[:-1])

    drive(replay(story("steady"), files=FakeFiles()), look)


def test_a_replay_ends_with_the_command_that_restores(tmp_path: Path) -> None:
    driver = replay(story("steady"), files=FakeFiles())
    driver.source.record = RunRecord(write(attempt(tmp_path), story("steady")))

    async def look(driver: Driver) -> None:
        await driver.press("r")
        await driver.sees("ralph-tui restore 13 --run task-001/001")  # the best: its last one
        await driver.press("escape", "3", *["up"] * 30)
        await driver.sees("r restores it")
        await driver.press("r")
        await driver.sees("ralph-tui restore 1 --run task-001/001")
        await driver.press("escape")
        assert driver.app.next_command is None
        await driver.press("r", "y")
        await driver.until(lambda: driver.app.next_command is not None)

    drive(driver, look)
    assert driver.sent == []
    assert driver.app.next_command == (("restore", "1", "--run", "task-001/001"), tmp_path)


def test_a_run_that_is_over_names_the_command_that_restores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *rest = story("steady")
    events = [first.model_copy(update={"root": str(tmp_path)}), *rest]
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")

    async def look(driver: Driver) -> None:
        await driver.press("3", "home", "right", "r")
        assert driver.cockpit.footer.notice == (
            "r restore: use ralph-tui restore 3 --run task-001/001 in the run's own repository"
        )
        assert timeline(driver).subtitle(80)[-1][0] == " mark"
        back = ev.WorktreeRestored(iteration=6, snapshot=3, present=9, tree="0" * 40, files=1)
        state = driver.cockpit.state
        driver.inbox.append(back.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.sees(
            "restored snapshot 3: 1 file; ralph-tui restore 9 --run task-001/001 undoes it"
        )

    assert drive(live(events, files=FakeFiles()), look).sent == []


def test_a_restore_is_offered_only_while_it_can_be_done() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3")
        offered = ("r", "key") in timeline(driver).subtitle(80)
        assert offered == driver.cockpit.state.run.paused

    drive(live(story("paused"), files=FakeFiles()), look)
    drive(live(story("running"), files=FakeFiles()), look)


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

    drive(live(story("running"), files=FakeFiles()), look)


def test_a_selected_point_stays_while_others_come_before_it() -> None:
    async def look(driver: Driver) -> None:
        pane, state = timeline(driver), driver.cockpit.state
        taken = ev.CheckpointCaptured(iteration=6, number=9, trigger="key")
        await driver.press("3", "end")
        chosen, before = pane.points[pane.current], pane.current
        assert chosen.checkpoint is not None
        pane.state.timeline.spans[-2].checkpoints.append(
            chosen.checkpoint._replace(seq=1, number=9)
        )
        driver.inbox.append(taken.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.until(lambda: pane.current == before + 1)
        assert pane.points[pane.current].key == chosen.key

    drive(live(story("running")), look)


def test_where_nothing_is_selected_the_key_asks_about_the_best_point() -> None:
    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        best = state.best_span
        assert best is not None
        assert best.number < state.run.iteration
        await driver.sees("REDIRECT")
        await driver.press("escape", "r")
        await driver.sees(f"iteration {best.number}, ")
        assert isinstance(driver.app.screen, RestoreDialog)
        await driver.press("escape")
        pane = driver.cockpit.body.timeline
        assert pane.points[pane.current].span.number == best.number

    drive(live(story("redirect"), files=FakeFiles()), look)
