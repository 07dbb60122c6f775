"""One session of an agent that speaks the Agent Client Protocol.

``initialize``, a session (new, or one that goes on), its mode and model, then prompts: the answer
to a prompt is the end of its turn. What ends a turn without being its end (a refusal of which the
model heard nothing, the owner's words to it) is prompted after, in the same session.
"""

import time
from collections.abc import Iterable, Mapping
from functools import partial

from ralph_tui.adapters.agents.acp import ends, opening
from ralph_tui.adapters.agents.acp.opening import Capabilities, Plan, Setting
from ralph_tui.adapters.agents.acp.questions import INSISTS, Questions, taken_back
from ralph_tui.adapters.agents.acp.quirks import ANY, of_name
from ralph_tui.adapters.agents.acp.updates import UpdateReader
from ralph_tui.adapters.agents.ends import SessionEnd, Tally
from ralph_tui.adapters.agents.json_fields import as_map, as_text
from ralph_tui.adapters.agents.output import Transcript
from ralph_tui.adapters.agents.rpc.messages import Failure, Notification, Request
from ralph_tui.adapters.agents.rpc.rpc_session import RpcSession
from ralph_tui.adapters.agents.rpc.silence import Silence
from ralph_tui.adapters.processes.child import Child
from ralph_tui.events import (
    AgentNoted,
    Event,
    GuidanceAcknowledged,
    GuidanceDelivered,
    SessionDescribed,
)
from ralph_tui.ports import AgentAnswer, Emit, Turn

LINGER_S = 3.0
"""Seconds that an agent which has nothing left to do may take to end by itself."""


class AcpSession(RpcSession):
    """A running agent."""

    protocol = "the Agent Client Protocol"

    def __init__(
        self, child: Child, turn: Turn, emit: Emit, timeout_s: float, *, plan: Plan
    ) -> None:
        super().__init__(child, turn, emit, timeout_s)
        self._plan = plan
        self.quirks = plan.quirks
        self.takes_guidance = plan.quirks.abilities.words_mid_turn
        self.tells_context = plan.quirks is ANY or plan.quirks.abilities.context != ""
        self._able = Capabilities()
        resumed = plan.ledger.names.get(turn.resume or "", "")
        self._reader = UpdateReader(
            turn.iteration, plan.root, plan.quirks, before_usd=plan.ledger.costs.get(resumed, 0.0)
        )
        self._questions = Questions(turn, plan.root, self._reader, self.respond)
        self._session_id = ""
        self._own_mode: str | None = None
        """The agent's mode as the session began."""
        self._prompts = 0
        """Prompts that are not answered."""
        self._turns = 0
        self._ended_as: SessionEnd | None = None
        """How it ended by its own account."""
        self._silence = Silence(plan.silence_s)
        self._gave_up = False
        self._refused_status = 0
        """The last status of the service that its error output names."""
        self.call("initialize", opening.initialize(), self._initialized, self._failed)

    # -- the port --------------------------------------------------------------------------------

    def send(self, guidance_id: str, text: str) -> bool:
        """Hand words over; False when the agent takes none now."""
        with self._lock:
            working = self._prompts > 0 and self._ended_as is None
            if self._finished or self._end_requested or not working:
                return False
            if self._able.steering:
                self._steer(guidance_id, text)
                return True
            if self.quirks.second_prompt != "folded in":
                return False
            self._prompts += 1
            answered = partial(self._answered, guidance_id=guidance_id)
            self.call("session/prompt", self._prompt(text), answered, self._not_taken)
        self._emit_all([GuidanceDelivered(guidance_id=guidance_id, into="session")])
        return True

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """See `Session`; an answer for the session allows the same again, and is kept here."""
        return not self._finished and self._questions.answer(request_id, answer)

    # -- the handshake ---------------------------------------------------------------------------

    def _initialized(self, result: object) -> Iterable[Event]:
        self._able = opening.capabilities(result)
        self.quirks = of_name(self._able.name, self.quirks)
        self._reader.quirks = self._reader.tools.quirks = self.quirks
        self.takes_guidance = self._able.steering or self.quirks.second_prompt == "folded in"
        where: dict[str, object] = {"cwd": self._plan.root, "mcpServers": []}
        if self._turn.resume is None:
            self.call("session/new", where, self._opened, self._failed)
            return ()
        known = self._plan.ledger.names.get(self._turn.resume, "")
        if not (known and self._able.resume_by and self.quirks.resumes):
            return self._over(SessionEnd("unresumable", "The agent cannot resume its session."))
        self.call(
            self._able.resume_by,
            {"sessionId": known, **where},
            lambda result: self._opened({"sessionId": known, **as_map(result)}),
            self._not_resumed,
        )
        return ()

    def _not_resumed(self, failure: Failure) -> Iterable[Event]:
        end = ends.of_failure(failure, self.quirks, ends.local_now())
        hopeless = end.outcome in ("auth", "unknown_model", "limited")
        return self._over(end if hopeless else SessionEnd("unresumable", end.reason))

    def _opened(self, result: object) -> Iterable[Event]:
        self._session_id = as_text(as_map(result).get("sessionId"))
        if not self._session_id:
            return self._over(SessionEnd("error", "The agent opened no session; is it up to date?"))
        self._plan.ledger.names[self._turn.session_id] = self._session_id
        mode, self._own_mode = self._turn.permissions.mode, opening.told_mode(result)
        settings = opening.settings(self._session_id, result, self.quirks, mode, self._plan.model)
        described = opening.described(self._turn.iteration, self._able, result, settings)
        return [described, *self._set(settings)]

    def _set(self, settings: list[Setting]) -> Iterable[Event]:
        """Each in its turn, then the prompt."""
        if not settings:
            self.began = True
            self._look()
            self._reader.prompted()
            self._work(self._turn.prompt if self._turn.resume else self._turn.whole_prompt)
            return ()
        setting, *others = settings

        def refused(failure: Failure) -> Iterable[Event]:
            words = ends.words_of(failure)
            if setting.what == "model":
                return self._over(ends.no_model(setting.value, words, self.quirks))
            # Whatever its mode asks for is answered as ours says.
            text = f"The agent keeps its own mode, not {setting.value!r}: {words}"
            k = self._turn.iteration
            described = SessionDescribed(iteration=k, permission_mode=self._own_mode)
            return [AgentNoted(iteration=k, text=text), described, *self._set(others)]

        self.call(setting.method, setting.params, lambda _: self._set(others), refused)
        return ()

    # -- turns -----------------------------------------------------------------------------------

    def _prompt(self, text: str) -> Mapping[str, object]:
        return {"sessionId": self._session_id, "prompt": [{"type": "text", "text": text}]}

    def _work(self, text: str) -> None:
        with self._lock:
            self._prompts += 1
        self.call("session/prompt", self._prompt(text), self._answered, self._failed)

    def _answered(self, result: object, guidance_id: str = "") -> Iterable[Event]:
        """The answer to a prompt: its turn is over. That to words within a turn is no turn."""
        self._prompts -= 1
        self._turns += not guidance_id
        self._look()
        fields = as_map(result)
        counted = not guidance_id or self.quirks.usage == "turn"
        told = self._reader.turn_ended(fields, counted=counted)
        if guidance_id:
            told.append(GuidanceAcknowledged(guidance_id=guidance_id))
        if self._prompts or self._ended_as is not None:
            return told
        told += self._withdrawn("the turn is over")
        end = ends.of_result(fields, self._reader, self.quirks, ends.local_now())
        went_well = end.outcome in ("success", "error") and not self._reader.failed
        words = self._questions.unheard(fields) if went_well else ""
        if words:
            self._reader.prompted()
            self._work(words)
            return told
        if self._questions.insists:
            told.append(self._note(INSISTS))
        self._over(end)
        return told

    def _steer(self, guidance_id: str, text: str) -> None:
        def taken(_: object) -> Iterable[Event]:
            return [
                GuidanceDelivered(guidance_id=guidance_id, into="session"),
                GuidanceAcknowledged(guidance_id=guidance_id),
            ]

        # Where it is refused, the words stay queued, and the next prompt carries them.
        self.call("_session/steering", self._prompt(text), taken)

    def _not_taken(self, failure: Failure) -> Iterable[Event]:
        """Words within a turn were refused: the turn goes on without them."""
        self._prompts -= 1
        if not self._prompts:
            self._over(SessionEnd("success"))
        return [self._note(f"The agent did not take your words: {ends.words_of(failure)}")]

    def _failed(self, failure: Failure) -> Iterable[Event]:
        """A call that the session needs was refused."""
        self._look()
        told = [*self._withdrawn("the turn is over"), *self._reader.turn_ended({})]
        if self._ended_as is None:
            self._over(ends.of_failure(failure, self.quirks, ends.local_now()))
        return told

    def _over(self, end: SessionEnd) -> Iterable[Event]:
        """Nothing is left to do: the agent may end."""
        self._ended_as = end
        if self._session_id:
            self._plan.ledger.costs[self._session_id] = self._reader.usage.total_usd
        self._close_stdin()
        return ()

    # -- what it tells and asks ------------------------------------------------------------------

    def _look(self) -> None:
        self._reader.look(self.offset, time.monotonic())
        self._silence.heard()

    def _on_notification(self, notification: Notification) -> Iterable[Event] | None:
        self._look()
        params = notification.params
        match notification.method:
            case "session/update":
                told = self._reader.take(as_map(params.get("update")))
                self._silence.heard(answered=self._reader.answered)
                return told
            case "$/cancel_request":
                return self._withdrawn("the agent took it back", of=params.get("requestId"))
            case "_auth/status_update":
                return self._billed(as_text(as_map(params.get("authStatus")).get("label")))
            case method if method.startswith(("_", "$/")):
                return ()  # extensions of its own
            case _:
                return None

    def _billed(self, label: str) -> Iterable[Event]:
        return [SessionDescribed(iteration=self._turn.iteration, billing=label)] if label else ()

    def _on_request(self, request: Request) -> Iterable[Event] | None:
        self._look()
        self._silence.heard(answered=True)
        return self._questions.take(request)

    def _withdrawn(self, reason: str, *, of: object = None) -> list[Event]:
        """Questions that want no answer any more: that one, or all."""
        gone = self._questions.withdraw(of)
        for question in gone:
            self.withdraw(question.request_id)
        return [taken_back(self._turn, question, reason) for question in gone]

    # -- silence ---------------------------------------------------------------------------------

    def _idle_after_s(self) -> float | None:
        if self._ended_as is not None:
            return LINGER_S
        if not self.began or self._end_requested:
            return super()._idle_after_s()
        if self._questions.open or self._reader.tools.running or not self._prompts:
            return None
        return self._silence.next_s()

    def _on_idle(self) -> Iterable[Event]:
        if self._ended_as is not None:
            self._child.hurry()
            return ()
        if not self.began or self._end_requested:
            return super()._on_idle()
        if said := self._silence.passes():
            return [self._note(said).model_copy(update={"service": "silent"})]
        self._gave_up = True
        self._end(SessionEnd("limited", limit="outage"))
        return ()

    def _take_stderr_lines(self, lines: list[bytes], log: Transcript, gap: str) -> None:
        super()._take_stderr_lines(lines, log, gap)
        told = filter(None, map(ends.status_in, lines))
        self._refused_status = next(told, self._refused_status)

    # -- the end ---------------------------------------------------------------------------------

    def _on_output_closed(self) -> Iterable[Event]:
        told = self._reader.turn_ended({}, counted=False)
        return [*self._withdrawn("the agent is gone"), *told]

    def _interrupt(self) -> bool:
        self._reader.tools.interrupted = True
        self._questions.close()
        if not self._session_id:
            return False
        self.notify("session/cancel", {"sessionId": self._session_id})
        self._close_stdin()
        return True

    def _has_done_its_work(self) -> bool:
        return self._ended_as is not None or self._gave_up

    def _own_end(self, exit_code: int | None) -> SessionEnd:
        if self._gave_up:
            return ends.of_silence(self._plan.silence_s, self._refused_status)
        if self._ended_as is not None:
            return self._ended_as
        return ends.of_exit(exit_code, self.stderr_tail, began=self.began)

    def _tally(self) -> Tally:
        reader = self._reader
        return Tally(
            cost_usd=reader.usage.cost_usd,
            tokens=reader.usage.tokens,
            turns=self._turns,
            tool_calls=reader.tools.calls,
            tool_errors=reader.tools.errors,
        )
