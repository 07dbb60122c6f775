"""Episodes in the log: an alarm, the overseer's actions, the decisions and their effects.

Rule: everything about progress belongs to the open episode. An episode opens with the first alarm
or question and ends with a new best. If the user was not asked, it ends with its condition. Other
subjects, such as a budget, have an entry each.
"""

from dataclasses import dataclass
from typing import Final

from ralph_tui import events as ev
from ralph_tui.events.control import clause
from ralph_tui.state.fold import Part
from ralph_tui.state.log_entries import LogEntries, LogEntry
from ralph_tui.state.oversight import OPENING
from ralph_tui.text.format import percent
from ralph_tui.text.terms import subject_words

PROGRESS: Final = "progress"
_OF_PROGRESS = (
    "stuck oscillating regressing objective_deviation validation circuit no_progress strategy pace"
)
GROUPS = dict.fromkeys(_OF_PROGRESS.split(), PROGRESS)
"""Maps each subject to the group that it is shown with."""
WAITING = "waiting for your answer"
NOTED = "reported, no action taken"
GIVEN_UP = "the agent is stopped"
LEFT = "the run ended without an answer"
OWED: Final[dict[str, type[ev.Event]]] = {
    "guide": ev.GuidanceQueued,
    "extend": ev.LimitsChanged,
    "roll_back": ev.WorktreeRestored,
    "abort": ev.AbortRequested,
}
"""The event that follows from each answer."""
LOUD = ("REDIRECT", "PAUSE", "ABORT")
"""Levels shown as the word of their row; other rows show their subject."""
OVERSEERS = ("redirect", "pause")
"""Topics of the questions that belong to an intervention."""


@dataclass
class _Asked:
    """A question of the overseer and the row that shows its answer."""

    question: ev.QuestionAsked
    entry: LogEntry
    seq: int
    said: str
    """The row's text before the answer."""


class Episodes(Part):
    """Nesting of log entries about alarms and interventions."""

    def __init__(self, entries: LogEntries) -> None:
        self._log = entries
        self._groups: dict[str, LogEntry] = {}
        """For each group, the entry to which its next event is added."""
        self._said: dict[str, set[str]] = {}
        """The sentences in each group's entry."""
        self._alarms: set[str] = set()
        """Active alarms about progress."""
        self._responded: int | None = None
        """The iteration in which the overseer responded to the open episode; None if it has not."""
        self._made: dict[tuple[int, str], LogEntry] = {}
        """Entries of interventions, by iteration and level."""
        self.latest: tuple[LogEntry, int, str] | None = None
        """The latest intervention: its entry, its row's event number and the row's text."""
        self._asked: dict[str, _Asked] = {}
        self._owed: tuple[str, LogEntry] | None = None
        """An answer whose consequence has not happened yet, and the answer's entry."""
        self._best = self._completion = 0.0
        self._improved = False
        """True if the last measurement was a new best."""

    # requests -----------------------------------------------------------------------------------

    def consequence(self, event: ev.Event) -> LogEntry | None:
        """Return the entry whose answer caused this event; None if no answer did."""
        if self._owed is None or not isinstance(event, OWED[self._owed[0]]):
            return None
        entry, self._owed = self._owed[1], None
        return entry

    def adopt(self, group: str, entry: LogEntry) -> None:
        """Let the next events of `group` join this entry."""
        self._groups[group], self._said[group] = entry, set()

    @property
    def current(self) -> LogEntry | None:
        """The open episode, if any."""
        entry = self._groups.get(PROGRESS)
        return entry if entry is not None and entry.open else None

    def without_known(self, sentence: str) -> str:
        """Remove from a sentence what the open episode already says."""
        for said in self._said.get(PROGRESS, ()):
            sentence = sentence.replace(said, "")
        return " ".join(sentence.split())

    # alarms -------------------------------------------------------------------------------------

    def on_reading(self, e: ev.ReadingTaken) -> bool:
        self._completion = e.completion
        self._improved = e.completion > self._best or e.restarted
        self._best = e.completion if e.restarted else max(self._best, e.completion)
        return False

    def on_raised(self, e: ev.AlarmRaised) -> None:
        group = GROUPS.get(e.alarm.lower(), "budget")
        if group == PROGRESS:
            self._alarms.add(e.alarm)
        self._nest(group, e, e.row(), e.reason, opens=group == PROGRESS)

    def on_cleared(self, e: ev.AlarmCleared) -> bool | None:
        self._alarms.discard(e.alarm)
        if e.alarm.lower() not in GROUPS or self._alarms or self._responded is not None:
            return False
        return self._end(e)

    def on_checked(self, e: ev.HealthChecked) -> bool | None:
        # One episode may end in the iteration that opens the next one.
        if e.ended is None or self._responded is None or self._responded == e.iteration:
            return False
        return self._end(e)

    def _end(self, e: ev.AlarmCleared | ev.HealthChecked | ev.InterventionMade) -> bool | None:
        entry = self._groups.pop(PROGRESS, None)
        self._responded = None
        if entry is None or not entry.open:
            return False
        completion = percent(self._completion)
        how = f"over: a new best, {completion}" if self._improved else f"over at {completion}"
        self._log.nest(entry, e, ev.Row("good" if self._improved else "log", "", how))
        self._log.close(entry)
        return None

    def _nest(
        self,
        group: str,
        event: ev.AlarmRaised | ev.InterventionMade | ev.ConflictsFound,
        row: ev.Row,
        said: str,
        *,
        opens: bool,
    ) -> tuple[LogEntry, bool]:
        """Nest a row in its group's entry, or begin one.

        Returns the entry and whether the row was nested.
        """
        entry = self._groups.get(group)
        nests = entry is not None and (entry.open or group != PROGRESS)
        if entry is not None and nests:
            same = row.word == entry.head.word
            self._log.nest(entry, event, row.nested if same else row)
            entry.open = entry.open or opens
        else:
            entry = self._log.add(event, row, "episode" if opens else "notice", going=opens)
            self._said[group] = set()
            if opens or group != PROGRESS:
                self._groups[group] = entry
        self._said[group].add(said)
        return entry, nests

    # interventions ------------------------------------------------------------------------------

    def on_intervention(self, e: ev.InterventionMade) -> bool | None:
        if e.about == "validation" and e.level == "WARN" and e.would is None:
            return False  # the issues have a row of their own
        group = GROUPS.get(e.about, e.about)
        if e.level == "REDIRECT":
            # a new episode opens only after the old one ends
            if self._responded not in (None, e.iteration):
                self._end(e)
            self._responded = e.iteration
        elif e.about in OPENING and e.level == "PAUSE" and self._responded is None:
            self._responded = e.iteration
        known = e.reason in self._said.get(group, ()) and group in self._groups
        asks = e.level in ("REDIRECT", "PAUSE")
        text = "" if known else clause(_new_part(e.reason, self._said.get(group, set())))
        if e.about == "owner":
            text = GIVEN_UP
        elif known and not asks:
            text = NOTED
        word = e.level if e.level in LOUD else subject_words(e.about).upper()
        row = ev.Row(e.row().level, word, text, "\n".join([e.reason, *e.evidence]))
        entry, nested = self._nest(
            group, e, row, e.reason, opens=group == PROGRESS and self._responded == e.iteration
        )
        if not nested and e.level in LOUD and e.about != "owner":
            text = f"{subject_words(e.about)}: {text}"
            self._log.amend(entry, e.seq, text=text)
        self.latest = (entry, e.seq, text)
        self._made[e.iteration, e.level] = entry
        if asks and nested and not self._log.recomputed:
            self._log.amend(entry, e.seq, text=f"{WAITING} · {text}" if text else WAITING)
        return None

    def _decided(self, asked: _Asked, event: ev.Event, decision: str) -> None:
        """Put the decision first in its row, where it cannot be cut off."""
        if asked.seq == asked.entry.head.seq:
            self._log.nest(asked.entry, event, ev.Row("owner", "", decision))
        else:
            text = f"{decision} · {asked.said}" if asked.said else decision
            self._log.amend(asked.entry, asked.seq, text=text)

    def on_conflicts(self, e: ev.ConflictsFound) -> bool | None:
        row = e.row()
        if row.text in self._said.get("conflicts", ()):
            return False
        self._nest("conflicts", e, row, row.text, opens=False)
        return None

    def on_effect(self, e: ev.EffectObserved) -> bool | None:
        entry = self._made.get((e.of, e.level))
        if entry is None:
            return False
        row, within = e.row(), [made for made, one in self._made.items() if one is entry]
        if within[-1] != (e.of, e.level):  # the row would appear below a later intervention
            row = row._replace(text=e.words)
        self._log.nest(entry, e, row)
        return None

    # questions ----------------------------------------------------------------------------------

    def on_question(self, e: ev.QuestionAsked) -> bool:
        if e.topic in OVERSEERS and self.latest is not None:
            self._log.asking = self.latest[0]
            self._asked[e.question_id] = _Asked(e, *self.latest)
        return False

    def on_held(self, e: ev.QuestionHeld) -> bool:
        asked = self._asked.get(e.question_id)
        if asked is not None:
            self._log.nest(asked.entry, e, e.row().nested)
        return asked is not None

    def on_answered(self, e: ev.QuestionAnswered) -> bool | None:
        asked = self._asked.pop(e.question_id, None)
        if asked is None:
            return False
        self._decided(asked, e, e.decision(asked.question))
        self._owed = (e.answer, asked.entry) if e.answer in OWED else None
        return None

    def on_withdrawn(self, e: ev.QuestionWithdrawn) -> bool:
        asked = self._asked.pop(e.question_id, None)
        if asked is not None:
            self._decided(asked, e, e.row().text)
        return asked is not None

    def on_over(self, e: ev.RunFinished | ev.RunCrashed | ev.RunResumed) -> bool:
        """Mark the questions that were still open when the run ended."""
        for asked in self._asked.values():
            self._decided(asked, e, LEFT)
        left, self._asked = bool(self._asked), {}
        return left


def _new_part(reason: str, said: set[str]) -> str:
    """Return what a sentence adds to the known ones, such as ``and the pace is enough``."""
    for sentence in said:
        if reason.startswith(sentence.rstrip(".")):
            return reason.removeprefix(sentence.rstrip(".")).lstrip(",. ") or reason
    return reason
