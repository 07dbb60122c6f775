"""The cockpit's panes: which ones are visible at this size, and which was viewed last.

Rule: it handles no keys; `layout` decides which panes share a place.
"""

from collections.abc import Callable
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Container

from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.keys import Keys
from ralph_tui.tui.cockpit import layout
from ralph_tui.tui.panes.agent import AgentPane
from ralph_tui.tui.panes.details import DetailsPane
from ralph_tui.tui.panes.end import EndPane
from ralph_tui.tui.panes.event_log import EventLog
from ralph_tui.tui.panes.files import FilesPane
from ralph_tui.tui.panes.iterations import IterationsPane
from ralph_tui.tui.panes.learnings import LearningsPane
from ralph_tui.tui.panes.pane import Pane
from ralph_tui.tui.panes.progress import ProgressPane
from ralph_tui.tui.panes.prompt import PromptPane
from ralph_tui.tui.panes.verification import VerificationPane


class Body(Container):
    """All panes; each follows the run even while hidden."""

    def __init__(self, source: Source, keys: Keys, refused: Callable[[str], str | None]) -> None:
        super().__init__(id="body")
        self.timeline = IterationsPane(source, keys, refused)
        self.panes: dict[str, Pane] = {
            pane.key: pane
            for pane in (
                ProgressPane(),
                EventLog(),
                self.timeline,
                FilesPane(source),
                LearningsPane(),
                AgentPane(lambda: bool(source.lost)),
                VerificationPane(),
                PromptPane(source),
                DetailsPane(source),
            )
        }
        self.end = EndPane(
            refused,
            keys,
            lambda: bool(source.lost),
            lambda: source.record.fleet if source.record is not None else None,
            lambda: source.broken,
        )
        self.ended = False
        """True while the end summary takes the place of the agent's group."""
        self.zoomed: str | None = None
        """Name of the pane if only one is shown; None if all are shown."""
        self.recent: list[str] = []
        """Pane names, most recently viewed first."""
        self._silent = set(layout.HOSTS)
        """Panes that have never had content; each gets its own place once it has some."""
        self._before_prompt: tuple[str | None, str] | None = None
        """The zoomed pane, and the pane in use, before the user opened the prompt."""

    def compose(self) -> ComposeResult:
        for name, pane in self.panes.items():
            if name == "agent":
                yield self.end
            yield pane

    def sync(self, state: RunState, now: datetime) -> None:
        filled = {name for name in self._silent if self.panes[name].has_content(state)}
        if filled:
            self._silent -= filled
            self.place_panes()
        for pane in (*self.panes.values(), self.end):
            pane.sync(state, now)

    @property
    def covered(self) -> tuple[str, ...]:
        """Names of the panes that the end summary covers."""
        return layout.group_of(layout.groups(*self.app.size, self._silent), "agent")

    def bring_forward(self, name: str) -> None:
        """Bring a pane to the front of its place; an active zoom moves to it."""
        self.recent = [name, *(other for other in self.recent if other != name)]
        if self.zoomed is not None:
            self.zoomed = name

    def prompt_or_back(self) -> str:
        """Zoom the prompt, or go back to the view before it; return the pane to focus."""
        if self.zoomed == "prompt" and self._before_prompt is not None:
            return self.unzoom()
        self._before_prompt = (self.zoomed, (self.recent or ["agent"])[0])
        self.zoomed = "prompt"
        return "prompt"

    def unzoom(self) -> str:
        """Show all panes, or the view from before the prompt; return the pane to focus."""
        called = self._before_prompt if self.zoomed == "prompt" else None
        self._before_prompt = None
        self.zoomed, pane = called or (None, str(self.zoomed))
        return pane

    def style_classes(self) -> dict[str, bool]:
        """Return the screen's style classes, and whether each is set."""
        return layout.style_classes(*self.app.size, self._silent, zoomed=self.zoomed is not None)

    def place_panes(self) -> None:
        """Place the panes for the current size and viewing order."""
        places = layout.groups(*self.app.size, self._silent)
        visible = layout.shown(places, self.recent, self.zoomed)
        # Set all classes in one update: each update restyles the whole screen.
        self.screen.update_classes(self.style_classes())
        self._place_agent(places)
        for name, pane in self.panes.items():
            group = (name,) if self.zoomed else layout.group_of(places, name)
            tabs = tuple(layout.tab(sharer, shown=sharer == name) for sharer in group)
            pane.take_place(tabs, zoomed=self.zoomed == name)
            pane.display = name in visible
        self.end.display = self.ended and self.zoomed is None
        if self.end.display:
            for name in self.covered:
                self.panes[name].display = False

    def _place_agent(self, places: layout.Groups) -> None:
        """Order the agent's pane for the grid, which fills in order.

        The agent comes last unless it has a place of its own.
        """
        agent, beside = self.panes["agent"], ("agent",) in places
        if (self.children[-1] is agent) == beside:
            if beside:
                self.move_child(agent, before=self.panes["tests"])
            else:
                self.move_child(agent, after=self.children[-1])
            self.move_child(self.end, before=agent)
