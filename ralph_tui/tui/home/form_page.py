"""The fields of the form for a new run, from top to bottom: filled, read, marked where wrong."""

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from ralph_tui.ports.new_runs import AgentOffer, By, Draft, Finding, Surroundings
from ralph_tui.text.terms import LEVELS, permission_words
from ralph_tui.tui.draw.spans import flat
from ralph_tui.tui.home.form_fields import Button, Choice, Field, OneLine
from ralph_tui.tui.home.form_line import OPTIONS, PLAYS_DEMO, TAKES_COMMAND, agent_of, concerns
from ralph_tui.tui.modals.guide import PlainArea

NUMBERS = (
    ("limits.max_iterations", "iterations", "1 to 1000"),
    ("limits.budget_usd", "budget, USD", "whole run; empty: none"),
    ("limits.session_timeout_s", "per session", "90s, 30m, 8h"),
)
"""Limits, their labels and what can be typed."""
MODES = (
    ("edits", permission_words("edits")),
    ("ask", "and asks you for more"),
    ("skip", permission_words("skip")),
)
"""Side by side they fit 80 columns."""
MOST_SUGGESTIONS = 4
DEMO_PLAYS = "plays a sample project: a minute, no account; what stands here is kept"
NONE_FOUND = "none is found: `command` is a program of your own, the demo needs none"
FREE = "a shell command may do anything, whatever is chosen"


class Objective(PlainArea):
    """What the agent is to reach, on as many lines as it takes."""

    def __init__(self) -> None:
        super().__init__(show_line_numbers=False, highlight_cursor_line=False)
        self.cursor_blink = False


class CommandField(OneLine):
    """The completion command; what a file speaks for is an arrow away."""

    KEYS: ClassVar[Mapping[str, int]] = {"down": 1, "up": -1}

    def __init__(self) -> None:
        super().__init__("exits with 0 when the work is done")
        self.offered: tuple[str, ...] = ()
        self._at = -1

    async def on_key(self, event: events.Key) -> None:
        """Taken here: a binding is looked up when the focus may be elsewhere already."""
        if event.key in self.KEYS:
            event.stop()
            self.suggest(self.KEYS[event.key])

    def suggest(self, by: int) -> None:
        """Take the next one that is offered."""
        if self.offered:
            self._at = (self._at + by) % len(self.offered) if self._at >= 0 else min(by, 0)
            self.value = self.offered[self._at]
            self.cursor_position = len(self.value)


class Page(VerticalScroll):
    """Scrolls where there is no room for all fields; the one that is typed in is in view."""

    class Edited(Message):
        """Something else stands in a field."""

    def __init__(self) -> None:
        super().__init__(id="new-run", can_focus=False)
        self.place = Surroundings()
        self.head = Static(Content.styled("a new run", "bold"), id="new-run-head")
        self.objective = Objective()
        self.by = Choice(
            (
                ("command", "a command passes"),
                ("both", "it passes, and you agree"),
                ("criterion", "you agree"),
            ),
            "command",
        )
        self.command = CommandField()
        self.texts: Mapping[str, OneLine] = {
            "command": self.command,
            "criterion": OneLine("in words; you are asked each time the agent says so"),
            "agent.command": OneLine(TAKES_COMMAND["command"]),
            "agent.model": OneLine("empty: the agent's own choice"),
            **{name: OneLine() for name, _, _ in NUMBERS},
        }
        self.agent = Choice(())
        self.permissions = Choice(MODES, "edits")
        self.try_it = Button("try", "try it", "try")
        self.fields = {field.key: field for field in self._fields()}

    def _fields(self) -> Iterator[Field]:
        yield Field("objective", "objective", self.objective)
        yield Field("by", "done when", self.by)
        yield Field("command", "command", self.command, self.try_it)
        yield Field("criterion", "in words", self.texts["criterion"])
        yield Field("agent.name", "agent", self.agent, hint="looking for agents…")
        yield Field("agent.command", "its command", self.texts["agent.command"])
        yield Field("agent.model", "model", self.texts["agent.model"])
        for name, label, hint in NUMBERS:
            yield Field(name, label, self.texts[name], hint=hint, beside=True)
        yield Field("permissions.mode", "permissions", self.permissions)
        yield Field("start", "", Button("start", "start: ctrl+enter or ctrl+s", "start"))

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.head
        yield from self.fields.values()

    def on_mount(self) -> None:
        """Only what counts is in view."""
        self._arrange()

    # what stands in them ------------------------------------------------------------------------

    def fill(self, place: Surroundings, left: Draft | None) -> None:
        """What is known goes into the fields; what was typed meanwhile stays.

        `left`: what was typed and not started; without it, the last start is proposed.
        """
        self.place = place
        draft = left or place.last
        options = [(offer.name, offer.name) for offer in place.agents]
        self.agent.offer([*options, (PLAYS_DEMO, "the demo")], agent_of(draft, place))
        if not self.objective.text:
            self.objective.load_text(draft.objective)
            self.objective.move_cursor(self.objective.document.end)
        if not self.command.value:
            self.by.value = draft.by
            self.command.value = draft.command
        self.texts["criterion"].value = self.texts["criterion"].value or draft.criterion
        for name, field in self.texts.items():
            if name in OPTIONS and not field.value:
                field.value = draft.settings.get(name, place.text(name))
        mode = draft.settings.get("permissions.mode", place.text("permissions.mode"))
        self.permissions.value = mode or "edits"
        for name, _, hint in (*NUMBERS, ("agent.model", "", "")):
            origin = place.defaults[name].origin if name in place.defaults else ""
            told = [hint, f"from {flat(origin)}" if origin else ""]
            self.fields[name].hint("; ".join(filter(None, told)))
        self.command.offered = tuple(one.command for one in place.suggestions)
        self.head.update(_head(place, left))
        self.offer_commands()
        self._arrange()

    def when_typed(self, do: Callable[[], object]) -> None:
        """Do it when every field has taken in the keys that came before."""
        controls = [field.control for field in self.fields.values()]

        def after(index: int) -> None:
            if index == len(controls):
                do()
            else:
                controls[index].call_later(after, index + 1)

        after(0)

    def ask_agents(self, offers: tuple[AgentOffer, ...]) -> None:
        """The agents have told what they are."""
        self.place = Surroundings(**{**vars(self.place), "agents": offers})
        self._arrange()

    @property
    def draft(self) -> Draft:
        """What stands in the fields; of the settings, what differs from what they are anyway."""
        chosen = {name: field.value for name, field in self.texts.items()}
        chosen |= {"agent.name": self.agent.value, "permissions.mode": self.permissions.value}
        default = {name: self.place.text(name) for name in OPTIONS}
        default["agent.name"] = self.place.chosen
        return Draft(
            objective=self.objective.text,
            by=cast("By", self.by.value),
            command=chosen["command"],
            criterion=chosen["criterion"],
            settings={name: chosen[name] for name in OPTIONS if chosen[name] != default[name]},
        )

    # what is said beside them -------------------------------------------------------------------

    def mark(self, wrong: Mapping[str, str]) -> None:
        """Say what is wrong beside each field; the first of them is gone to."""
        for name, field in self.fields.items():
            field.refuse(wrong.get(name, ""))
        first = next((field for name, field in self.fields.items() if name in wrong), None)
        if first is not None:
            first.control.focus()

    def offer_criterion(self) -> None:
        """The command passes already: words are needed beside it."""
        self.by.value = "both"
        self.by.repaint()
        self._arrange()

    def offer_commands(self) -> None:
        """What the files here speak for."""
        found = self.place.suggestions[:MOST_SUGGESTIONS]
        told = ", ".join(f"{flat(one.command)} ({flat(one.because)})" for one in found)
        self.fields["command"].hint(f"↓ takes {told}" if told else "")

    def _arrange(self) -> None:
        self.fields["command"].display = self.by.value != "criterion"
        self.fields["criterion"].display = self.by.value != "command"
        self.texts["agent.command"].placeholder = TAKES_COMMAND.get(self.agent.value, "")
        for name in ("agent.command", "agent.model"):
            self.fields[name].display = concerns(name, self.agent.value)
        self.fields["permissions.mode"].hint(FREE if self.agent.value == "command" else "")
        offer = next((one for one in self.place.agents if one.name == self.agent.value), None)
        if offer is not None:
            ready = offer.ready or not offer.install
            says = offer.says if ready else f"{offer.says}; to install it: {offer.install}"
            self.fields["agent.name"].hint(flat(says, 600))
        elif self.place.folder:
            playing = self.agent.value == PLAYS_DEMO
            self.fields["agent.name"].hint(DEMO_PLAYS if playing else NONE_FOUND)

    # typing -------------------------------------------------------------------------------------

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        """Another objective."""
        self._edited(message.text_area)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Another text."""
        self._edited(message.input)

    def on_choice_changed(self, message: Choice.Changed) -> None:
        """Another choice: other fields count."""
        self._arrange()
        self._edited(message.choice)

    def _edited(self, control: Widget) -> None:
        for field in self.fields.values():
            if field.control is control:
                field.refuse("")
        self.post_message(self.Edited())

    def roll(self, by: int) -> None:
        """Another screenful."""
        self.scroll_relative(y=by * max(1, self.size.height - 2), animate=False)


def _head(place: Surroundings, left: Draft | None) -> Content:
    how = ", as you left it," if left else ""
    head = Content.styled(f"a new run{how} in {flat(place.folder)}", "bold")
    return sum(map(_obstacle, place.obstacles), start=head)


def _obstacle(finding: Finding) -> Content:
    told = f"\n{LEVELS[finding.level].glyph} {finding.what}: {flat(finding.says, 600)}"
    ways = "".join(f"\n  {flat(way, 600)}" for way in finding.ways)
    return Content.styled(told, "$error") + Content.styled(ways, "$style-dim")
