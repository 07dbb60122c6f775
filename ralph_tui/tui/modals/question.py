"""A question of the run: what it is about, the answers that can be given, and what silence gives.

Rule: it knows nothing of the question's topic; keys, words and default come from the event. Closing
it answers nothing: the question stays open, and its countdown runs.
"""

from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ralph_tui.events import QuestionAsked
from ralph_tui.text import clip
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.spans import flat
from ralph_tui.tui.words import countdown

MOST_CHARACTERS = 2000
"""Of the question's text; the whole is in the log."""


class Question(Modal[str | None]):
    """Answers with the word of an option; None when it was closed without one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def __init__(
        self, asked: QuestionAsked, now: datetime, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(clock)
        self.asked = asked
        self._keys = {option.key: option.answer for option in asked.options}
        self._left = countdown(asked.deadline, now)

    def compose(self) -> ComposeResult:
        """The question, one answer per line, and what happens without one."""
        asked = self.asked
        with Vertical(classes="dialog wide asking"):
            title = f"Iteration {asked.iteration} needs a decision"
            yield Static(Content(title), classes="question")
            yield Static(Content(clip(asked.text, MOST_CHARACTERS)), classes="part")
            for option in asked.options:
                key, verb = flat(option.key, 20), flat(option.verb, 200)
                line = Content.assemble((f"{key:>4}", "bold"), f"  {verb}")
                if option.answer == asked.default:
                    line = line.append(Content.styled("  (default)", "dim"))
                yield Static(line, classes="choice")
            yield Static(self._countdown(), classes="keys", id="countdown")
            yield Static(
                Content.assemble(
                    ("esc", "bold"), " closes; the question stays open, ", ("d", "bold"), " reopens"
                ),
                classes="hint",
            )

    def _countdown(self) -> Content:
        default = flat(self.asked.default, 40)
        if not self._left:
            return Content("It waits until you answer.")
        return Content.assemble(
            "Without an answer: ", (default, "bold"), " in ", (self._left, "bold"), "."
        )

    def sync(self, now: datetime) -> None:
        """Count down; drawn once a second."""
        left = countdown(self.asked.deadline, now)
        if left != self._left and self._opened is not None:
            self._left = left
            self.query_one("#countdown", Static).update(self._countdown())

    def on_key(self, event: events.Key) -> None:
        """A letter answers."""
        answer = self._keys.get(event.character or event.key)
        if answer is not None:
            event.stop()
            self.dismiss(answer)

    def action_close(self) -> None:
        """Close without an answer."""
        self.dismiss(None)
