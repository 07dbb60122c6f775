"""Causes are common to all iterations that they are said of."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.memory.causes import COMPARED, common_traits, ended_blockers
from tests.unit.layers.memory.histories import Worked, files, state_of

NAMES = st.lists(st.sampled_from(["one", "two", "three"]), max_size=3, unique=True)


@given(st.lists(st.tuples(NAMES, NAMES), max_size=4))
def test_only_what_all_iterations_share_is_named(made: list[tuple[list[str], list[str]]]) -> None:
    state = state_of(
        *(
            Worked(10, failing=tests, before=[files(k, *(f"{name}.py" for name in paths))])
            for k, (paths, tests) in enumerate(made, 1)
        )
    )
    traits = " ".join(common_traits(state.timeline.spans[1:]))
    for name in ("one", "two", "three"):
        shared = len(made) >= COMPARED and all(name in paths for paths, _ in made)
        assert (f"{name}.py" in traits) == shared
    untouched = len(made) >= COMPARED and not any(paths for paths, _ in made)
    assert ("none changed a file" in traits) == untouched
    failed = set.intersection(*(set(tests) for _, tests in made)) if len(made) > 1 else set()
    assert ("failed after each" in traits) == bool(failed)


@given(st.lists(st.lists(st.sampled_from(["no database", "rate limit"]), max_size=2), max_size=5))
def test_a_blocker_ended_only_if_a_later_report_lacks_it(said: list[list[str]]) -> None:
    state = state_of(*(Worked(10, summary="Worked.", blockers=blockers) for blockers in said))
    for ended in ended_blockers(state.timeline.spans):
        assert ended.text in said[ended.named - 1]
        assert ended.gone.number > ended.named
        assert ended.text not in said[ended.gone.number - 1]
