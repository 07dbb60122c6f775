"""What else has a beginning and an end in the log: guidance, questions, restores, full windows.

Rule: each is one entry; what comes of it is nested below. What an answer to the overseer has
brought about belongs to its episode.
"""

from ralph_tui.events import (
    AgentRefusedAgain,
    ContextCompacted,
    ContextLevelReached,
    EscalationDelivered,
    EscalationRaised,
    GuidanceAcknowledged,
    GuidanceDelivered,
    GuidanceQueued,
    HandoffWritten,
    InterruptRequested,
    IterationStarted,
    LimitsChanged,
    QuestionAnswered,
    QuestionAsked,
    QuestionHeld,
    QuestionWithdrawn,
    RolloverBegan,
    RolloverRequested,
    RunCrashed,
    RunFinished,
    RunResumed,
    SessionStarted,
    WorkCommitted,
    WorktreeRestored,
)
from ralph_tui.events.asking import AgentRequest
from ralph_tui.state.asking_wording import (
    asked_words,
    chosen_words,
    refused_again_words,
    request_detail,
    wanted_words,
)
from ralph_tui.state.context_wording import CONTEXT_ROWS
from ralph_tui.state.fold import Part
from ralph_tui.state.log_entries import LogEntries, LogEntry
from ralph_tui.state.log_episodes import LEFT, OVERSEERS, Episodes
from ralph_tui.state.wording import (
    ROWS,
    Row,
    decision_words,
    delivered_words,
    held_words,
)
from ralph_tui.text.format import count
from ralph_tui.text.terms import who_words

_OfQuestion = QuestionHeld | QuestionAnswered | QuestionWithdrawn


class Affairs(Part):
    """What is nested where, but for what the overseer does."""

    def __init__(self, entries: LogEntries, episodes: Episodes) -> None:
        self._log = entries
        self._episodes = episodes
        self._guided: dict[str, LogEntry] = {}
        """By guidance, until it is acknowledged."""
        self._asked: tuple[QuestionAsked, LogEntry] | None = None
        self._decided: dict[str, LogEntry] = {}
        """By question, what the agent of this session has asked and was answered."""
        self._again: dict[str, int] = {}
        """By question, the row that tells that the agent asks the same again."""
        self._restored: dict[int, LogEntry] = {}
        """By the snapshot that holds what was there before: going back there is the undo."""
        self._window: LogEntry | None = None
        """The session's window, and its handoff."""
        self._interrupted: LogEntry | None = None
        self._escalations: dict[str, LogEntry] = {}
        """By escalation, the entry that people are told of."""

    def on_iteration(self, e: IterationStarted) -> bool:
        self._log.iteration = e.iteration
        self._window = self._interrupted = None
        return False

    def on_session(self, e: SessionStarted) -> bool:
        self._window = None
        self._decided, self._again = {}, {}
        return False

    # guidance -----------------------------------------------------------------------------------

    def on_queued(self, e: GuidanceQueued) -> None:
        answer = self._episodes.consequence(e)
        by = "" if e.by == "you" else f" ({who_words(e.by)})"
        row = Row("owner", "GUIDE", f"{e.text}{by}")
        if answer is None:
            answer = self._log.add(e, row, "guidance", going=True)
        else:
            self._log.nest(answer, e, row)
        self._guided[e.guidance_id] = answer

    def on_delivered(self, e: GuidanceDelivered) -> bool | None:
        entry = self._guided.get(e.guidance_id)
        if entry is None:
            return False
        self._log.nest(entry, e, Row("owner", "", delivered_words(e)))
        return None

    def on_acknowledged(self, e: GuidanceAcknowledged) -> bool | None:
        entry = self._guided.pop(e.guidance_id, None)
        if entry is None:
            return False
        self._log.nest(entry, e, Row("good", "", "acknowledged by the agent"))
        if entry.kind == "guidance":
            self._log.close(entry)
        return None

    # questions ----------------------------------------------------------------------------------

    def on_question(self, e: QuestionAsked) -> bool | None:
        if e.topic in OVERSEERS:
            return False
        if e.request is not None:
            row = Row("warn", "ASKED", wanted_words(e.request), request_detail(e.request))
            entry = self._log.add(e, row, "question", going=True)
            self._asked, self._log.asking = (e, entry), entry
            return None
        choices = "\n".join(f"{o.key}  {o.verb}" for o in e.options)
        default = f"without an answer: {e.default}" if e.default else "it waits for an answer"
        row = Row("warn", "QUESTION", e.text, f"{choices}\n{default}")
        if e.topic == "handoff" and self._window is not None:
            self._log.nest(self._window, e, row)
            entry = self._window
        else:
            entry = self._log.add(e, row, "question", going=True)
        self._asked = (e, entry)
        self._log.asking = entry
        return None

    def on_held(self, e: QuestionHeld) -> bool | None:
        return self._tell(e, Row("owner", "", held_words(e)), settles=False)

    def on_answered(self, e: QuestionAnswered) -> bool | None:
        asked = self._asked[0] if self._asked is not None else None
        if asked is not None and asked.request is not None:
            return self._answered_agent(e, asked, asked.request)
        words = f": {e.text}" if e.text and e.answer == "guide" else ""
        row = Row("owner", "", f"{decision_words(e, asked)}{words}", e.text)
        return self._tell(e, row)

    def _answered_agent(
        self, e: QuestionAnswered, asked: QuestionAsked, request: AgentRequest
    ) -> bool | None:
        """Who decided what stands in its row; nested is what was said to the agent."""
        if self._asked is None or asked.question_id != e.question_id:
            return False
        entry, self._asked = self._asked[1], None
        self._decided[e.question_id] = entry
        text = asked_words(request, decision_words(e, asked))
        self._log.amend(entry, entry.head.seq, text=text, level="owner")
        if said := chosen_words(e.choices) or e.text:
            self._log.nest(entry, e, Row("owner", "", said, said))
        self._log.close(entry)
        return None

    def on_refused_again(self, e: AgentRefusedAgain) -> bool | None:
        """Told once; how often is brought up to date."""
        entry, seq = self._decided.get(e.question_id), self._again.get(e.question_id)
        if entry is None:
            return False
        text = refused_again_words(e.times)
        if seq is None:
            self._again[e.question_id] = self._log.nest(entry, e, Row("log", "", text)).seq
        else:
            self._log.amend(entry, seq, text=text)
        return None

    def on_withdrawn(self, e: QuestionWithdrawn) -> bool | None:
        return self._tell(e, Row("log", "", f"no answer was needed: {e.reason}"))

    def _tell(
        self,
        e: QuestionHeld | QuestionAnswered | QuestionWithdrawn,
        row: Row,
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

    # what was asked for -------------------------------------------------------------------------

    def on_limits(self, e: LimitsChanged) -> None:
        entry = self._episodes.consequence(e) or (self._interrupted if e.spared else None)
        money = "" if e.budget_usd is None else f", ${e.budget_usd:,.2f}"
        why = f": the interrupted iteration {e.spared} is not spent" if e.spared else ""
        text = f"{count(e.max_iterations, 'iteration')}{money}, by {who_words(e.by)}{why}"
        if entry is None:
            self._log.add(e, Row("owner", "NOW", text))
        else:
            self._log.nest(entry, e, Row("owner", "", f"now {text}"))

    def on_restore(self, e: WorktreeRestored) -> None:
        row = ROWS[WorktreeRestored](e)
        assert row is not None
        undone = self._restored.pop(e.snapshot, None)
        entry = self._episodes.consequence(e) or undone
        if entry is None:
            entry = self._log.add(e, row, "restore")
        else:
            back = f"undone by {who_words(e.by)}: " if entry is undone else ""
            self._log.nest(
                entry, e, row._replace(word="" if back else row.word, text=back + row.text)
            )
        self._restored[e.present] = entry

    def on_interrupt(self, e: InterruptRequested) -> None:
        self._interrupted = self._log.add(e, Row("owner", "INTERRUPT", f"by {who_words(e.by)}"))

    # the window ---------------------------------------------------------------------------------

    def on_context(
        self,
        e: ContextLevelReached
        | ContextCompacted
        | RolloverRequested
        | RolloverBegan
        | HandoffWritten,
    ) -> bool | None:
        row = CONTEXT_ROWS[type(e)](e)
        if row is None:
            return False
        if self._window is None:
            self._window = self._log.add(e, row, "context")
        else:
            same = row.word == self._window.head.word
            self._log.nest(self._window, e, row._replace(word="" if same else row.word))
        return None

    def on_commit(self, e: WorkCommitted) -> None:
        row = CONTEXT_ROWS[WorkCommitted](e)
        assert row is not None
        if self._window is None:
            self._log.add(e, row)
        else:
            self._log.nest(self._window, e, row)

    # people elsewhere ---------------------------------------------------------------------------

    def on_escalated(self, e: EscalationRaised) -> bool:
        made = self._episodes.latest
        entry = self._log.asking if e.about == "question" else made and made[0]
        if entry is not None and e.about != "oversight":
            self._escalations[e.escalation_id] = entry
        return False

    def on_told(self, e: EscalationDelivered) -> None:
        row = Row("log" if e.ok else "warn", e.channel.upper(), e.text)
        entry = self._escalations.get(e.escalation_id)
        if entry is None:
            self._log.add(e, row)
        else:
            self._log.nest(entry, e, row)

    def on_leave(self, e: RunFinished | RunCrashed | RunResumed) -> bool | None:
        """What was open is not any more."""
        self._window = self._interrupted = None
        if self._asked is None:
            return False
        self._log.nest(self._asked[1], e, Row("log", "", LEFT))
        self._settle(self._asked[1])
        self._asked = None
        return None
