"""First-time achievements, equal in the journal and in the live run."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events import Event
from ralph_tui.events.sensor import GateFinished
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress, read_plan
from ralph_tui.layers.sensor.sensor import Sensor

ALL = frozenset("abcdef")


def gate(failing: str, *, total: int = 6, named: str | None = None) -> GateResult:
    """A verification in which these letters' tests fail; `named`: only these are listed."""
    counts = Counts(
        "pytest",
        total - len(failing),
        len(failing),
        failing=tuple(failing if named is None else named),
    )
    return GateResult(ok=not failing, exit_code=int(bool(failing)), counts=counts)


def news(*gates: GateResult, baseline: str = "abcdef") -> list[int]:
    sensor = Sensor()
    sensor.baseline(gate(baseline), None)
    return [sensor.read(k, one).novel for k, one in enumerate(gates, 1)]


def test_a_test_that_never_passed_is_news_once() -> None:
    assert news(gate("bcdef"), gate("abcdef"), gate("bcdef"), gate("cdef")) == [1, 0, 0, 1]


def test_a_test_that_passed_at_the_start_is_no_news() -> None:
    assert news(gate("b"), gate("a"), gate(""), baseline="b") == [0, 1, 1]


def test_silence_about_a_test_says_nothing_where_fewer_ran_or_not_all_are_named() -> None:
    assert news(gate("b", total=2), gate("bcdef")) == [0, 1]
    assert news(gate("abcdef", named="abc"), gate("bcdef")) == [0, 1]


def test_more_tests_than_ever_are_no_obstacle() -> None:
    assert news(gate("bcdefgh", total=8)) == [1]


def plan(ticked: str, open_: str) -> Progress:
    lines = [f"- [x] item {one}" for one in ticked] + [f"- [ ] item {one}" for one in open_]
    found = read_plan("\n".join(lines), "PLAN.md")
    assert found
    return found


def ticks(first: Progress, *plans: Progress) -> list[int]:
    sensor = Sensor()
    sensor.baseline(None, first)
    return [sensor.read(k, None, one).novel for k, one in enumerate(plans, 1)]


def test_an_item_that_was_there_is_news_when_it_is_ticked_and_only_once() -> None:
    first = plan("", "abc")
    assert ticks(first, plan("a", "bc"), plan("", "abc"), plan("ab", "c")) == [1, 0, 1]


def test_an_item_that_comes_with_its_tick_is_no_news() -> None:
    assert ticks(plan("", "ab"), plan("xyz", "ab"), plan("xyza", "b")) == [0, 1]


def test_a_plan_that_grows_as_it_is_done_has_news_without_a_rise() -> None:
    assert ticks(plan("", "ab"), plan("a", "bc"), plan("ab", "cde")) == [1, 1]


def test_stories_are_told_apart_by_their_ids() -> None:
    def stories(*passing: bool) -> Progress:
        rows = ", ".join(
            f'{{"id": "US-{k}", "passes": {str(one).lower()}}}' for k, one in enumerate(passing)
        )
        found = read_plan(f'{{"userStories": [{rows}]}}', "prd.json")
        assert found
        return found

    assert ticks(stories(False, False), stories(False, True), stories(True, False)) == [1, 1]


@given(
    st.lists(
        st.tuples(st.frozensets(st.sampled_from(sorted(ALL))), st.booleans(), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_a_sensor_that_recalls_a_journal_reads_on_as_the_one_that_wrote_it(
    readings: list[tuple[frozenset[str], bool, bool]],
) -> None:
    live, journal = Sensor(), list[Event]()

    def gate_event(iteration: int, found: GateResult) -> GateFinished:
        counts = found.counts
        assert counts
        return GateFinished(
            iteration=iteration,
            ok=found.ok,
            runner=counts.runner,
            passed=counts.passed,
            failed=counts.failed,
            failing=list(counts.failing),
        )

    first, items = gate("abcdef"), plan("", "abcdef")
    journal += [gate_event(0, first), live.baseline(first, items).event()]
    for k, (open_, with_gate, with_plan) in enumerate(readings, 1):
        words = "".join(sorted(open_))
        found = gate(words) if with_gate else None
        ticked = plan("".join(sorted(ALL - open_)), words) if with_plan else None
        again = Sensor()
        for event in journal:
            again.recall(event)
        assert again.state == live.state
        reading = live.read(k, found, ticked)
        assert again.read(k, found, ticked) == reading
        journal += [*([gate_event(k, found)] if found else []), reading.event()]
