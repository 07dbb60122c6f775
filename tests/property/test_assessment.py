"""Whatever is known of an iteration, and whatever is not: it is assessed, and that stays small."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.records.aiwg.assessment import assessment_of
from ralph_tui.events import AgentReported, FilesChanged, GateFinished, SessionFinished
from ralph_tui.events.base import EPOCH
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.layers.intelligence import Evidence, InnerLoop, Traces, assess, estimate_progress
from ralph_tui.layers.intelligence.accomplishments import LONGEST, compare
from ralph_tui.layers.intelligence.assessment import ENDS, same_blocker, work_phase
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.state import AgentRow, RunState
from tests.examples import FEWER
from tests.rows import each_row

WORDS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["Fixed it.", "unable to start", "[b]\x1b[31m", "x" * 5000, "a\nb\n", "…"]),
)
NUMBERS = st.integers(-2, 40)
NAMES = st.lists(st.sampled_from([f"test_{n}" for n in range(12)]), unique=True, max_size=12)


@st.composite
def gates(draw: st.DrawFn) -> GateFinished:
    failing = draw(NAMES)
    return GateFinished(
        iteration=draw(st.integers(0, 9)),
        ok=draw(st.booleans()),
        timed_out=draw(st.booleans()),
        duration_s=draw(st.sampled_from([0.0, 1.5, 1e9])),
        passed=draw(st.none() | st.integers(0, 30)),
        failed=draw(st.integers(0, 3)) + len(failing),
        errors=draw(st.integers(0, 2)),
        skipped=draw(st.integers(0, 2)),
        failing=failing,
        error=draw(st.sampled_from(["", "it is not there"])),
    )


def files() -> st.SearchStrategy[FilesChanged]:
    change = st.builds(
        FileChange,
        path=WORDS,
        status=st.sampled_from(["added", "modified", "deleted"]),
        category=st.sampled_from(["source", "test", "aiwg"]),
    )
    total = st.builds(CategoryTotal, category=st.just("source"), files=st.integers(0, 400))
    return st.builds(
        FilesChanged,
        iteration=st.just(1),
        live=st.just(False),
        changes=st.lists(change, max_size=12),
        totals=st.lists(total, max_size=2),
    )


REPORTS = st.builds(
    AgentReported,
    iteration=st.just(1),
    summary=WORDS,
    blockers=st.lists(WORDS, max_size=15),
    learnings=st.lists(WORDS, max_size=15),
    next=WORDS,
)
CALLS = st.builds(
    AgentRow,
    seq=st.just(1),
    at=st.just(EPOCH),
    iteration=st.just(1),
    kind=st.just("tool"),
    text=WORDS,
    tool=st.sampled_from(["Bash", "Edit", ""]),
    nested=st.booleans(),
    running=st.booleans(),
    ok=st.booleans(),
    result=st.sampled_from(["", "exit 1", "exit 127", "denied", "no such file /x/1", "1"]),
)
LOOPS = st.builds(InnerLoop, NUMBERS, NUMBERS, st.booleans(), WORDS, WORDS, st.booleans())
ITEMS = st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=9)
EVIDENCE = st.builds(
    Evidence,
    iteration=st.integers(0, 1000),
    gate=st.none() | gates(),
    before=st.none() | gates(),
    files=st.none() | files(),
    report=st.none() | REPORTS,
    previous=st.none() | REPORTS,
    ended=st.none()
    | st.builds(SessionFinished, iteration=st.just(1), outcome=st.sampled_from(["success", *ENDS])),
    calls=st.lists(CALLS, max_size=8).map(tuple),
    words=WORDS,
    last_change=WORDS,
    plan=st.none() | ITEMS.map(lambda items: Progress(0, len(items), tuple(items))),
    planned=st.booleans(),
    next_item=WORDS,
    ticked=st.lists(WORDS, max_size=20).map(tuple),
    traces=st.builds(
        Traces,
        commits=st.lists(WORDS, max_size=30).map(tuple),
        loops=st.lists(LOOPS, max_size=4).map(tuple),
        artifacts=st.lists(WORDS, max_size=4).map(tuple),
        gone=st.lists(WORDS, max_size=2).map(tuple),
        missing=st.just(("commits",)),
    ),
)


@FEWER
@given(EVIDENCE)
def test_an_assessment_is_made_of_anything_and_is_bounded(evidence: Evidence) -> None:
    made = assess(evidence)
    assert 0 <= made.progress <= 100
    assert made.iteration == evidence.iteration
    assert len(made.accomplishments) <= 40
    assert len(made.blockers) <= 20
    assert len(made.pending) <= 20
    assert len(made.learnings) <= 10
    reported = [
        *(each.text for each in made.accomplishments),
        *(each.text for each in made.blockers),
        *(*made.pending, *made.learnings, *made.missing, made.last_action, made.next_step),
    ]
    assert max(map(len, reported)) <= LONGEST + 30
    assert not any("\n" in text or "\x1b" in text for text in reported)
    assert len(made.summary) <= 400


@FEWER
@given(EVIDENCE)
def test_every_blocker_that_evidence_shows_stands_and_no_guess_does(evidence: Evidence) -> None:
    for blocker in assess(evidence).blockers:
        if blocker.source in ("gate", "tool"):
            assert blocker.standing
        if blocker.source == "text":
            assert not blocker.standing
        if blocker.source == "report" and blocker.standing:
            assert evidence.previous is not None
            assert evidence.previous.blockers


@FEWER
@given(EVIDENCE)
def test_nothing_is_accomplished_that_is_not_in_the_evidence(evidence: Evidence) -> None:
    sources = {each.source for each in assess(evidence).accomplishments}
    before, now = evidence.before, evidence.gate
    shown = {
        "tests": before is not None and now is not None and not now.timed_out,
        "files": evidence.files is not None or bool(evidence.traces.artifacts),
        "commits": bool(evidence.traces.commits),
        "plan": bool(evidence.ticked),
        "loop": any(loop.success for loop in evidence.traces.loops),
        "report": evidence.report is not None,
        "text": bool(evidence.words),
    }
    assert all(shown[source] for source in sources)
    assert not {"report", "text"} & sources or len(sources) == 1, "words only without evidence"


@given(gates(), gates())
def test_a_test_newly_passes_only_where_both_lists_are_whole(
    before: GateFinished, now: GateFinished
) -> None:
    passes = compare(before, now)
    if passes.by_name is None:
        assert not passes.newly_failing
        return
    for gate in (before, now):
        assert not gate.unnamed
        assert not gate.timed_out
    assert (now.total or 0) >= (before.total or 0)
    assert set(passes.by_name) == set(before.failing) - set(now.failing)
    assert set(passes.newly_failing) == set(now.failing) - set(before.failing)


@given(NUMBERS, NUMBERS, st.none() | st.tuples(NUMBERS, NUMBERS), NUMBERS)
def test_the_estimate_is_points(
    done: int, changed: int, tests: tuple[int, int] | None, blockers: int
) -> None:
    tests = tests and (abs(tests[0]), abs(tests[1]))
    points = estimate_progress(
        accomplishments=abs(done), files=abs(changed), tests=tests, blockers=abs(blockers)
    )
    assert 0 <= points <= 85
    fewer = estimate_progress(
        accomplishments=abs(done), files=abs(changed), tests=tests, blockers=abs(blockers) + 1
    )
    assert fewer <= points


@given(st.floats(0, 100), st.booleans(), st.integers(0, 9))
def test_a_phase_is_always_known_of_an_assessed_iteration(
    progress: float,
    tests_pass: bool,  # noqa: FBT001
    done: int,
) -> None:
    phase = work_phase(progress, tests_pass=tests_pass, accomplished=done)
    assert (phase == "complete") == (tests_pass and done > 3)
    assert phase != "unknown"


@given(WORDS, WORDS)
def test_likeness_of_blockers_has_no_side(one: str, other: str) -> None:
    assert same_blocker(one, other) == same_blocker(other, one)
    assert same_blocker(one, one)


@FEWER
@given(EVIDENCE)
def test_the_file_of_any_assessment_is_json_in_its_schema(evidence: Evidence) -> None:
    state = RunState()
    state.apply(assess(evidence))
    content = assessment_of(state, evidence.iteration)
    assert content is not None
    fields = json.loads(json.dumps(content, allow_nan=False))
    assert fields["phase"] in ("early", "mid", "late", "complete")
    assert math.isfinite(fields["estimatedProgress"])
    assert set(fields["filesChanged"]) == {"added", "modified", "deleted", "byCategory"}
    assert len(fields["evidence"]["accomplishments"]) == len(fields["accomplishments"])


@each_row("iteration", [0, 7])
def test_an_iteration_of_which_nothing_is_known_is_assessed(iteration: int) -> None:
    made = assess(Evidence(iteration))
    assert (made.progress, made.phase, made.accomplishments) == (0, "early", [])
    assert made.missing
