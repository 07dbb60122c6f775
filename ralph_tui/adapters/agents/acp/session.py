"""One session of an agent that speaks the Agent Client Protocol.

The session sends ``initialize``, opens or resumes the agent's session, sets mode and model, and
then prompts. The answer to a prompt ends the turn. A refusal may end a turn early. If the model
does not know about the refusal, or the user gave a reason for it, another prompt follows.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.adapters.agents.acp import ends, opening
from ralph_tui.adapters.agents.acp.approvals import (
    FORBIDDEN_BY_RULE,
    REPEATED_REQUEST,
    Refusals,
    approval_of,
)
from ralph_tui.adapters.agents.acp.opening import Capabilities, Plan, Setting
from ralph_tui.adapters.agents.acp.quirks import ANY, of_name
from ralph_tui.adapters.agents.acp.updates import UpdateReader
from ralph_tui.adapters.agents.ends import SessionEnd, local_now
from ralph_tui.adapters.agents.output import Transcript
from ralph_tui.adapters.agents.rpc.agent_session import AgentSession
from ralph_tui.adapters.agents.rpc.approvals import Approval
from ralph_tui.adapters.agents.rpc.messages import Failure, Notification, Request
from ralph_tui.adapters.processes.child import Child
from ralph_tui.ports.agents import AgentAnswer, Turn
from ralph_tui.ports.host import Emit
from ralph_tui.text.json_fields import as_map, as_text


class AcpSession(AgentSession):
    """A running ACP agent."""

    protocol = "the Agent Client Protocol"
    linger_s = 3.0
    _reader: UpdateReader

    def __init__(
        self, child: Child, turn: Turn, emit: Emit, timeout_s: float, *, plan: Plan
    ) -> None:
        resumed = plan.ledger.names.get(turn.resume or "", "")
        before_usd = plan.ledger.costs.get(resumed, 0.0)
        reader = UpdateReader(turn.iteration, plan.root, plan.quirks, before_usd=before_usd)
        root, silence_s = Path(plan.root), plan.silence_s
        super().__init__(
            child, turn, emit, timeout_s, root=root, reader=reader, silence_s=silence_s
        )
        self._plan = plan
        self.quirks = plan.quirks
        self.takes_guidance = plan.quirks.abilities.words_mid_turn
        self.tells_context = plan.quirks is ANY or plan.quirks.abilities.context != ""
        self._able = Capabilities()
        self._refusals = Refusals()
        self._session_id = ""
        self._own_mode: str | None = None
        """The agent's mode at the start of the session."""
        self._prompts = 0
        """Number of unanswered prompts."""
        self._gave_up = False
        self._refused_status = 0
        """The last service status found in error output, or 0."""
        self.call("initialize", opening.initialize(), self._on_initialized, self._on_failed)

    # -- the port --------------------------------------------------------------------------------

    def send(self, guidance_id: str, text: str) -> bool:
        with self._lock:
            working = self._prompts > 0 and self._over is None
            if self._finished or self._end_requested or not working:
                return False
            if self._able.steering:
                self._steer(guidance_id, text)
                return True
            if self.quirks.second_prompt != "folded in":
                return False
            self._prompts += 1
            answered = partial(self._on_answered, guidance_id=guidance_id)
            self.call("session/prompt", self._prompt(text), answered, self._on_refused)
        self._emit_all([ev.GuidanceDelivered(guidance_id=guidance_id, into="session")])
        return True

    # -- the handshake ---------------------------------------------------------------------------

    def _on_initialized(self, result: object) -> Iterable[ev.Event]:
        self._able = opening.capabilities(result)
        self.quirks = of_name(self._able.name, self.quirks)
        self._reader.quirks = self._reader.tools.quirks = self.quirks
        self.takes_guidance = self._able.steering or self.quirks.second_prompt == "folded in"
        where: dict[str, object] = {"cwd": self._plan.root, "mcpServers": []}
        if self._turn.resume is None:
            self.call("session/new", where, self._on_opened, self._on_failed)
            return ()
        known = self._plan.ledger.names.get(self._turn.resume, "")
        if not (known and self._able.resume_by and self.quirks.resumes):
            return self._finish_with(
                SessionEnd("unresumable", "The agent cannot resume its session.")
            )
        self.call(
            self._able.resume_by,
            {"sessionId": known, **where},
            lambda result: self._on_opened({"sessionId": known, **as_map(result)}),
            self._on_not_resumed,
        )
        return ()

    def _on_not_resumed(self, failure: Failure) -> Iterable[ev.Event]:
        end = ends.of_failure(failure, self.quirks, local_now())
        hopeless = end.outcome in ("auth", "unknown_model", "limited")
        return self._finish_with(end if hopeless else SessionEnd("unresumable", end.reason))

    def _on_opened(self, result: object) -> Iterable[ev.Event]:
        self._session_id = as_text(as_map(result).get("sessionId"))
        if not self._session_id:
            return self._finish_with(
                SessionEnd("error", "The agent opened no session; is it up to date?")
            )
        self._plan.ledger.names[self._turn.session_id] = self._session_id
        mode, self._own_mode = self._turn.permissions.mode, opening.new_session_mode(result)
        settings = opening.settings(self._session_id, result, self.quirks, mode, self._plan.model)
        described = opening.describe_session(self._turn.iteration, self._able, result, settings)
        return [described, *self._set(settings)]

    def _set(self, settings: list[Setting]) -> Iterable[ev.Event]:
        """Apply the settings one by one, then send the prompt."""
        if not settings:
            self.began = True
            self._sync_reader()
            self._reader.begin_turn()
            self._work(self._turn.prompt if self._turn.resume else self._turn.whole_prompt)
            return ()
        setting, *others = settings

        def refused(failure: Failure) -> Iterable[ev.Event]:
            words = ends.words_of(failure)
            if setting.what == "model":
                return self._finish_with(ends.no_model(setting.value, words, self.quirks))
            # ralph-tui answers the requests of any mode by its own rules.
            text = f"The agent stays in its own mode instead of {setting.value!r}: {words}"
            k = self._turn.iteration
            described = ev.SessionDescribed(iteration=k, permission_mode=self._own_mode)
            return [ev.AgentNoted(iteration=k, text=text), described, *self._set(others)]

        self.call(setting.method, setting.params, lambda _: self._set(others), refused)
        return ()

    # -- turns -----------------------------------------------------------------------------------

    def _prompt(self, text: str) -> Mapping[str, object]:
        return {"sessionId": self._session_id, "prompt": [{"type": "text", "text": text}]}

    def _work(self, text: str) -> None:
        with self._lock:
            self._prompts += 1
        self.call("session/prompt", self._prompt(text), self._on_answered, self._on_failed)

    def _on_answered(self, result: object, guidance_id: str = "") -> Iterable[ev.Event]:
        """Handle the answer to a prompt. It ends the turn, unless the prompt was guidance."""
        self._prompts -= 1
        self._reader.turns += not guidance_id
        self._sync_reader()
        fields = as_map(result)
        counted = not guidance_id or self.quirks.usage == "turn"
        events = self._reader.turn_ended(fields, counted=counted)
        if guidance_id:
            events.append(ev.GuidanceAcknowledged(guidance_id=guidance_id))
        if self._prompts or self._over is not None:
            return events
        events += self._withdraw_open("the turn has ended")
        end = ends.of_result(fields, self._reader, self.quirks, local_now())
        went_well = end.outcome in ("success", "error") and not self._reader.failed
        words = self._remind_of_refusals(fields) if went_well else ""
        if words:
            self._reader.begin_turn()
            self._work(words)
            return events
        if self._refusals.is_stubborn:
            events.append(self._note(REPEATED_REQUEST))
        self._finish_with(end)
        return events

    def _remind_of_refusals(self, result: Mapping[str, object]) -> str:
        ended = self.quirks.refusal_ends_turn or result.get("stopReason") == "cancelled"
        with self._lock:
            if self._end_requested:
                return ""
            return self._refusals.reminder(self._reader.acts, ended_turn=ended)

    def _steer(self, guidance_id: str, text: str) -> None:
        def on_taken(_: object) -> Iterable[ev.Event]:
            return [
                ev.GuidanceDelivered(guidance_id=guidance_id, into="session"),
                ev.GuidanceAcknowledged(guidance_id=guidance_id),
            ]

        # If the agent refuses, the guidance stays queued for the next prompt.
        self.call("_session/steering", self._prompt(text), on_taken)

    def _on_refused(self, failure: Failure) -> Iterable[ev.Event]:
        """Report that the agent refused the guidance; the turn continues without it."""
        self._prompts -= 1
        if not self._prompts:
            self._finish_with(SessionEnd("success"))
        return [self._note(f"The agent did not accept your guidance: {ends.words_of(failure)}")]

    def _on_failed(self, failure: Failure) -> Iterable[ev.Event]:
        """Handle the failure of a call that the session needs."""
        self._sync_reader()
        events = [*self._withdraw_open("the turn has ended"), *self._reader.turn_ended({})]
        if self._over is None:
            self._finish_with(ends.of_failure(failure, self.quirks, local_now()))
        return events

    def _finish_with(self, end: SessionEnd) -> list[ev.Event]:
        if self._session_id:
            self._plan.ledger.costs[self._session_id] = self._reader.usage.total_usd
        return super()._finish_with(end)

    # -- notifications and requests --------------------------------------------------------------

    def _on_notification(self, notification: Notification) -> Iterable[ev.Event] | None:
        self._sync_reader()
        params = notification.params
        match notification.method:
            case "session/update":
                events = self._reader.take(as_map(params.get("update")))
                self._silence.heard(answered=self._reader.answered)
                return events
            case "$/cancel_request":
                return self._withdraw_open("the agent withdrew it", of=params.get("requestId"))
            case "_auth/status_update":
                return self._describe_billing(
                    as_text(as_map(params.get("authStatus")).get("label"))
                )
            case method if method.startswith(("_", "$/")):
                return ()  # the agent's own extensions
            case _:
                return None

    def _describe_billing(self, label: str) -> Iterable[ev.Event]:
        return [ev.SessionDescribed(iteration=self._turn.iteration, billing=label)] if label else ()

    def _on_request(self, request: Request) -> Iterable[ev.Event] | None:
        self._sync_reader()
        self._silence.heard(answered=True)
        piece, reader = as_map(request.params.get("toolCall")), self._reader
        tool_id = as_text(piece.get("toolCallId"))
        if request.method != "session/request_permission" or not tool_id:
            return None
        events, use = reader.asked(piece), reader.tools.use(tool_id)
        if use is None:
            return None
        asked = approval_of(request, use, self.quirks, self._permits, reader.tools.roots)
        return [*events, *self._decide(asked)]

    def _refuse(self, asked: Approval, answer: AgentAnswer | None = None) -> bool:
        self._reader.tools.refused(asked.tool_id)
        words = FORBIDDEN_BY_RULE if answer is None else answer.words
        self._refusals.add(asked.subject, words, self._reader.acts)
        return super()._refuse(asked, answer)

    # -- silence ---------------------------------------------------------------------------------

    def _quiet_s(self) -> float | None:
        waits = self._open or self._reader.tools.running or not self._prompts
        return None if waits else super()._quiet_s()

    def _on_too_quiet(self) -> Iterable[ev.Event]:
        self._gave_up = True
        self._end(SessionEnd("limited", limit="outage"))
        return ()

    def _take_stderr_lines(self, lines: list[bytes], log: Transcript, gap: str) -> None:
        super()._take_stderr_lines(lines, log, gap)
        statuses = filter(None, map(ends.status_in, lines))
        self._refused_status = next(statuses, self._refused_status)

    # -- the end ---------------------------------------------------------------------------------

    def _cancel_turn(self) -> bool:
        if not self._session_id:
            return False
        self.notify("session/cancel", {"sessionId": self._session_id})
        self._close_stdin()
        return True

    def _has_done_its_work(self) -> bool:
        return self._gave_up or super()._has_done_its_work()

    def _end_by_itself(self, exit_code: int | None) -> SessionEnd:
        # Some agents print their error output only at the end, so the status is known only now.
        if self._gave_up:
            return ends.of_silence(self._plan.silence_s, self._refused_status)
        return super()._end_by_itself(exit_code)

    def _end_of_exit(self, exit_code: int | None) -> SessionEnd:
        return ends.of_exit(exit_code, self.stderr_tail, began=self.began)
