"""The agent's own questions, answered one by one with digits or in the user's words.

Rule: nothing is sent until every question has an answer. A question that allows several choices
waits for enter.
"""

from collections.abc import Sequence
from typing import Any

from textual import events

from ralph_tui.commands import Answer
from ralph_tui.events.asking import AgentChoice
from ralph_tui.events.waiting import Option
from ralph_tui.tui.draw.spans import Line, clip, flat, wrap
from ralph_tui.tui.modals import question_rows as drawn
from ralph_tui.tui.modals.modal import Pair, press_on_click
from ralph_tui.tui.modals.question import Question
from ralph_tui.tui.modals.question_evidence import MAX_ROWS

MAX_DIGITS = 9
"""Maximum number of options with a digit; the key `OWN` is for the user's own answer."""
OWN = "w"


def place_words(index: int, of: Sequence[AgentChoice]) -> str:
    """Return position and header: ``2 of 3: Colour``; for a single question, only the header."""
    header = flat(of[index].header, 40)
    if len(of) == 1:
        return header
    return f"{index + 1} of {len(of)}{': ' * bool(header)}{header}"


def option_rows(choice: AgentChoice, picked: Sequence[str], width: int) -> list[Line]:
    """Return the options with their digits and marks; the user's own words come last."""
    on, off = ("■", "□") if choice.multiple else ("●", "○")
    rows: list[Line] = []
    for number, option in enumerate(choice.options[:MAX_DIGITS], 1):
        label = clip(flat(option.label, 200), max(1, width - 6))
        mark = on if option.label in picked else off
        head: Line = [(f" {number}", "key"), (f" {mark} ", "owner" if mark == on else "dim")]
        about = (
            wrap(flat(option.description, 400), max(1, width - 6), 2) if option.description else []
        )
        block: list[Line] = [[*head, (label, "strong")]]
        block += [[("      ", ""), (row, "text")] for row in about]
        rows += [press_on_click(row, str(number)) for row in block]
    labels = {option.label for option in choice.options}
    own = [text for text in picked if text not in labels]
    said = clip(flat(", ".join(own), 200), max(1, width - 6)) if own else "in your own words"
    mark = on if own else off
    last: Line = [(f" {OWN}", "key"), (f" {mark} ", "owner" if own else "dim"), (said, "text")]
    return [*rows, press_on_click(last, OWN)]


OWN_WORDS = Option(key=OWN, answer="choose", verb="in your own words", takes="choices")


class ChoiceQuestion(Question):
    """A dialog that returns labels or words as the answer to each question."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        assert self.asked.request is not None
        self._choices: Sequence[AgentChoice] = self.asked.request.choices
        self._picked: list[list[str]] = [[] for _ in self._choices]
        self._index = 0

    @property
    def _choice(self) -> AgentChoice:
        return self._choices[self._index]

    @property
    def _others(self) -> list[Option]:
        """Answers that do not choose one of the agent's options."""
        return [option for option in self.asked.options if option.takes != "choices"]

    @property
    def _next_step(self) -> str:
        """The effect of enter once something is chosen."""
        return "next question" if self._index + 1 < len(self._choices) else "send"

    # layout -----------------------------------------------------------------------------------

    def content(self, width: int, most: int) -> tuple[list[Line], list[Line]]:
        """Return the current question, and its options."""
        place = place_words(self._index, self._choices)
        head: list[Line] = [[(place, "dim")]] if place else []
        why: list[Line] = [[(row, "strong")] for row in wrap(self._choice.question, width, most)]
        whole = wrap(self._choice.question, width, MAX_ROWS)
        rest: list[Line] = [[(row, "text")] for row in whole] if len(whole) > most else []
        return [*head, *why], [*option_rows(self._choice, self._picked[self._index], width), *rest]

    def answers(self, width: int, *, listed: bool) -> list[Line]:
        """Return the other answers; the options are shown above."""
        asked = self.asked.model_copy(update={"options": self._others})
        rows = drawn.choices(asked, width, edited=False) if listed else drawn.packed(asked, width)
        if not self._picked[self._index]:
            return rows
        return [press_on_click([("enter", "key"), (f" {self._next_step}", "text")], "enter"), *rows]

    def pairs(self) -> Sequence[Pair]:
        if self.settled or self.editing is not None:
            return super().pairs()
        known = min(len(self._choice.options), MAX_DIGITS)
        return (
            *([("1" if known == 1 else f"1-{known}", "")] if known else []),
            (OWN, "choose"),
            *([("enter", self._next_step)] if self._picked[self._index] else []),
            *self.letters(self._others),
            *self.reading(),
            ("esc", "back" if self._index else "later"),
        )

    # answering --------------------------------------------------------------------------------

    def accept_key(self, event: events.Key) -> bool:
        """Pick with a digit, continue with enter, and handle all other keys like `Question`."""
        if self.editing is not None:
            return False
        key = event.character or event.key
        if key == OWN:
            self._edit(OWN_WORDS)
            return True
        if key.isdecimal() and key.isascii() and int(key) <= len(self._choice.options[:MAX_DIGITS]):
            self._pick(self._choice.options[int(key) - 1].label)
            return True
        if event.key == "enter" and self._picked[self._index]:
            self._next_question()
            return True
        return super().accept_key(event)

    def _pick(self, label: str) -> None:
        """Pick or unpick a label; if only one may be picked, continue at once."""
        picked = self._picked[self._index]
        if not self._choice.multiple:
            self._picked[self._index] = [label]
            self._next_question()
            return
        self._hold()
        if label in picked:
            picked.remove(label)
        else:
            picked.append(label)
        self._lay()

    def _next_question(self) -> None:
        if self._index + 1 < len(self._choices):
            self._hold()
            self._index += 1
            self._lay()
        elif self.is_current:
            choices = tuple(tuple(labels) for labels in self._picked)
            asked = self.asked.question_id
            self.dismiss(Answer(question_id=asked, answer="choose", choices=choices))

    def store(self) -> None:
        """Also save the user's own words that already answer a question."""
        super().store()
        labels = {option.label for choice in self._choices for option in choice.options}
        own = [text for picked in self._picked for text in picked if text not in labels]
        if own and self.editing is None:
            self._texts["choices"] = "\n".join(own)

    def on_text_entry_sent(self) -> None:
        """Take the user's own words as the answer to the current question."""
        if self.editing is not OWN_WORDS or self.settled:
            super().on_text_entry_sent()
            return
        words = self.sheet.editor.written
        if not words:
            self._complain("nothing entered yet")
            return
        labels = {option.label for option in self._choice.options}
        kept = [one for one in self._picked[self._index] if one in labels]
        self._picked[self._index] = [*kept, words] if self._choice.multiple else [words]
        self._close_editor()
        self._texts.pop("choices", None)
        if not self._choice.multiple:
            self._next_question()

    def action_back(self) -> None:
        """Return to the previous question; at the first one, act like `Question`."""
        if self._index and self.editing is None and not self.settled:
            self._index -= 1
            self._lay()
        else:
            super().action_back()
