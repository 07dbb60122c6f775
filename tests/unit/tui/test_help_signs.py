"""The help of each screen lists the signs that the screen shows."""

from dataclasses import replace

from ralph_tui.fleet.tui import keys as fleet_keys
from ralph_tui.text.terms import DIED, LOOPS, NEEDS_YOU, OUTCOMES, PHASES
from ralph_tui.tui.cockpit.help import SIGNS
from ralph_tui.tui.home import keys as home_keys
from ralph_tui.tui.home.table import state_of
from ralph_tui.tui.modals.help import AT_WORK, Block
from tests.tui.homes import DONE, LIVE


def signs(block: Block) -> set[str]:
    return set("".join(sign for sign, _ in block[1]))


def test_home_explains_the_sign_of_every_row() -> None:
    rows = [replace(LIVE, question=True)]
    rows += [replace(LIVE, status=phase) for phase in PHASES if phase != "finished"]
    rows += [replace(DONE, status=status) for status in (*OUTCOMES, "died", "unheard")]
    assert signs(home_keys.STATES) == {state_of(row)[0].glyph for row in rows}


def test_the_fleet_explains_the_sign_of_every_loop() -> None:
    terms = [NEEDS_YOU, DIED, *LOOPS.values(), *OUTCOMES.values()]
    terms += [term for phase, term in PHASES.items() if phase != "finished"]
    assert signs(fleet_keys.STATES) == {term.glyph for term in terms}


def test_the_cockpit_explains_the_sign_of_every_state() -> None:
    explained = set().union(*map(signs, SIGNS))
    terms = [NEEDS_YOU, DIED, *OUTCOMES.values(), *(PHASES[name] for name in AT_WORK)]
    assert {term.glyph for term in terms} <= explained
