"""Nesting of log entries about guidance, questions, restores and full context windows.

Rule: each of these is one entry, with its consequences nested below. The consequences of an answer
to the overseer belong to the overseer's episode.
"""

from ralph_tui import events as ev
from ralph_tui.events.asking import AgentRequest
from ralph_tui.state.fold import Part
from ralph_tui.state.log_entries import LogEntries, LogEntry
from ralph_tui.state.log_episodes import LEFT, OVERSEERS, Episodes
from ralph_tui.text.terms import sender_label


class EntryNesting(Part):
    """Nesting of log entries, except the overseer's."""

    def __init__(self, entries: LogEntries, episodes: Episodes) -> None:
        self._log = entries
        self._episodes = episodes
        self._guided: dict[str, LogEntry] = {}
        """Entries of guidance, by its id, until it is acknowledged."""
        self._asked: tuple[ev.QuestionAsked, LogEntry] | None = None
        self._decided: dict[str, LogEntry] = {}
        """Answered requests of this session's agent, by question id."""
        self._again: dict[str, int] = {}
        """Rows that report repeats of the same request, by question id."""
        self._restored: dict[int, LogEntry] = {}
        """Entries of restores, by the snapshot of the files before; restoring it is an undo."""
        self._window: LogEntry | None = None
        """The entry for the session's context window and its handoff."""
        self._interrupted: LogEntry | None = None
        self._escalations: dict[str, LogEntry] = {}
        """The entries that escalations are about, by escalation id."""

    def on_iteration(self, e: ev.IterationStarted) -> bool:
        self._log.iteration = e.iteration
        self._window = self._interrupted = None
        return False

    def on_session(self, e: ev.SessionStarted) -> bool:
        self._window = None
        self._decided, self._again = {}, {}
        return False

    # guidance -----------------------------------------------------------------------------------

    def on_queued(self, e: ev.GuidanceQueued) -> None:
        answer = self._episodes.consequence(e)
        if answer is None:
            answer = self._log.add(e, e.row(), "guidance", going=True)
        else:
            self._log.nest(answer, e, e.row())
        self._guided[e.guidance_id] = answer

    def on_delivered(self, e: ev.GuidanceDelivered) -> bool | None:
        entry = self._guided.get(e.guidance_id)
        if entry is None:
            return False
        self._log.nest(entry, e, e.row())
        return None

    def on_acknowledged(self, e: ev.GuidanceAcknowledged) -> bool | None:
        entry = self._guided.pop(e.guidance_id, None)
        if entry is None:
            return False
        self._log.nest(entry, e, e.row())
        if entry.kind == "guidance":
            self._log.close(entry)
        return None

    # questions ----------------------------------------------------------------------------------

    def on_question(self, e: ev.QuestionAsked) -> bool | None:
        if e.topic in OVERSEERS:
            return False
        window = self._window if e.topic == "handoff" and e.request is None else None
        if window is not None:
            self._log.nest(window, e, e.row())
        entry = window or self._log.add(e, e.row(), "question", going=True)
        self._asked, self._log.asking = (e, entry), entry
        return None

    def on_held(self, e: ev.QuestionHeld) -> bool | None:
        return self._add_question(e, e.row().nested, settles=False)

    def on_answered(self, e: ev.QuestionAnswered) -> bool | None:
        asked = self._asked[0] if self._asked is not None else None
        if asked is not None and asked.request is not None:
            return self._answered_agent(e, asked, asked.request)
        return self._add_question(e, e.row_of(asked))

    def _answered_agent(
        self, e: ev.QuestionAnswered, asked: ev.QuestionAsked, request: AgentRequest
    ) -> bool | None:
        """Put the decision into the request's row and nest the message sent to the agent."""
        if self._asked is None or asked.question_id != e.question_id:
            return False
        entry, self._asked = self._asked[1], None
        self._decided[e.question_id] = entry
        text = request.decided(e.decision(asked))
        level = "owner" if e.level == "owner" else entry.head.level  # unanswered: still a warning
        self._log.amend(entry, entry.head.seq, text=text, level=level)
        if e.said:
            self._log.nest(entry, e, ev.Row("owner", "", e.said, e.said))
        self._log.close(entry)
        return None

    def on_refused_again(self, e: ev.AgentRefusedAgain) -> bool | None:
        """Show repeats of a request in one row and update its count."""
        entry, seq = self._decided.get(e.question_id), self._again.get(e.question_id)
        if entry is None:
            return False
        if seq is None:
            self._again[e.question_id] = self._log.nest(entry, e, e.row()).seq
        else:
            self._log.amend(entry, seq, text=e.row().text)
        return None

    def on_withdrawn(self, e: ev.QuestionWithdrawn) -> bool | None:
        return self._add_question(e, e.row())

    def _add_question(
        self,
        e: ev.QuestionHeld | ev.QuestionAnswered | ev.QuestionWithdrawn,
        row: ev.Row,
        *,
        settles: bool = True,
    ) -> bool | None:
        if self._asked is None or self._asked[0].question_id != e.question_id:
            return False
        entry = self._asked[1]
        self._log.nest(entry, e, row)
        if settles:
            self._asked = None
            self._settle(entry)
        return None

    def _settle(self, entry: LogEntry) -> None:
        if entry.kind == "question":
            self._log.close(entry)

    # requests -----------------------------------------------------------------------------------

    def on_limits(self, e: ev.LimitsChanged) -> None:
        entry = self._episodes.consequence(e) or (self._interrupted if e.spared else None)
        if entry is None:
            self._log.add(e, e.row())
        else:
            self._log.nest(entry, e, e.row().nested._replace(text=f"now {e.row().text}"))

    def on_restore(self, e: ev.WorktreeRestored) -> None:
        row = e.row()
        undone = self._restored.pop(e.snapshot, None)
        entry = self._episodes.consequence(e) or undone
        if entry is None:
            entry = self._log.add(e, row, "restore")
        else:
            back = f"undone by {sender_label(e.by)}: " if entry is undone else ""
            self._log.nest(
                entry, e, row._replace(word="" if back else row.word, text=back + row.text)
            )
        self._restored[e.present] = entry

    def on_interrupt(self, e: ev.InterruptRequested) -> None:
        self._interrupted = self._log.add(e, e.row())

    # the window ---------------------------------------------------------------------------------

    def on_context(
        self,
        e: ev.ContextLevelReached
        | ev.ContextCompacted
        | ev.RolloverRequested
        | ev.RolloverBegan
        | ev.HandoffWritten,
    ) -> None:
        row = e.row()
        if self._window is None:
            self._window = self._log.add(e, row, "context")
        else:
            same = row.word == self._window.head.word
            self._log.nest(self._window, e, row.nested if same else row)

    def on_commit(self, e: ev.WorkCommitted) -> None:
        if self._window is None:
            self._log.add(e, e.row())
        else:
            self._log.nest(self._window, e, e.row())

    # escalations --------------------------------------------------------------------------------

    def on_escalated(self, e: ev.EscalationRaised) -> bool:
        made = self._episodes.latest
        entry = self._log.asking if e.about == "question" else made and made[0]
        if entry is not None and e.about != "oversight":
            self._escalations[e.escalation_id] = entry
        return False

    def on_escalation_delivered(self, e: ev.EscalationDelivered) -> None:
        entry = self._escalations.get(e.escalation_id)
        if entry is None:
            self._log.add(e, e.row())
        else:
            self._log.nest(entry, e, e.row())

    def on_leave(self, e: ev.RunFinished | ev.RunCrashed | ev.RunResumed) -> bool | None:
        """Close the entries that were still open when the run ended."""
        self._window = self._interrupted = None
        if self._asked is None:
            return False
        self._log.nest(self._asked[1], e, ev.Row("log", "", LEFT))
        self._settle(self._asked[1])
        self._asked = None
        return None
