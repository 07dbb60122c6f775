"""The permissions that one session asks for: given by its rules, by its owner, or refused.

Rule: a refusal must reach the model. Where it ends the turn, or the owner has said more than no,
there are words for the next prompt. An answer for the session is kept here and given again, each
time for one use: no agent is told to keep a rule.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from ralph_tui.adapters.agents.acp import permission, tools
from ralph_tui.adapters.agents.acp.permission import Question, Refusal
from ralph_tui.adapters.agents.acp.updates import UpdateReader
from ralph_tui.adapters.agents.asked import asked
from ralph_tui.adapters.agents.json_fields import as_map, as_text
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.rpc.messages import Id, Request
from ralph_tui.events import AgentAskedNoMore, AgentNoted, Event
from ralph_tui.ports import AgentAnswer, Turn

MOST_REFUSALS = 30
"""Turns of one session that a refusal may end; then the session is over."""
MOST_AGAIN = 3
"""The same of turns in a row that asked for nothing but what was refused before."""
INSISTS = (
    f"The agent asked {MOST_AGAIN} turns in a row for what was refused: its session ends here."
)


class Questions:
    """Takes the requests of a session and answers them by `respond`; any thread may call."""

    def __init__(
        self, turn: Turn, root: str, reader: UpdateReader, respond: Callable[[Id, object], bool]
    ) -> None:
        self._turn = turn
        self._root = root
        self._reader = reader
        self._respond = respond
        self._permits = Permits(turn.permissions, turn.command, Path(root))
        self._lock = threading.Lock()
        self._open: dict[str, Question] = {}
        self._given: dict[Id, tuple[str, object]] = {}
        """Answers by request, with the use of a tool that was asked about: one may ask again."""
        self._granted: set[str] = set()
        """What the owner allowed for this session."""
        self._refusals: list[Refusal] = []
        """Those that the model has heard nothing of, or not all."""
        self._acts_at_refusal = -1
        self._turns_refused = 0
        self._told: set[str] = set()
        """What the model was told that it may not do."""
        self._again = 0
        """Turns in a row that asked for nothing else."""
        self._closed = False

    @property
    def open(self) -> bool:
        """Whether any waits for its owner."""
        return bool(self._open)

    @property
    def insists(self) -> bool:
        """Whether turn after turn asks for what was refused: no further prompt changes that."""
        return self._again >= MOST_AGAIN

    def take(self, request: Request) -> list[Event] | None:
        """A request; None where it asks for no permission."""
        piece = as_map(request.params.get("toolCall"))
        tool_id = as_text(piece.get("toolCallId"))
        if request.method != "session/request_permission" or not tool_id:
            return None
        before = self._given.get(request.id)
        if before is not None and before[0] == tool_id:
            self._respond(request.id, before[1])
            return []
        told = self._reader.asked(piece)
        use = self._reader.tools.use(tool_id)
        if use is None:
            return None
        with self._lock:
            return [*told, *self._decided(permission.question(request.id, request.params, use))]

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """The owner's answer; False when it is not asked any more."""
        with self._lock:
            question = self._open.pop(request_id, None)
            if question is None or self._closed:
                return False
            if answer.decision == "session":
                self._granted.add(permission.rule_of(question.use))
            if answer.decision == "refuse":
                self._refuse(question, Refusal(self._named(question), answer.words))
            else:
                self._allow(question)
        return True

    def withdraw(self, of: object = None) -> list[Question]:
        """Those that want no answer any more: that request, or all; no longer open."""
        with self._lock:
            gone = {
                name: question
                for name, question in self._open.items()
                if of is None or question.request_id == of
            }
            for name in gone:
                del self._open[name]
        return list(gone.values())

    def close(self) -> None:
        """The session is stopped: what is open, and what is asked from now on, is cancelled."""
        with self._lock:
            self._closed = True
            open_questions, self._open = self._open, {}
        for question in open_questions.values():
            self._respond(question.request_id, permission.CANCELLED)

    def unheard(self, result: Mapping[str, object]) -> str:
        """What the model has to be told after this answer to a prompt; empty: nothing."""
        with self._lock:
            if not self._refusals or self._closed or self._turns_refused >= MOST_REFUSALS:
                return ""
            quirks, reader = self._reader.quirks, self._reader
            ended = quirks.refusal_ends_turn or result.get("stopReason") == "cancelled"
            ended = ended or self._acts_at_refusal == reader.acts
            if not ended and not any(refusal.says_more for refusal in self._refusals):
                return ""
            refused = {refusal.what for refusal in self._refusals}
            self._again = self._again + 1 if refused <= self._told else 0
            self._told |= refused
            if self.insists:
                return ""
            said = "\n".join(map(str, self._refusals))
            self._refusals.clear()
            self._turns_refused += 1
        return said

    # -- one question, under the lock ------------------------------------------------------------

    def _decided(self, question: Question) -> list[Event]:
        turn, use = self._turn, question.use
        rule = permission.rule_of(use)
        if self._closed:
            self._respond(question.request_id, permission.CANCELLED)
            return []
        if rule in self._granted or permission.is_permitted(use, self._permits):
            return self._allow(question)
        if turn.permissions.mode == "ask":
            name = request_name(turn, question)
            self._open[name] = question
            why = permission.why_of(use, self._permits)
            return [asked(turn.iteration, name, use.name, input=use.shown(), why=why, rule=rule)]
        self._refuse(question, Refusal(self._named(question)))
        return [tools.denied(turn.iteration, use, question.tool_id, self._root)]

    def _allow(self, question: Question) -> list[Event]:
        chosen = permission.allowed_once(question, self._reader.quirks)
        if chosen is not None:
            self._give(question, chosen)
            return []
        self._refuse(question, Refusal(self._named(question)))
        text = f"The agent does not offer to do this once, so it may not: {question.use.title}"
        return [AgentNoted(iteration=self._turn.iteration, level="warn", text=text)]

    def _refuse(self, question: Question, refusal: Refusal) -> None:
        self._reader.tools.refused(question.tool_id)
        self._refusals.append(refusal)
        self._acts_at_refusal = self._reader.acts
        self._give(question, permission.refused(question, self._reader.quirks))

    def _give(self, question: Question, answer: object) -> None:
        self._given[question.request_id] = (question.tool_id, answer)
        self._respond(question.request_id, answer)

    def _named(self, question: Question) -> str:
        use = question.use
        return use.subject([self._root]) or use.title or use.name


def request_name(turn: Turn, question: Question) -> str:
    """What the owner's answer names it by: requests of each session are counted anew."""
    return f"{turn.session_id[-8:]}/{question.request_id}"


def taken_back(turn: Turn, question: Question, reason: str) -> AgentAskedNoMore:
    """That it wants no answer any more."""
    name = request_name(turn, question)
    return AgentAskedNoMore(iteration=turn.iteration, request_id=name, reason=reason)
