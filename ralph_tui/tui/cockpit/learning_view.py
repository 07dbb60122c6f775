"""A learning's card, and the user's changes to it.

Rule: a change is a command like any other, and is reported as done only once the run has recorded
it. The card in a finished run is read-only, and names the command that changes the learning.
"""

from typing import TYPE_CHECKING

from ralph_tui.commands import ChangeLearning, refusal, stopping
from ralph_tui.events.memory import Change, unchanged_words
from ralph_tui.state import SeenLearning
from ralph_tui.text.terms import GONE
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import clip

if TYPE_CHECKING:
    from ralph_tui.tui.modals.guide import DraftResult
    from ralph_tui.tui.modals.learning import LearningCard

DONE: dict[Change, str] = {
    "pin": "pinned: in every prompt from the next iteration on",
    "unpin": "unpinned: retrieved only when it fits",
    "mute": "muted: in no prompt from the next iteration on",
    "unmute": "unmuted: retrieved again when it fits",
    "edit": "reworded: later prompts use your wording",
    "delete": GONE["deleted"],
}


class LearningView:
    """Opens a card, sends the user's changes, and reports the results."""

    def __init__(self, host: RunScreen) -> None:
        self._host = host
        self._app = host.ralph
        self._source = host.source
        self._card: LearningCard | None = None
        self._pending: tuple[ChangeLearning, str, int] | None = None
        """The change not yet recorded, the learning's text before it, and the log's length then."""
        self._drafts: dict[str, str] = {}
        """Unsent text, by learning id."""
        self._stamp: object = None
        self._was_gone = False
        """True if the learning was gone when its card was opened: the card is then read-only."""

    def show(self, learning_id: str) -> None:
        # Imported on first use to keep the first paint fast.
        from ralph_tui.tui.modals.learning import LearningCard  # noqa: PLC0415

        memory = self._host.state.memory
        seen = memory.seen.get(learning_id)
        if seen is None:
            return
        clock = self._app.monotonic
        self._card = LearningCard(
            seen, memory.looked_up_at, self._request, self._read_only(seen), clock
        )
        self._stamp, self._was_gone = None, bool(seen.gone)
        self._app.push_screen(self._card, self._closed)

    def _closed(self, _: Change | None) -> None:
        self._card = None

    def _read_only(self, seen: SeenLearning) -> str:
        """Return why nothing can be changed here, and an alternative; empty if it can be."""
        if seen.gone:
            return GONE[seen.gone]
        state = self._host.state
        over = "this is a recorded run" if not self._source.live else stopping(state)
        if over is None and not self._source.lost:
            return ""
        how = f"ralph-tui memory pin, mute, edit or delete {seen.learning.learning_id}"
        why = over or "the run's process is gone"
        return f"{why}; to change it: {how}"

    # changes ----------------------------------------------------------------------------------

    def _request(self, change: Change) -> None:
        card = self._card
        if card is None:
            return
        learning = card.seen.learning
        name = learning.learning_id
        if change == "edit":
            # Textual's editor is slow to import; importing it here keeps the first paint fast.
            from ralph_tui.tui.modals.guide import EditLearning  # noqa: PLC0415

            draft = self._drafts.get(name, learning.text)
            dialog = EditLearning("The learning's text", draft, self._app.monotonic)
            self._app.push_screen(dialog, lambda said: self._send_wording(name, said))
        elif change == "delete":
            from ralph_tui.tui.modals.choice_dialog import Confirm  # noqa: PLC0415 - as in `dialogs`

            question = f"Delete “{clip(learning.saying, 40)}” for all runs?"
            instead = "permanent; mute it instead to keep it out of prompts"
            command = ChangeLearning(learning_id=name, change="delete")
            confirm = Confirm(
                question, instead, self._app.monotonic,
                lambda: refusal(command, self._host.state) is None, yes="delete",
            )  # fmt: skip
            self._app.push_screen(confirm, lambda yes: self._send(name, "delete") if yes else None)
        else:
            self._send(name, change)

    def _send_wording(self, name: str, said: "DraftResult | None") -> None:
        send, text, _ = said or (False, "", False)
        seen = self._host.state.memory.seen.get(name)
        self._drafts[name] = text
        if send and seen is not None and text == seen.learning.text.strip():
            self._report("no change: the text is the same", "dim")
        elif send:
            self._send(name, "edit", text)

    def _send(self, name: str, change: Change, text: str = "") -> None:
        try:
            command = ChangeLearning(learning_id=name, change=change, text=text)
        except ValueError:
            self._report("too long: at most 10,000 characters; your text is kept", "warn")
            return
        if reason := refusal(command, self._host.state):
            self._report(reason, "warn")
            return
        state = self._host.state
        self._pending = (command, state.memory.seen[name].learning.text, len(state.log.entries))
        self._report("sent; waiting for the run to record it", "dim")
        self._source.send(command)

    def _report(self, words: str, style: str) -> None:
        if self._card is not None:
            self._card.answer(words, style)
        else:
            self._host.report(words)

    # results ----------------------------------------------------------------------------------

    def refused(self, command: ChangeLearning, reason: str) -> None:
        """Report that the run refused a change."""
        self._pending = None
        self._report(f"{command.change}: {reason}", "warn")

    def follow(self) -> None:
        """Update the card, and report what the run has recorded; runs at every tick."""
        state = self._host.state
        stamp = (id(state), state.memory.revision, state.log.revision, self._source.lost)
        if stamp == self._stamp or (self._card is None and self._pending is None):
            return
        self._stamp = stamp
        if self._pending is not None:
            self._settle(*self._pending)
        card = self._card
        if card is None or not card.is_mounted:
            return
        seen = state.memory.seen.get(card.seen.learning.learning_id)
        if seen is not None and (self._was_gone or not seen.gone):
            card.show(seen, state.memory.looked_up_at, self._read_only(seen))
        elif self._app.screen is card:
            card.dismiss(None)
        else:
            self._stamp = None  # retry once the dialog above has closed

    def _settle(self, command: ChangeLearning, said: str, rows: int) -> None:
        """Report the result of a change once it is recorded."""
        state, name = self._host.state, command.learning_id
        failed = unchanged_words(name, "")
        log_rows = [row.text for entry in state.log.entries[rows:] for row in entry.rows]
        words = [words for words in log_rows if words.startswith(failed)]
        seen = state.memory.seen.get(name)
        learning = None if seen is None or seen.gone else seen.learning
        done = {
            "pin": learning is not None and learning.pinned,
            "unpin": learning is not None and not learning.pinned,
            "mute": learning is not None and learning.muted,
            "unmute": learning is not None and not learning.muted,
            "edit": learning is not None and learning.text != said,
            "delete": learning is None,
        }
        if words or done[command.change]:
            self._pending = None
            if command.change == "edit" and not words:
                self._drafts.pop(name, None)
            if command.change == "delete" and not words:
                self._host.report(DONE["delete"])
            else:
                self._report(*((words[0], "warn") if words else (DONE[command.change], "good")))
