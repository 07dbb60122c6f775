"""The fields of the form for a new run, which it fills, reads and marks."""

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
from ralph_tui.tui.home.form_line import COMMAND_HINTS, DEMO_AGENT, OPTIONS, agent_of, applies_to
from ralph_tui.tui.modals.guide import PlainArea

NUMBERS = (
    ("limits.max_iterations", "iterations", "1 to 1000"),
    ("limits.budget_usd", "budget, USD", "whole run; empty = no limit"),
    ("limits.session_timeout_s", "per session", "90s, 30m, 8h"),
)
"""Limits, their labels, and the values they accept."""
MODES = (
    ("edits", permission_words("edits")),
    ("ask", "asks before anything else"),
    ("skip", permission_words("skip")),
)
"""Permission modes; the labels fit side by side in 80 columns."""
MAX_SUGGESTIONS = 4
DEMO_PLAYS = "plays a sample project: one minute, no account; this form is kept"
NONE_FOUND = "no agent found: choose `command` for your own program, or play the demo"
FREE = "a shell command may do anything, whatever you choose here"


class Objective(PlainArea):
    """The objective, on as many lines as necessary."""

    def __init__(self) -> None:
        super().__init__(show_line_numbers=False, highlight_cursor_line=False)
        self.cursor_blink = False


class CommandField(OneLine):
    """The completion command; arrow keys insert suggestions from the repository's files."""

    KEYS: ClassVar[Mapping[str, int]] = {"down": 1, "up": -1}

    def __init__(self) -> None:
        super().__init__("exits with 0 when the work is done")
        self.offered: tuple[str, ...] = ()
        self._at = -1

    async def on_key(self, event: events.Key) -> None:
        """Handle keys here, because the focus may have moved by the time a binding is looked up."""
        if event.key in self.KEYS:
            event.stop()
            self.suggest(self.KEYS[event.key])

    def suggest(self, by: int) -> None:
        """Insert the next suggestion, or the previous one if `by` is negative."""
        if self.offered:
            self._at = (self._at + by) % len(self.offered) if self._at >= 0 else min(by, 0)
            self.value = self.offered[self._at]
            self.cursor_position = len(self.value)


class Page(VerticalScroll):
    """All fields; the page scrolls if they do not fit, and keeps the focused one in view."""

    class Edited(Message):
        """The content of a field has changed."""

    def __init__(self) -> None:
        super().__init__(id="new-run", can_focus=False)
        self.place = Surroundings()
        self.head = Static(Content.styled("a new run", "bold"), id="new-run-head")
        self.objective = Objective()
        self.by = Choice(
            (
                ("command", "a command passes"),
                ("both", "it passes and you agree"),
                ("criterion", "you agree"),
            ),
            "command",
        )
        self.command = CommandField()
        self.texts: Mapping[str, OneLine] = {
            "command": self.command,
            "criterion": OneLine("you confirm this each time the agent says it is done"),
            "agent.command": OneLine(COMMAND_HINTS["command"]),
            "agent.model": OneLine("empty for the agent's default"),
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
        yield Field("criterion", "criterion", self.texts["criterion"])
        yield Field("agent.name", "agent", self.agent, hint="looking for agents…")
        yield Field("agent.command", "its command", self.texts["agent.command"])
        yield Field("agent.model", "model", self.texts["agent.model"])
        for name, label, hint in NUMBERS:
            yield Field(name, label, self.texts[name], hint=hint, beside=True)
        yield Field("permissions.mode", "permissions", self.permissions)
        yield Field("start", "", Button("start", "start: ctrl+enter or ctrl+s", "start"))

    def compose(self) -> ComposeResult:
        yield self.head
        yield from self.fields.values()

    def on_mount(self) -> None:
        self._arrange()

    # content ------------------------------------------------------------------------------------

    def fill(self, place: Surroundings, left: Draft | None) -> None:
        """Fill the fields with known values, but keep what the user has typed in the meantime.

        `left` is a draft that was not started; without one, the last started run is proposed.
        """
        self.place = place
        draft = left or place.last
        options = [(offer.name, offer.name) for offer in place.agents]
        self.agent.offer([*options, (DEMO_AGENT, "the demo")], agent_of(draft, place))
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
            parts = [hint, f"from {flat(origin)}" if origin else ""]
            self.fields[name].hint("; ".join(filter(None, parts)))
        self.command.offered = tuple(one.command for one in place.suggestions)
        self.head.update(_head(place, left))
        self.offer_commands()
        self._arrange()

    def after_typing(self, do: Callable[[], object]) -> None:
        """Call `do` once every field has handled the keys typed before."""
        controls = [field.control for field in self.fields.values()]

        def after(index: int) -> None:
            if index == len(controls):
                do()
            else:
                controls[index].call_later(after, index + 1)

        after(0)

    def ask_agents(self, offers: tuple[AgentOffer, ...]) -> None:
        """Show what the agents report about themselves."""
        self.place = Surroundings(**{**vars(self.place), "agents": offers})
        self._arrange()

    @property
    def draft(self) -> Draft:
        """The form's content, with only the settings that differ from their defaults."""
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

    # hints and errors ---------------------------------------------------------------------------

    def mark(self, wrong: Mapping[str, str]) -> None:
        """Show each field's error, and focus the first field that has one."""
        for name, field in self.fields.items():
            field.refuse(wrong.get(name, ""))
        first = next((field for name, field in self.fields.items() if name in wrong), None)
        if first is not None:
            first.control.focus()

    def offer_criterion(self) -> None:
        """Ask for a criterion as well, because the command already passes."""
        self.by.value = "both"
        self.by.repaint()
        self._arrange()

    def offer_commands(self) -> None:
        """Show the commands that files of the repository suggest."""
        found = self.place.suggestions[:MAX_SUGGESTIONS]
        offers = ", ".join(f"{flat(one.command)} ({flat(one.because)})" for one in found)
        self.fields["command"].hint(f"↓ inserts {offers}" if offers else "")

    def _arrange(self) -> None:
        self.fields["command"].display = self.by.value != "criterion"
        self.fields["criterion"].display = self.by.value != "command"
        self.texts["agent.command"].placeholder = COMMAND_HINTS.get(self.agent.value, "")
        for name in ("agent.command", "agent.model"):
            self.fields[name].display = applies_to(name, self.agent.value)
        self.fields["permissions.mode"].hint(FREE if self.agent.value == "command" else "")
        offer = next((one for one in self.place.agents if one.name == self.agent.value), None)
        if offer is not None:
            ready = offer.ready or not offer.install
            says = offer.says if ready else f"{offer.says}; install it with: {offer.install}"
            self.fields["agent.name"].hint(flat(says, 600))
        elif self.place.folder:
            playing = self.agent.value == DEMO_AGENT
            self.fields["agent.name"].hint(DEMO_PLAYS if playing else NONE_FOUND)

    # typing -------------------------------------------------------------------------------------

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        self._edited(message.text_area)

    def on_input_changed(self, message: Input.Changed) -> None:
        self._edited(message.input)

    def on_choice_changed(self, message: Choice.Changed) -> None:
        """Show the fields that this choice requires."""
        self._arrange()
        self._edited(message.choice)

    def _edited(self, control: Widget) -> None:
        for field in self.fields.values():
            if field.control is control:
                field.refuse("")
        self.post_message(self.Edited())

    def roll(self, by: int) -> None:
        """Scroll by a screenful."""
        self.scroll_relative(y=by * max(1, self.size.height - 2), animate=False)


def _head(place: Surroundings, left: Draft | None) -> Content:
    how = " (your draft)" if left else ""
    head = Content.styled(f"a new run{how} in {flat(place.folder)}", "bold")
    return sum(map(_obstacle, place.obstacles), start=head)


def _obstacle(finding: Finding) -> Content:
    problem = f"\n{LEVELS[finding.level].glyph} {finding.what}: {flat(finding.says, 600)}"
    ways = "".join(f"\n  {flat(way, 600)}" for way in finding.ways)
    return Content.styled(problem, "$error") + Content.styled(ways, "$style-dim")
