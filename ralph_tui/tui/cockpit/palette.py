"""Every command by its name, and what has no key: the agent's permissions.

Rule: what it offers comes from the table of actions and from the state. Denied tools are told by
foreign text, so nothing here is ever markup.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import Input

from ralph_tui.commands import SetPermissions, stopping
from ralph_tui.text.format import count
from ralph_tui.tui.actions import ACTIONS, offered
from ralph_tui.tui.cockpit.dialog_host import DialogHost
from ralph_tui.tui.draw.spans import clip, flat

MOST_PERMITS = 50
"""Denied tools that are offered to be permitted, the most often denied first."""
LONGEST = 120
"""Cells of what is to be permitted; what is sent is the whole of it."""


@dataclass(frozen=True)
class Offer:
    """One line of the palette."""

    text: str
    run: Callable[[], None]
    refused: str | None = None
    """Why it cannot be done now."""

    @property
    def shown(self) -> Content:
        """The line as it is seen."""
        if self.refused is None:
            return Content(self.text)
        return Content.assemble((self.text, "dim"), (f"  ({self.refused})", "dim italic"))


def offers(host: DialogHost) -> Iterator[Offer]:
    """All that can be asked for: what was denied first, what cannot be done now last."""
    able: list[Offer] = []
    unable: list[Offer] = []
    for action in ACTIONS:
        if action.name != "palette" and offered(action, live=host.source.live):
            refused = action.refusal(host.state)
            text = f"{action.verb} ({action.shown_key}): {action.help}"
            offer = Offer(text, partial(host.action_do, action.name), refused)
            (able if refused is None else unable).append(offer)
    going = host.source.live and stopping(host.state) is None
    if going:
        yield from _permits(host)
    yield from able
    if going:
        yield _other_mode(host)
    yield from unable


def _permits(host: DialogHost) -> Iterator[Offer]:
    """A line for each kind of tool that was denied and is not permitted yet."""
    needs = host.state.needs
    if needs.mode == "skip":
        return
    missing = [line for line in needs.denied if line not in needs.allow]
    for line in sorted(missing, key=lambda line: -needs.denied[line])[:MOST_PERMITS]:
        wish = SetPermissions(mode="edits", allow=(*needs.allow, line))
        times = count(needs.denied[line], "time")
        text = f"permit {clip(flat(line), LONGEST)} (denied {times})"
        yield Offer(text, partial(host.set_permissions, wish))


def _other_mode(host: DialogHost) -> Offer:
    needs = host.state.needs
    wish = SetPermissions(mode="edits" if needs.mode == "skip" else "skip", allow=needs.allow)
    text = f"permissions: {wish.mode}{' (everything)' if wish.mode == 'skip' else ''}"
    return Offer(text, partial(host.set_permissions, wish))


class Offers(Provider):
    """Textual's way to ask for them."""

    def _offers(self) -> Iterator[Offer]:
        return offers(cast("DialogHost", self.screen))

    async def discover(self) -> Hits:
        """All of them, before a word is typed."""
        for offer in self._offers():
            yield DiscoveryHit(offer.shown, offer.run, offer.text)

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for offer in self._offers():
            score = matcher.match(offer.text)
            if score > 0:
                yield Hit(score, offer.shown, offer.run, offer.text)


class Palette(CommandPalette):
    """Textual's palette with our commands alone; nothing in it blinks."""

    def __init__(self) -> None:
        super().__init__([Offers], placeholder="Search commands; enter does, esc closes")

    def on_mount(self) -> None:
        """Stand still."""
        self.query_one(Input).cursor_blink = False
