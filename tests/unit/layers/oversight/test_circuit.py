"""The circuit breaker: three iterations in which nothing happens at all."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import Evidence, Finding
from tests.rows import each_row

IDLE = Evidence(unchanged=True)
BUSY = Evidence(changed=("a.py",))


class Run:
    """A run fed measurement by measurement; questions are answered with *continue*."""

    def __init__(self, most: int = 200, baseline: float = 30.0, tests: int | None = 100) -> None:
        self.budget = Budget(most, tests)
        self.governor = Governor(baseline)
        self.asked: list[tuple[int, str, str]] = []

    def take(self, completion: float, evidence: Evidence = IDLE, **marks: bool) -> Finding:
        k = self.governor.history.iteration + 1
        finding = self.governor.take(Sample(k, completion, **marks), self.budget, evidence).finding
        assert finding
        if finding.opened:
            self.governor.answered(approved=True)
        if finding.level in ("REDIRECT", "PAUSE", "ABORT"):
            self.asked.append((k, finding.level, finding.situations[0].about))
        return finding


def names(finding: Finding) -> list[str]:
    return [found.name for found in finding.detections]


def test_three_iterations_that_change_nothing_pause() -> None:
    run = Run()
    assert [run.take(30).level for _ in range(3)] == [None, None, "PAUSE"]
    assert run.asked == [(3, "PAUSE", "circuit")]


def test_the_reason_is_a_sentence_with_the_number() -> None:
    run = Run()
    finding = [run.take(30) for _ in range(3)][-1]
    assert finding.situations[0].reason == (
        "3 iterations in a row changed no files and brought no new best."
    )
    assert names(finding) == ["circuit"]
    assert finding.detections[0].severity == "high"


def test_the_reason_names_the_limit_that_cut_every_session_off() -> None:
    late = replace(IDLE, cut="The session exceeded its time limit and was stopped.")
    for evidence, named in (((late, late, late), True), ((late, IDLE, late), False)):
        run = Run()
        finding = [run.take(30, each) for each in evidence][-1]
        assert finding.situations[0].reason.endswith(late.cut) == named


@each_row("breaks", [BUSY, Evidence()])
def test_a_changed_file_or_unknown_changes_break_the_row(breaks: Evidence) -> None:
    run = Run()
    for evidence in (IDLE, IDLE, breaks, IDLE, IDLE):
        run.take(30, evidence)
    assert run.asked == []
    run.take(30)
    assert run.asked == [(6, "PAUSE", "circuit")]


def test_a_new_best_breaks_it_however_small() -> None:
    run = Run()
    for completion in (30, 30, 30.1, 30.1, 30.1):
        run.take(completion)
    assert run.asked == []
    run.take(30.1)
    assert run.asked == [(6, "PAUSE", "circuit")]


def test_a_rollback_and_another_sensor_begin_anew() -> None:
    for mark in ("rolled_back", "restarted", "grew"):
        run = Run()
        run.take(30)
        run.take(30)
        run.take(30, IDLE, **{mark: True})
        assert run.asked == []


def test_progress_that_is_only_claimed_is_seen_by_what_the_command_says() -> None:
    same = Evidence(unchanged=True, output="abc")
    run = Run(baseline=0)
    for completion in (10, 20, 30):
        finding = run.take(completion, same)
    assert run.asked == [(3, "PAUSE", "circuit")]
    assert "the completion command's output was the same after each" in finding.situations[0].reason
    others = [Evidence(unchanged=True, output=name) for name in "abc"]
    run = Run(baseline=0)
    for completion, evidence in zip((10, 20, 30), others, strict=True):
        run.take(completion, evidence)
    assert run.asked == []


def test_a_claimed_gain_that_ends_the_episode_does_not_ask_in_every_iteration() -> None:
    same = Evidence(unchanged=True, output="abc")
    run = Run(baseline=0)
    for completion in range(5, 100, 5):
        run.take(completion, same)
    assert len(run.asked) == 1


def test_one_pathology_is_asked_about_once_and_then_ever_more_rarely() -> None:
    """STUCK arises in it, but without its own redirect or question."""
    run = Run(most=50)
    for _ in range(40):
        run.take(30)
    assert run.asked == [
        (3, "PAUSE", "circuit"),
        (8, "PAUSE", "circuit"),
        (18, "PAUSE", "circuit"),
        (38, "PAUSE", "circuit"),
    ]


def test_what_else_shows_is_listed_in_the_question() -> None:
    run = Run(most=20)
    finding = [run.take(30) for _ in range(3)][-1]
    assert [(one.level, one.about) for one in finding.situations] == [
        ("PAUSE", "circuit"),
        ("REDIRECT", "stuck"),
    ]
    assert finding.opened is None


def test_after_it_has_closed_the_episode_asks_about_what_is_up() -> None:
    run = Run(most=20)
    for _ in range(3):
        run.take(30)
    for _ in range(6):
        finding = run.take(30, BUSY)
    assert run.asked == [(3, "PAUSE", "circuit"), (8, "PAUSE", "stuck")]
    assert run.take(36, BUSY).ended
    assert names(finding) == ["stuck"]


def test_in_an_episode_three_idle_iterations_are_its_next_pause() -> None:
    run = Run(most=200)
    for _ in range(8):
        run.take(30, BUSY)
    assert run.asked == [(7, "REDIRECT", "stuck")]
    for _ in range(8):
        run.take(30)
    assert run.asked[1:] == [(11, "PAUSE", "circuit")]  # with changed files it would be 22


def test_nothing_is_asked_at_the_limit_or_at_100() -> None:
    run = Run(most=3)
    for _ in range(3):
        run.take(30)
    assert ("PAUSE", "circuit") not in [one[1:] for one in run.asked]
    run = Run()
    for completion in (30, 30, 100):
        finding = run.take(completion)
    assert finding.level is None


def test_where_activity_is_estimated_no_change_is_still_a_fact() -> None:
    run = Run()
    for _ in range(20):
        run.take(30, estimated=True)
    assert run.asked[0] == (3, "PAUSE", "circuit")
    assert len(run.asked) <= 3


def test_the_same_error_three_times_ends_the_run_instead() -> None:
    run = Run()
    for _ in range(3):
        run.take(30, Evidence(unchanged=True, error="no such model"))
    assert run.asked == [(3, "ABORT", "agent_error")]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 99)), max_size=40))
def test_it_only_ever_speaks_after_three_idle_iterations(taken: list[tuple[bool, int]]) -> None:
    run, row = Run(most=60, baseline=0), 0
    for idle, completion in taken:
        row = row + 1 if idle else 0
        finding = run.take(completion, IDLE if idle else BUSY)
        assert ("circuit" in names(finding)) <= (row >= 3)
        asked = [one for one in finding.situations if one.level in ("REDIRECT", "PAUSE")]
        assert len([one for one in asked if one.about == "circuit"]) <= 1
