"""The prompt of this iteration, exactly as it was sent."""

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from ralph_tui.events import PromptPrepared
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.text.terms import IN_CLONE, NOT_RECORDED
from ralph_tui.tui.actions import EDIT
from ralph_tui.tui.draw.spans import Line, flat, wrap
from ralph_tui.tui.draw.words import tokens
from ralph_tui.tui.panes.pane import IterationPane
from ralph_tui.tui.panes.recorded_text import DELETED, read_inside, text_rows


class PromptPane(IterationPane):
    """Shows prompt files named in the journal; paths outside the attempt's folder are refused."""

    key: ClassVar[str] = "prompt"

    BINDINGS: ClassVar[list[BindingType]] = [Binding(EDIT, "edit", show=False)]

    class EditRequested(Message):
        """The user wants to edit the next prompt, or has changed their mind."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._read: dict[int, tuple[str, str]] = {}
        """By event number: the text, and the reason if the text is missing."""

    def stamp(self, state: RunState, now: datetime) -> object:
        requested = state.intelligence.edit_requested, state.intelligence.standing_instruction
        sent = state.gate.prompt.seq if state.gate.prompt else None
        return (sent, requested, edit_words(state), state.run.live, self._source.lost)

    def changed(self) -> None:
        prompts = self._prompts()
        if any(prompt.seq not in self._read for prompt in prompts):
            self.top = 0
        self._read = {prompt.seq: self._words(prompt) for prompt in prompts}

    def _words(self, prompt: PromptPrepared) -> tuple[str, str]:
        # A hidden pane gets no updates, so it may be drawn before its prompts have been read.
        if prompt.seq not in self._read:
            record = self._source.record
            looped = record is not None and record.fleet is not None
            missing = IN_CLONE if looped else DELETED
            self._read[prompt.seq] = read_inside(
                self._source.folder, prompt.path, "prompt", missing
            )
        return self._read[prompt.seq]

    def _prompts(self) -> list[PromptPrepared]:
        """The displayed iteration's prompts; if it has none yet, the run's latest prompt."""
        span, latest = self.span, self.state.gate.prompt
        if span is None or (self.chosen is None and not span.prompts):
            return [latest] if latest is not None else []
        return span.prompts

    def build(self, width: int, height: int) -> list[Line]:
        rows: list[Line] = [self.past()] if self.chosen is not None else []
        if self.chosen is None and self.state.run.live and not self._source.lost:
            for note in self._next_notes():
                rows += [[(piece, "owner")] for piece in wrap(note, width, 3)]
        prompts = self._prompts()
        if not prompts:
            missing = NOT_RECORDED if self.state.foreign.tool else "no prompt has been sent yet"
            return [*rows, [(missing, "dim")]]
        for prompt in reversed(prompts):  # the current prompt comes first
            if len(prompts) > 1:
                name = _session_of(prompt.path).removeprefix(", ") or "session 1"
                rows.append([(f"── {name} ", "dim"), ("─" * max(0, width - 14), "faint")])
            rows += _rows(*self._words(prompt), width)
        return rows

    def _next_notes(self) -> Iterator[str]:
        """Describe the user's requests for the next prompt; empty if the run will not continue."""
        known = self.state.intelligence
        if known.edit_requested:
            cancel = f"; press {EDIT} again to cancel" if self._source.live else ""
            yield f"{edit_words(self.state)}{cancel}"
        if known.standing_instruction:
            yield f"in every prompt: {flat(known.standing_instruction)}"

    def action_edit(self) -> None:
        """Request or cancel editing of the next prompt."""
        self.post_message(self.EditRequested())

    def subtitle(self, width: int) -> Line:
        prompts = self._prompts()
        if not prompts:
            return []
        prompt = prompts[-1]
        size = f"about {tokens(prompt.tokens)} tokens" if prompt.tokens else ""
        size = size or f"{tokens(prompt.characters)} characters"
        by = f" · edited by {prompt.edited_by}" if prompt.edited_by else _ORIGINS[prompt.origin]
        cut = f" · {count(len(prompt.cut), 'section')} shortened" if prompt.cut else ""
        where = f"iteration {prompt.iteration}{_session_of(prompt.path)}"
        return [(f"{where} · {size}{cut}{by}", "dim")]


_ORIGINS = {"template": "", "model": " · worded by a model", "fallback": " · in short form"}


def edit_words(state: RunState) -> str:
    """Return when the user will see the prompt that they asked to edit."""
    if state.run.paused or state.needs.question is not None:
        return "the next prompt is composed when the run continues; you can edit it then"
    return "the next prompt is shown to you before it is sent"


def _rows(text: str, problem: str, width: int) -> list[Line]:
    if problem:
        return [[(piece, "warn")] for piece in wrap(problem, width, 4)]
    return text_rows(text, width)


def _session_of(path: str) -> str:
    """Return the prompt's session within the iteration; empty for the first."""
    number = path.rpartition("/prompt-")[2].removesuffix(".md")
    return f", session {number}" if number.isdecimal() else ""
