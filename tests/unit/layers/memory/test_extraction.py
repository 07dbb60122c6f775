"""Learnings of a run: collected as it runs, and shown at its end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.events.memory import Learning
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.content import text_of, with_text
from ralph_tui.layers.memory.extraction import learn_from_report, learn_from_run, learning_id
from ralph_tui.layers.memory.issues import without_details
from ralph_tui.layers.memory.knowledge import is_same, promoted, proven
from ralph_tui.layers.oversight import propose
from tests.rows import each_row
from tests.unit.layers.memory.histories import Worked, files, state_of

HOW = " in lexer.py by splitting brackets from quotes"
"""Place and method, which make a summary useful."""


def only(learnings: list[Learning], type_: str) -> Learning:
    (found,) = [one for one in learnings if one.type == type_]
    return found


def extracted(*texts: str) -> list[Learning]:
    return learn_from_report(ev.AgentReported(iteration=1, learnings=list(texts)), "test-fix")


# -- reported --------------------------------------------------------------------------------------


@each_row(
    ("text", "type_"),
    [
        ("Run one test first", "strategy"),
        ("Always run the linter", "convention"),
        ("Migrations are NEVER edited", "convention"),
        ("The changelog must be updated", "convention"),
        ("Naming follows a convention", "convention"),
        ("Dates are ISO in this project", "convention"),
        ("Mustache templates live in views", "strategy"),
        ("Nevertheless it works", "strategy"),
    ],
)
def test_a_reported_learning_is_a_convention_by_its_words(text: str, type_: str) -> None:
    (one,) = extracted(text)
    assert (one.type, one.text, one.confidence) == (type_, text, 0.6)
    assert (one.standing, one.runs, one.task_type) == ("staged", 1, "test-fix")
    assert one.learning_id == learning_id(one.type, "test-fix", text)


def test_what_is_said_twice_or_says_nothing_is_taken_once_or_not() -> None:
    assert [one.text for one in extracted("Run  it", "run it.", "", "none", "N/A", "  ")] == [
        "Run it"
    ]


def test_its_content_has_the_fields_of_its_type() -> None:
    strategy, convention = extracted("Run one test first", "Always run the linter")
    assert strategy.content == {"approach": "Run one test first"}
    assert convention.content == {
        "convention": "Always run the linter",
        "source": "the agent's report",
    }


@given(st.lists(st.text(max_size=2000), max_size=8))
def test_any_report_gives_short_learnings_of_one_line(texts: list[str]) -> None:
    found = extracted(*texts)
    assert len({one.learning_id for one in found}) == len(found) <= len(texts)
    assert all(one.text and "\n" not in one.text and len(one.text) <= 400 for one in found)


def test_a_key_that_an_agent_reports_is_not_learned() -> None:
    key = "ghp_" + "a1B2" * 9
    (one,) = extracted(f"The token {key} works")
    assert key not in one.model_dump_json()


# -- a run that completed --------------------------------------------------------------------------


def test_a_completed_run_shows_how_and_how_long() -> None:
    state = state_of(
        Worked(10, "looked around", tools=["Read"]),
        Worked(
            60, f"carried the quote state in the token{HOW}", tools=["Read", "Edit", "Edit", "Bash"]
        ),
        Worked(65, "renamed a helper", tools=["Edit"]),
        Worked(100, f"made the parser ask the token{HOW}", tools=["Bash"]),
    )
    found = learn_from_run(state, "completed")
    assert [one.type for one in found] == ["strategy", "estimate"]
    strategy, estimate = found
    assert strategy.content == {
        "approach": f"Carried the quote state in the token{HOW}. "
        f"Made the parser ask the token{HOW}.",
        "toolSequence": ["read", "edit", "bash"],
        "avgIterations": 4,
    }
    assert (strategy.confidence, strategy.task_type) == (0.6, "test-fix")
    assert strategy.standing == estimate.standing == "staged"
    assert estimate.content == {
        "estimatedIterations": 4,
        "estimatedMinutes": 12,
        "basedOnSamples": 1,
        "confidence": 0.333,
    }
    assert estimate.confidence == pytest.approx(1 / 3)
    assert not proven(estimate)


def test_a_completed_run_below_90_shows_only_how_long() -> None:
    assert [
        one.type for one in learn_from_run(state_of(Worked(89, f"did it{HOW}")), "completed")
    ] == ["estimate"]
    assert only(learn_from_run(state_of(Worked(90, f"did it{HOW}")), "completed"), "strategy")


def test_without_a_word_of_the_agent_there_is_no_approach() -> None:
    state = state_of(Worked(100, tools=["Bash"]))
    assert [one.type for one in learn_from_run(state, "completed")] == ["estimate"]


def test_an_approach_names_the_redirect_that_was_in_force() -> None:
    redirect = [
        ev.InterventionMade(iteration=2, level="REDIRECT", about="stuck", reason="no rise"),
        ev.RedirectDecided(
            iteration=2, about="stuck", approved=True, instructions=propose("stuck")
        ),
    ]
    ended = ev.HealthChecked(iteration=3, status="healthy", ended="stuck")
    state = state_of(
        Worked(10, "one"),
        Worked(10, "two", after=redirect),
        Worked(60, f"made one test pass{HOW}", after=[ended]),
        Worked(100, f"and then the others{HOW}"),
    )
    assert only(learn_from_run(state, "completed"), "strategy").text == (
        "Asked to rethink the problem and make the smallest failing thing work first. Made one "
        f"test pass{HOW}. And then the others{HOW}."
    )


def planned(k: int, approach: str, focus: str) -> ev.StrategyPlanned:
    return ev.StrategyPlanned.model_validate(
        {"iteration": k, "approach": approach, "focus": focus, "reasoning": "so"}
    )


@pytest.mark.parametrize(
    ("focus", "asked"),
    [
        ("blocker_resolution", "remove the blocker first"),
        ("reframe", "rethink the problem and make the smallest failing thing work first"),
        ("stabilize", "take small steps and keep each one that works"),
        ("review", "review the last changes and restore what worked first"),
    ],
)
@pytest.mark.parametrize("approach", ["pivot", "escalate"])
def test_an_approach_names_the_strategy_that_was_in_force(
    approach: str, focus: str, asked: str
) -> None:
    state = state_of(
        Worked(10, "one", before=[planned(1, "persist", "continue")]),
        Worked(60, f"made one pass{HOW}", before=[planned(2, approach, focus)]),
        Worked(100, f"and the others{HOW}", before=[planned(3, "persist", "finish")]),
    )
    assert only(learn_from_run(state, "completed"), "strategy").text == (
        f"Asked to {asked}. Made one pass{HOW}. And the others{HOW}."
    )


def test_a_redirect_comes_before_the_strategy_that_was_in_force_with_it() -> None:
    redirect = [
        ev.InterventionMade(iteration=1, level="REDIRECT", about="stuck", reason="no rise"),
        ev.RedirectDecided(iteration=1, about="stuck", approved=True, instructions="The lexer."),
    ]
    state = state_of(
        Worked(0, after=redirect),
        Worked(100, f"did so{HOW}", before=[planned(2, "pivot", "review")]),
    )
    text = only(learn_from_run(state, "completed"), "strategy").text
    assert text == f"Asked to do this: The lexer. Did so{HOW}."


def test_a_redirect_that_was_edited_is_told_in_its_own_words_and_a_declined_one_not() -> None:
    def text(*, approved: bool) -> str:
        words = "Start with\nthe lexer." if approved else ""
        redirect = [
            ev.InterventionMade(iteration=1, level="REDIRECT", about="stuck", reason="no rise"),
            ev.RedirectDecided(iteration=1, about="stuck", approved=approved, instructions=words),
        ]
        state = state_of(Worked(0, after=redirect), Worked(100, f"did so{HOW}"))
        return only(learn_from_run(state, "completed"), "strategy").text

    assert text(approved=True) == f"Asked to do this: Start with the lexer. Did so{HOW}."
    assert text(approved=False) == f"Did so{HOW}."


def test_what_a_rollback_or_a_grown_total_gained_is_no_work_of_the_iteration() -> None:
    def held(iteration: int, number: int, tree: str) -> ev.SnapshotTaken:
        return ev.SnapshotTaken(iteration=iteration, number=number, ref="r", commit="c", tree=tree)

    back = ev.WorktreeRestored(iteration=3, snapshot=1, tree="t1", present=2)
    state = state_of(
        Worked(40, f"first{HOW}", before=[held(1, 1, "t1")]),
        Worked(5, "broke it", before=[held(2, 2, "t2")]),
        Worked(60, "rolled back", before=[back, held(3, 3, "t1")]),
        Worked(95, "grew", grew=True),
        Worked(100, f"last{HOW}"),
    )
    assert only(learn_from_run(state, "completed"), "strategy").text == f"First{HOW}. Last{HOW}."


# -- a run that did not ----------------------------------------------------------------------------


def test_a_strategy_keeps_what_stood_in_the_way_and_what_removed_it() -> None:
    state = state_of(
        Worked(
            10,
            "looked around",
            blockers=["No route to db.local:5432", "no time", "no key", "no disk"],
        ),
        Worked(100, f"made the parser ask the token{HOW}", blockers=["no time"]),
        Worked(100, f"used a fake database in the token{HOW}", blockers=["still slow"]),
    )
    strategy = learn_from_run(state, "completed")[0]
    assert strategy.content["blockers"] == ["No route to db.local:…", "no time", "no key"]
    assert strategy.content["resolution"] == f"used a fake database in the token{HOW}"
    assert strategy.content["avgIterations"] == 3
    assert "Obstacles: No route to db.local:…; no time; no key. Resolved by: used" in strategy.text
    reworded = with_text("strategy", strategy.content, "Use a fake.")
    assert text_of("strategy", reworded) == "Use a fake."


def test_an_issue_that_stood_in_two_iterations_is_an_antipattern() -> None:
    state = state_of(
        Worked(10, blockers=["Cannot reach the database at db.local:5432 (attempt 1)"]),
        Worked(12, "used a fake database"),
        Worked(
            40,
            "skipped its tests",
            blockers=["cannot reach the database at db.local:6543 (attempt 2)"],
        ),
        Worked(58, "started the database first"),
        Worked(25, "tried a cache"),
    )
    (one,) = learn_from_run(state, "limit_reached")
    assert (one.type, one.confidence, one.standing) == ("antipattern", 0.7, "staged")
    assert one.content == {
        "pattern": "Cannot reach the database at db.local:… (attempt …)",
        "consequence": "It occurred in 2 iterations, and the run ended at 25 %: limit reached.",
        "alternative": "started the database first",
        "detectedIn": [1, 3],
    }
    assert one.text == (
        "Cannot reach the database at db.local:… (attempt …). It occurred in 2 iterations, and "
        "the run ended at 25 %: limit reached. Better: started the database first."
    )


def test_the_start_is_no_iteration_in_which_an_issue_stood() -> None:
    state = state_of(Worked(1, timed_out=True), Worked(2, timed_out=True))
    state.timeline.spans[0].gate = state.timeline.spans[1].gate
    (one,) = learn_from_run(state, "failed")
    assert one.content["consequence"].startswith(
        "It occurred at the start and in 2 iterations, and "
    )


def test_what_went_no_better_afterwards_has_no_alternative() -> None:
    state = state_of(
        Worked(10, "a", blockers=["no network"]), Worked(9, "b", blockers=["No network."])
    )
    (one,) = learn_from_run(state, "failed")
    assert set(one.content) == {"pattern", "consequence", "detectedIn"}


def test_an_issue_of_one_iteration_does_not_stand() -> None:
    assert learn_from_run(state_of(Worked(1, blockers=["x y"]), Worked(2)), "failed") == []
    twice = Worked(1, blockers=["no network", "No network"])
    assert learn_from_run(state_of(twice, Worked(2)), "failed") == []


@each_row(
    ("one", "pattern"),
    [
        (Worked(1, ended="timeout", reason="It ran longer than 3600 s"), "It ran longer than … s"),
        (Worked(1, timed_out=True), "The completion command ran out of time"),
        (Worked(1, gate_error="no such program: pytest"), "no such program: pytest"),
    ],
)
def test_a_session_that_fails_and_a_command_without_an_answer_are_issues(
    one: Worked, pattern: str
) -> None:
    (found,) = learn_from_run(state_of(one, one), "limit_reached")
    assert found.content["pattern"] == pattern


def test_a_crash_of_the_agents_program_is_nothing_of_the_task() -> None:
    crashed = Worked(1, ended="crashed", reason="The agent exited with code 3 in its work")
    assert learn_from_run(state_of(crashed, crashed), "failed") == []


def test_what_its_service_does_is_no_issue_of_a_run() -> None:
    limited = Worked(1, ended="limited", reason="usage limit reached")
    assert learn_from_run(state_of(limited, limited), "failed") == []


def test_the_same_issue_of_two_runs_is_proven_whatever_the_runs_came_to() -> None:
    def learned(points: float) -> Learning:
        hit = Worked(points, blockers=["The fixture server never starts"])
        (one,) = learn_from_run(state_of(hit, hit), "limit_reached")
        return one

    one, other = learned(10), learned(70)
    assert one.learning_id == other.learning_id
    assert is_same(one, other)
    assert is_same(promoted(one), other)


def test_a_run_that_was_only_interrupted_has_shown_nothing() -> None:
    hit = Worked(95, "did it", blockers=["no network"])
    assert learn_from_run(state_of(hit, hit), "interrupted") == []
    assert learn_from_run(state_of(hit, hit), "aborted")


@given(
    st.lists(
        st.builds(
            Worked,
            points=st.floats(0, 100),
            summary=st.text(max_size=20),
            blockers=st.lists(st.text(max_size=20), max_size=2),
            tools=st.lists(st.sampled_from(["Read", "Edit", "Bash"]), max_size=6),
            grew=st.booleans(),
        ),
        max_size=6,
    ),
    st.sampled_from(["completed", "limit_reached", "aborted", "failed", "interrupted"]),
)
def test_whatever_happened_it_can_be_learned_from(
    iterations: list[Worked], outcome: Outcome
) -> None:
    found = learn_from_run(state_of(*iterations), outcome)
    kinds = [one.type for one in found]
    if outcome == "completed":
        assert kinds.count("estimate") == bool(iterations)
        assert "antipattern" not in kinds
    else:
        assert set(kinds) <= {"antipattern"}
    assert all(one.text and one.standing == "staged" for one in found)
    assert learn_from_run(state_of(*iterations), outcome) == found


# -- particulars -----------------------------------------------------------------------------------


@each_row(
    ("text", "without"),
    [
        ("3 of 7 tests fail at line 12", "… of … tests fail at line …"),
        ("cannot read /home/ada/x.json", "cannot read …"),
        ("cannot read C:\\tmp\\y.json now", "cannot read … now"),
        ("src/app/main.py:12: no such name", "…: no such name"),
        ("see https://example.org/a?b=1", "see …"),
        ("ask ada@example.org", "ask …"),
        ("segfault at 0x7ffeab12", "segfault at …"),
        ("127.0.0.1:8080 refuses", "… refuses"),
        ("commit 3f2a91bc is gone", "commit … is gone"),
        ("OAuth2 and UTF-8 stay as they are", "OAuth2 and UTF-… stay as they are"),
        ("either this and/or that", "either this and/or that"),
    ],
)
def test_an_issue_is_told_without_particulars(text: str, without: str) -> None:
    assert without_details(text) == without


@given(st.text(max_size=300))
def test_particulars_are_gone_after_one_pass(text: str) -> None:
    once = without_details(text)
    assert without_details(once) == once


@each_row("said", ["Counted.", "all done, everything passes now", "fixed it"])
def test_what_merely_names_the_outcome_is_no_strategy(said: str) -> None:
    assert [one.type for one in learn_from_run(state_of(Worked(100, said)), "completed")] == [
        "estimate"
    ]


@each_row(
    "work",
    [
        (Worked(40), Worked(80, "made it pass" + HOW, tests=80)),
        (Worked(40, before=[files(1, "src/pytest.ini")]), Worked(100, "made it pass" + HOW)),
        (Worked(40), Worked(100, "made it pass" + HOW, before=[files(2, "conftest.py")])),
    ],
)
def test_a_run_that_lost_tests_or_changed_what_measures_it_teaches_no_strategy(
    work: tuple[Worked, ...],
) -> None:
    state = state_of(*work)
    state.run.completion = 100.0
    assert [one.type for one in learn_from_run(state, "completed")] == ["estimate"]
