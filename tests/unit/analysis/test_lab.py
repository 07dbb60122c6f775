"""The lab command: its JSON, its table, and its errors for bad input."""

import argparse
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.analysis.lab import recompute
from ralph_tui.base.errors import JournalError, UsageError
from ralph_tui.cli.commands import lab
from ralph_tui.commands import Answer
from ralph_tui.config.settings import Settings
from ralph_tui.events import QuestionAsked, RedirectDecided, SignalComputed
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.layers.settings import ControlSettings
from tests.examples import FEWER
from tests.rows import each_row
from tests.world import FakeSession, World

FIELDS = [
    "iteration",
    "completion",
    "proportional",
    "integral",
    "integral_mean",
    "derivative",
    "velocity",
    "volatility",
    "profile",
    "kp",
    "ki",
    "kd",
    "output",
    "band",
    "alarms",
    "detections",
    "intervention",
]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the tests from the developer's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def call(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_arguments(parser)
    return lab.run(parser.parse_args(arguments))


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert call(*arguments, "--json") == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_json_is_a_list_with_one_object_per_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "--progress", "30,30,31,30,31,30")
    assert [list(row) for row in found] == [FIELDS] * 6
    assert found[3]["alarms"] == ["STUCK"]
    assert found[3]["detections"] == ["stuck"]
    assert [row["intervention"] for row in found] == [None] * 3 + ["REDIRECT", None, "PAUSE"]
    assert found[2]["profile"] == "focused"
    assert found[0]["completion"] == 0.3


def test_values_after_100_and_beyond_the_budget_are_computed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = rows(capsys, "--progress", "50,100,40,40,40", "--max-iterations", "3")
    assert [row["iteration"] for row in found] == [1, 2, 3, 4, 5]
    assert found[1]["intervention"] is None
    assert found[4]["alarms"] == ["REGRESSING", "BUDGET_EXCEEDED"]


def test_options_reach_the_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    swings = "--progress=40,50,40,50,40"
    assert rows(capsys, swings)[-1]["alarms"] == ["OSCILLATING"]
    assert rows(capsys, swings, "--tests", "10")[-1]["alarms"] == []
    assert rows(capsys, "--progress", "50", "--baseline", "50")[0]["derivative"] == 0
    flat = "--progress=50,50,50,50"
    assert rows(capsys, flat, "--set", "control.patience=2")[-1]["alarms"] == []
    assert rows(capsys, flat, "--set", "oversight.enabled=false")[-1]["intervention"] is None
    off = rows(capsys, flat, "--set", "control.enabled=false")[-1]
    assert (off["alarms"], off["kp"], off["intervention"]) == ([], 0.5, "REDIRECT")
    assert rows(capsys, flat, "--set", "control.decay=0.5")[1]["integral"] == 0.75


def test_the_repositorys_settings_hold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".ralph-tui.toml").write_text("[control]\npatience = 2\n")
    assert rows(capsys, "--progress=50,50,50,50")[-1]["alarms"] == []


def test_the_table_is_narrow_and_ends_with_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--progress", "30,30,31,30,31,30,10,60,20,60,20,60,20") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[4].endswith("REDIRECT stuck")
    assert len(lines[4]) <= 80
    said = " ".join(lines[-2:])
    assert said.startswith("Best 60 % at iteration 8, not complete after 13 of 10 iterations")
    assert "REDIRECT at 4, PAUSE at 6" in said


@pytest.mark.parametrize(
    ("progress", "verdict"),
    [
        (
            "10,20,30,40,50,60,70,80,90,100",
            "Complete at iteration 10 of 10; the overseer does not intervene.",
        ),
        (
            "0,0,0,0,0,0,0,0,0,0",
            "Best 0 % at the start, not complete after 10 of 10 iterations; the overseer "
            "intervenes: REDIRECT at 3, PAUSE at 5, PAUSE at 9, ABORT at 10.",
        ),
    ],
)
def test_the_verdict(capsys: pytest.CaptureFixture[str], progress: str, verdict: str) -> None:
    call("--progress", progress)
    table, _, said = capsys.readouterr().out.partition("\n\n")
    assert len(table.splitlines()) == 11
    assert " ".join(said.split()) == verdict


@each_row(
    ("arguments", "named"),
    [
        ([], "--progress"),
        (["--progress", ""], "--progress"),
        (["--progress", "1,,2"], "nothing"),
        (["--progress", "1,two"], "two"),
        (["--progress", "nan"], "nan"),
        (["--progress", "inf"], "inf"),
        (["--progress", "100.1"], "100.1"),
        (["--progress=-1"], "-1"),
        (["--progress", "1\x1b[31m"], "1"),
        (["--progress", "1", "--baseline", "101"], "--baseline"),
        (["--progress", "1", "--max-iterations", "0"], "--max-iterations"),
        (["--progress", "1", "--max-iterations", "1.5"], "--max-iterations"),
        (["--progress", "1", "--tests", "-1"], "--tests"),
        (["--progress", "1", "--tests", "9" * 5000], "--tests"),
        (["--progress", "1", "--set", "control.nothing=1"], "control.nothing"),
        (["--progress", "1", "--set", "control.decay"], "control.decay"),
        (["--progress", "1", "--set", "control.decay=2"], "control.decay"),
        (["--progress", "1", "--set", "control.window_size=0"], "control.window_size"),
        (["--progress", "1", "--set", "control.integral_term=other"], "accumulated"),
        (["--progress", "1", "--set", "oversight.enabled=maybe"], "oversight.enabled"),
        (["--progress", "1", "--set", "oversight.other=1"], "oversight.other"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments: list[str], named: str) -> None:
    with pytest.raises(UsageError) as caught:
        call(*arguments)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


# -- recorded runs ---------------------------------------------------------------------------------

ANSWERS = {
    "redirect": ["approve", "decline", "roll_back"],
    "pause": ["continue", "guide", "extend", "roll_back"],
    "goal": ["promise"],
}


def lived(world: World, choices: list[int] | None = None) -> World:
    """Run it; answer questions with these choices in turn, then with the first answer."""
    left = list(choices or [])
    for event in world.steps():
        assert len(world.events) < 10_000
        if isinstance(event, QuestionAsked):
            offered = [option.answer for option in event.options]
            answers = [one for one in ANSWERS[event.topic] if one in offered]
            answer = answers[left.pop(0) % len(answers) if left else 0]
            world.send(
                Answer(question_id=event.question_id, answer=answer, text="try again", iterations=3)
            )
    return world


def written(world: World, folder: Path, events: int | None = None) -> Path:
    """The journal of a simulated run, or of its first events."""
    journal = folder / "events.jsonl"
    journal.write_text("".join(event.model_dump_json() + "\n" for event in world.events[:events]))
    return journal


STUCK = [2, 4, 4, 4, 4, 4, 4, 5, 10]
HOLED = lived(World([2, 4, 6, 4, 2, 4]))


@FEWER
@given(
    st.lists(st.integers(0, 10), min_size=2, max_size=14),
    st.lists(st.integers(0, 3), max_size=6),
    st.sets(st.integers(1, 12), max_size=4),
    st.sets(st.integers(1, 12), max_size=6),
    st.integers(1, 12),
)
def test_a_recorded_run_is_recomputed_field_for_field(
    passed: list[int], choices: list[int], conflicting: set[int], failing: set[int], most: int
) -> None:
    world = World(passed, max_iterations=most, mode="attended")
    changes = world.workspace.changed

    def act(session: FakeSession) -> None:
        fails = session.iteration in failing
        world.workspace.conflicting = ("a.py",) if session.iteration in conflicting else ()
        world.workspace.changed = [] if fails else changes
        session.finish("error" if fails else "success")

    world.agent.acts.extend([act] * 60)
    lived(world, choices)
    compared = recompute(world.events)
    assert [one.row.iteration for one in compared] == [
        event.iteration for event in world.events if isinstance(event, SignalComputed)
    ]
    for one in compared:
        assert one.row == one.recorded


def test_answers_come_from_the_journal() -> None:
    swings = [4, 6, 4, 6, 4, 5, 5, 5]
    for choice, profile in ((0, "damped"), (1, "focused")):
        world = lived(World(swings, mode="attended"), [choice])
        assert recompute(world.events)[4].row.profile == profile


def test_what_other_settings_would_have_done() -> None:
    world = lived(World(STUCK))
    rows = recompute(world.events, ControlSettings(patience=2))
    assert [one.row.intervention for one in rows[:5]] == [None] * 5
    recorded = [one.recorded.intervention for one in rows if one.recorded]
    assert recorded[:6] == [None, None, None, "REDIRECT", None, "PAUSE"]
    off = recompute(world.events, oversight=OversightSettings(enabled=False))
    assert not any(one.row.intervention or one.row.detections for one in off)


def test_a_redirect_nobody_was_asked_about_counts_as_approved() -> None:
    settings = Settings(oversight=OversightSettings(enabled=False))
    world = lived(World([4, 6, 4, 6, 4, 5, 5], max_iterations=7, settings=settings))
    rows = [one.row for one in recompute(world.events)]
    redirected = next(row.iteration for row in rows if row.intervention == "REDIRECT")
    assert rows[redirected].profile == "damped"


def test_a_recorded_answer_is_for_the_redirect_it_was_given_to() -> None:
    settings = Settings(oversight=OversightSettings(enabled=False))
    events = lived(World([0, 4, 6, 4, 6, 4, 5, 5, 5], max_iterations=9, settings=settings)).events
    at = next(i for i, e in enumerate(events) if getattr(e, "iteration", 0) == 7)
    other = RedirectDecided(iteration=6, about="stuck", approved=False)
    assert recompute([*events[:at], other, *events[at:]])[6].row.profile == "damped"


@each_row("last", ["reading_taken", "signal_computed", "question_asked"])
def test_a_run_that_broke_off_is_recomputed_up_to_its_last_reading(last: str) -> None:
    events = lived(World(STUCK)).events
    at = [index for index, event in enumerate(events) if event.kind == last][-1]
    rows = recompute(events[: at + 1])
    readings = [event for event in events[: at + 1] if event.kind == "reading_taken"]
    assert len(rows) == len(readings) - 1
    # A waiting PAUSE was checked when it opened, so its record is complete.
    assert rows[-1].recorded == (rows[-1].row if last == "question_asked" else None)
    assert all(one.recorded == one.row for one in rows[:-1])


@FEWER
@given(st.sets(st.integers(0, 200)))
def test_a_record_with_holes_is_recomputed_without_a_crash(holes: set[int]) -> None:
    events = HOLED.events
    kept = [event for index, event in enumerate(events) if index == 0 or index not in holes]
    signals = [event for event in kept if event.kind == "signal_computed"]
    assert len(recompute(kept)) <= len(signals) + 1


def test_run_prints_the_rows_of_a_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = written(lived(World(STUCK)), tmp_path)
    for name in (journal, tmp_path):
        found = rows(capsys, "--run", str(name))
        assert [list(row) for row in found] == [FIELDS] * 8
        assert found[3]["intervention"] == "REDIRECT"
    assert call("--run", str(journal)) == 0
    assert "The record agrees." in " ".join(capsys.readouterr().out.split())


def test_run_tells_what_differs_from_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = written(lived(World(STUCK)), tmp_path)
    assert call("--run", str(journal), "--set", "control.patience=2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].startswith("   4   40.0")
    assert lines[5].startswith(" was   40.0")
    assert lines[5].endswith("REDIRECT stuck")
    assert max(map(len, lines)) <= 100
    assert "The record differs at 4" in " ".join(" ".join(lines).split())


def test_run_takes_the_settings_the_run_was_started_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(STUCK, settings=Settings(control=ControlSettings(patience=2)))
    lived(world)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".ralph-tui.toml").write_text("[control]\npatience = 1\n")
    world.events[0] = world.events[0].model_copy(
        update={"config": {"control.patience": 2.0, "control.newer": 1, "newer.name": "x"}}
    )
    journal = written(world, tmp_path)
    assert call("--run", str(journal)) == 0
    assert "The record agrees." in " ".join(capsys.readouterr().out.split())


def test_run_of_a_journal_without_readings_or_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = lived(World(STUCK))
    journal = written(world, tmp_path, 3)
    assert call("--run", str(journal)) == 0
    assert "no measurement after any iteration" in capsys.readouterr().out
    assert rows(capsys, "--run", str(journal)) == []
    world.events = [
        event.model_copy(update={"seq": number})
        for number, event in enumerate((e for e in world.events if e.kind != "health_checked"), 1)
    ]
    assert call("--run", str(written(world, tmp_path))) == 0
    assert "no health checks to compare with" in " ".join(capsys.readouterr().out.split())


@each_row(
    ("arguments", "named"),
    [
        (["--run", "task-999"], "task-999"),
        (["--run"], "no run recorded"),
        (["--run", "x", "--progress", "1"], "--progress"),
        (["--run", "x", "--baseline", "1"], "--baseline"),
        (["--run", "x", "--max-iterations", "1"], "--max-iterations"),
        (["--run", "x", "--tests", "1"], "--tests"),
    ],
)
def test_run_refuses_what_it_cannot_use(arguments: list[str], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        call(*arguments)


def test_run_refuses_what_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    with pytest.raises(JournalError):
        call("--run", str(tmp_path / "notes.txt"))


def test_totals_show_a_broken_build(capsys: pytest.CaptureFixture[str]) -> None:
    series = ["--totals", "20,20,20,1,1", "--progress", "40,50,60,0,0", "--max-iterations", "20"]
    found = rows(capsys, *series)
    assert [row["completion"] for row in found] == [0.4, 0.5, 0.6, 0.0, 0.0]
    assert found[-1]["alarms"] == ["REGRESSING"]


def test_names_show_growth_that_is_no_gain(capsys: pytest.CaptureFixture[str]) -> None:
    totals = ",".join(str(40 + 4 * k) for k in range(8))
    same = rows(capsys, "--totals", totals, "--names", ",".join(["a+b"] * 8))
    fewer = rows(capsys, "--totals", totals, "--names", "a+b+c+d," * 4 + "a+b," * 3 + "a")
    assert "STUCK" in str(same[-1]["alarms"])
    assert "STUCK" not in str(fewer[5]["alarms"])


def test_a_dash_is_a_command_that_counts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "--totals", "20,-,-,-,20", "--progress", "50,0,0,0,50")
    assert [row["completion"] for row in found] == [0.5] * 5
    assert found[3]["intervention"] == "PAUSE"


@each_row(
    ("arguments", "said"),
    [
        (["--names", "a"], "--names needs --totals"),
        (["--totals", "20"], "--totals needs --progress or --names"),
        (["--totals", "20,20", "--progress", "10"], "--progress covers 1 iteration and --totals"),
        (["--totals", "x", "--progress", "10"], r"--totals takes a whole number \(- if nothing"),
        (["--run", "--totals", "20"], "--totals comes from the record"),
    ],
)
def test_bad_counts_are_named(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call(*arguments)
