"""What a session of the hook remembers."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.hooks.program.sessions import Session
from ralph_tui.layers.context.levels import LEVELS, Level


@given(st.lists(st.sampled_from(LEVELS)))
def test_each_level_fires_once_and_each_later_one_is_higher(measured: list[Level]) -> None:
    session, fired = Session(), []
    for level in measured:
        if session.fires(level):
            fired.append(level)
            session = session._replace(level=level)
    assert fired == sorted(set(fired))
    assert "L0" not in fired
    assert session.level == max(measured, default="L0")
    assert not any(session.fires(level) for level in measured)
