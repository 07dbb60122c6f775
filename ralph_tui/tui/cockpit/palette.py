"""Every cockpit command by name, and the agent's permissions, which have no key.

Rule: all offers come from the table of actions and from the state.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from ralph_tui.commands import SetPermissions, stopping
from ralph_tui.text.format import count
from ralph_tui.tui.actions import ACTIONS, is_offered
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import clip, flat
from ralph_tui.tui.modals.palette import Offer

PERMISSIONS = {
    "edits": "permissions: may edit files only",
    "ask": "permissions: may edit files; asks before anything else",
    "skip": "permissions: unrestricted (asks you to confirm)",
}
MAX_PERMITS = 50
"""Maximum number of denied tools offered for permission, most often denied first."""
LONGEST = 120
"""Maximum length of a permission in the palette, in characters; the command sends all of it."""


def offers(host: RunScreen, permit: Callable[[SetPermissions], None]) -> Iterator[Offer]:
    """Yield all commands: permissions for denied tools first, unavailable actions last.

    `permit` changes the agent's permissions.
    """
    able: list[Offer] = []
    unable: list[Offer] = []
    for action in ACTIONS:
        if action.name != "palette" and is_offered(action, live=host.source.live):
            refused = host.refusal(action)
            act = partial(host.action_do, action.name)
            offer = Offer(action.help, act, refused, host.ralph.keys.shown(action.name))
            (able if refused is None else unable).append(offer)
    going = host.source.live and stopping(host.state) is None
    if going:
        yield from _permits(host, permit)
    yield from able
    if going:
        yield from _other_modes(host, permit)
    yield from unable


def _permits(host: RunScreen, permit: Callable[[SetPermissions], None]) -> Iterator[Offer]:
    """Yield an offer for each kind of tool that was denied and has not been permitted."""
    needs = host.state.needs
    if needs.mode == "skip":
        return
    missing = [line for line in needs.denied if line not in needs.allow]
    for line in sorted(missing, key=lambda line: -needs.denied[line])[:MAX_PERMITS]:
        mode: Literal["edits", "ask"] = "ask" if needs.mode == "ask" else "edits"
        wish = SetPermissions(mode=mode, allow=(*needs.allow, line))
        times = count(needs.denied[line], "time")
        text = f"permit {clip(flat(line), LONGEST)} (denied {times})"
        yield Offer(text, partial(permit, wish))


def _other_modes(host: RunScreen, permit: Callable[[SetPermissions], None]) -> Iterator[Offer]:
    needs = host.state.needs
    modes: tuple[Literal["edits", "ask", "skip"], ...] = ("edits", "ask", "skip")
    for mode in modes:
        if mode != needs.mode:
            wish = SetPermissions(mode=mode, allow=needs.allow)
            yield Offer(PERMISSIONS[mode], partial(permit, wish))
