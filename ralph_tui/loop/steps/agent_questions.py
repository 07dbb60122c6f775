"""Questions of a running agent: shown to the user one at a time, and answered.

A question blocks only the agent that is waiting for the answer. The default never allows anything.
Every refusal is a full sentence for the agent, so that it can continue without the refused action.
A refused action stays refused for the rest of the session, in the same words and without a
question.
"""

from dataclasses import dataclass

from ralph_tui.events import AgentAsked, AgentRefusedAgain, QuestionAnswered, QuestionAsked
from ralph_tui.events.asking import AgentRequest
from ralph_tui.events.waiting import SILENCE, Option
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.ports.agents import AgentAnswer
from ralph_tui.text.format import wait_time

ONCE = Option(key="y", answer="once", verb="allow it once")
SESSION = "allow it for this session: {}"
REFUSE = Option(key="n", answer="refuse", verb="do not allow it; the agent continues without it")
REFUSE_WORDS = Option(
    key="g", answer="refuse", verb="do not allow it, and give the agent a reason", takes="words"
)
CHOOSE = Option(key="1", answer="choose", verb="answer by number", takes="choices")
LEAVE = Option(key="n", answer="leave", verb="let the agent decide")
LEAVE_WORDS = Option(
    key="g", answer="leave", verb="let the agent decide, with a comment", takes="words"
)


@dataclass
class _Refused:
    """A refused request, and how often it was refused again without a question."""

    answer: AgentAnswer
    question_id: str
    repeats: int = 0


class AgentQuestions(Step):
    """Shows one session's questions to the user."""

    def __init__(self, k: int, run: Run, asker: QuestionAsker) -> None:
        super().__init__(run)
        self._k = k
        self._requests = run.state.asking
        self._within_s = 0.0 if run.headless else run.settings.permissions.answer_s
        self._headless = run.headless
        self._asker = asker
        self._request: AgentRequest | None = None
        """The request behind the open question."""
        self._refused: dict[str, _Refused] = {}
        """Refusals by request key."""

    def watch(self) -> None:
        """Ask the next question or close a withdrawn one; called while the agent works."""
        asking, request = self._requests, self._request
        if request is not None and request.request_id not in asking.waiting:
            last = asking.no_more
            reason = last is not None and last.request_id == request.request_id and last.reason
            self._withdraw(reason or "the agent withdrew its question")
        while asking.waiting and not self._asker.is_open and not self._scheduler.ending:
            asked = next(iter(asking.waiting.values()))
            if (refused := self._refused.get(_request_key(asked))) is not None:
                self._refuse_again(asked, refused)
                continue
            self._request = asked
            question = _question(self._k, asked, asking.agent)
            self._asker.open(question, self._decide, within_s=self._within_s)

    def end(self) -> None:
        """Withdraw the open question, because its session has ended."""
        self._withdraw("the session ended")

    def _refuse_again(self, asked: AgentAsked, refused: _Refused) -> None:
        refused.repeats += 1
        self.record(
            AgentRefusedAgain(
                iteration=self._k,
                request_id=asked.request_id,
                question_id=refused.question_id,
                times=refused.repeats,
            )
        )
        if self._scheduler.session is not None:
            self._scheduler.session.answer(asked.request_id, refused.answer)

    def _withdraw(self, reason: str) -> None:
        if self._request is not None:
            self._request = None
            self._asker.withdraw(reason)

    def _decide(self, answered: QuestionAnswered) -> None:
        request, self._request = self._request, None
        session = self._scheduler.session
        if request is not None and session is not None:
            answer = self._answer(request, answered)
            if answer.decision == "refuse" and (call := _request_key(request)):
                self._refused[call] = _Refused(answer, answered.question_id)
            session.answer(request.request_id, answer)

    def _answer(self, request: AgentRequest, answered: QuestionAnswered) -> AgentAnswer:
        match answered.answer:
            case "once":
                return AgentAnswer("once")
            case "session" if request.rule:
                return AgentAnswer("session")
            case "choose":
                return AgentAnswer("once", choices=tuple(map(tuple, answered.choices)))
        return AgentAnswer("refuse", self._words(request, answered))

    def _words(self, request: AgentRequest, answered: QuestionAnswered) -> str:
        """Return the text of a refusal, for the agent."""
        then = "Decide yourself." if request.choices else "Continue without it."
        if answered.by != SILENCE:
            said = answered.text.strip()
            no = "The user leaves the decision to you" if request.choices else "The user refused it"
            return f"{no}: {said}" if said else f"{no}. {then}"
        if self._headless or not self._within_s:
            return f"No user is available to answer. {then}"
        then = then[0].lower() + then[1:]
        return f"The user did not answer within {wait_time(self._within_s)}; {then}"


def _request_key(request: AgentRequest) -> str:
    """Return a key that identifies a repeated request; empty if the request gives no details."""
    if not request.input and not request.choices:
        return ""
    return request.model_dump_json(include={"tool", "input", "choices"})


def _question(k: int, asked: AgentAsked, agent: str) -> QuestionAsked:
    session = Option(key="s", answer="session", verb=SESSION.format(asked.rule))
    permits = [ONCE, *([session] if asked.rule else []), REFUSE, REFUSE_WORDS]
    return QuestionAsked(
        iteration=k,
        question_id="",
        topic="choice" if asked.choices else "permission",
        text=asked.asks(agent),
        options=[CHOOSE, LEAVE, LEAVE_WORDS] if asked.choices else permits,
        default=LEAVE.answer if asked.choices else REFUSE.answer,
        request=AgentRequest.model_validate(asked.model_dump(exclude={"seq", "at", "kind"})),
    )
