"""A session of the stub: turns of answers and tools, with what the user says in between."""

import time
import uuid
from pathlib import Path

from tests.doubles.endings import finish, fold, refuse, structured, summarise
from tests.doubles.inbox import BadLineError, EndedBySignalError, Inbox, InterruptedTurnError
from tests.doubles.requests import respond
from tests.doubles.scenario import Answer, Scenario, Script, ToolUse
from tests.doubles.service import Service
from tests.doubles.turns import CallFailedError, LimitedError, Limits, Message, Turn
from tests.doubles.wire import Json, Sums, Wire, new_id
from tests.doubles.workbench import Workbench


class Session:
    """Plays one session; `run` gives the exit code."""

    def __init__(
        self, scenario: Scenario, script: Script, wire: Wire, limits: Limits, root: Path
    ) -> None:
        self._scenario = scenario
        self._wire = wire
        self._limits = limits
        self._inbox = Inbox(self._on_control)
        self._service = Service(script, self._inbox, wire, self._count_broken, self._replay)
        self._bench = Workbench(wire, self._inbox, limits, root)
        self._messages: list[Message] = []
        self._turn = Turn()
        self._working = False
        self._exit_code = 0
        self._told_of_limits = wire.key_source != "none"

    def run(self, prompt: str | None) -> int:
        """One-shot with a prompt; else messages come on standard input until it ends."""
        if prompt is None:
            self._inbox.listen()
        else:
            self._messages.append(Message(prompt))
        try:
            while message := self._next_message():
                self._working = True
                self._play(message)
                self._working = False
        except EndedBySignalError as ended:
            self._bench.end()
            return ended.code
        except InterruptedTurnError:
            # After a signal: report the turn and stop.
            return 0
        return self._exit_code

    def _next_message(self) -> Message | None:
        """The next message to handle; None when input has ended and nothing runs any more."""
        bench = self._bench
        self._inbox.wait(
            None,
            lambda: (
                self._messages
                or bench.finished
                or (self._inbox.input_ended and not bench.background)
            ),
        )
        waiting = self._messages or bench.finished
        return waiting.pop(0) if waiting else None

    def _play(self, message: Message) -> None:
        """One turn."""
        turn = self._turn = Turn()
        self._lifecycle(message.uuid, "started")
        self._wire.init()
        if not message.origin:
            self._add_message(turn, message)
        try:
            self._converse(turn)
            self._end(turn, message, "success", "completed")
        except CallFailedError as failed:
            self._fail(turn, message, failed)
        except LimitedError as limited:
            self._end(turn, message, limited.subtype, limited.reason, limited.about)
        except InterruptedTurnError as interrupted:
            self._interrupted(turn, message)
            if interrupted.by_signal:
                raise

    def _converse(self, turn: Turn) -> None:
        """Answers and tools until an answer wants no more tools."""
        while True:
            answer = self._service.call()
            if answer.compacts_to:
                summarise(self._wire, turn, answer.compacts_to)
            turn.answers += 1
            self._speak(answer, turn)
            if not answer.tools and answer.stop_reason == "refusal":
                refuse(self._wire, turn, answer)
            elif not answer.tools:
                return
            while self._messages:
                self._take(turn, self._messages.pop(0))

    def _speak(self, answer: Answer, turn: Turn) -> None:
        turn.last_text = answer.text
        turn.stop_reason = answer.stop_reason or ("tool_use" if answer.tools else "end_turn")
        tokens = (answer.input_tokens, answer.cached_tokens, answer.output_tokens)
        self._wire.context = answer.input_tokens + answer.cached_tokens
        uses = self._say(answer, {})
        self._allowed()
        self._within_budget()
        turn.sums.add(*tokens)
        for tool, tool_id in uses:
            if tool.name == "Task":
                self._delegate(tool, tool_id, turn)
            elif tool.name == "StructuredOutput" and self._limits.structured:
                structured(self._wire, turn, tool, tool_id)
            else:
                self._bench.use(tool, tool_id, turn, {})
        if answer.hook_stops:
            turn.last_text = ""
            raise LimitedError("success", "hook_stopped")
        limit = self._limits.turns
        if answer.tools and limit is not None and turn.answers >= limit:
            errors = [f"Reached maximum number of turns ({limit})"]
            raise LimitedError("error_max_turns", "max_turns", errors=errors)

    def _within_budget(self) -> None:
        budget = self._limits.budget_usd
        if budget is not None and self._wire.cost() >= budget:
            reason = "budget_exhausted" if self._wire.modern else None
            errors = [f"Reached maximum budget (${budget:g})"]
            raise LimitedError("error_max_budget_usd", reason, errors=errors)

    def _say(self, answer: Answer, about: Json) -> list[tuple[ToolUse, str]]:
        """An answer's blocks; the tools it wants, with their identifiers."""
        message_id = new_id("msg")
        tokens = (answer.input_tokens, answer.cached_tokens, answer.output_tokens)
        usage = Sums(*tokens).usage()
        self._wire.count(tokens)
        if answer.text and not (about and not answer.tools):
            # The last words of a subagent come as the result of its tool.
            self._wire.assistant({"type": "text", "text": answer.text}, message_id, usage, about)
        uses = [(tool, new_id("toolu")) for tool in answer.tools]
        for tool, tool_id in uses:
            if about:
                self._progress(tool, about)
            block = {"type": "tool_use", "id": tool_id, "name": tool.name, "input": tool.input}
            self._wire.assistant(block, message_id, usage, about)
        return uses

    # -- subagents -------------------------------------------------------------------------------

    def _delegate(self, tool: ToolUse, tool_id: str, turn: Turn) -> None:
        prompt, description = tool.input["prompt"], tool.input["description"]
        kind = tool.input.get("subagent_type", "general-purpose")
        task_id = f"a{uuid.uuid4().hex[:16]}"
        task = {"task_id": task_id, "tool_use_id": tool_id}
        turn.user_events += 1
        about: Json = {"parent_tool_use_id": tool_id}
        if self._wire.modern:
            about |= {"agent_id": task_id, "subagent_type": kind, "task_description": description}
        self._wire.put("system", "task_started", **task, description=description,
                       task_type="local_agent", prompt=prompt)  # fmt: skip
        content = [{"type": "text", "text": prompt}]
        self._wire.put("user", message={"role": "user", "content": content}, **about)
        script = Script(self._scenario.subagents.get(prompt, ()), time.time())
        service = Service(script, self._inbox, self._wire, self._count_broken)
        while (answer := service.call()).tools:
            for used, used_id in self._say(answer, about):
                self._bench.use(used, used_id, turn, about)
        self._say(answer, about)
        self._wire.put("system", "task_updated", task_id=task_id, patch={"status": "completed"})
        self._wire.put("system", "task_notification", **task, status="completed", output_file="",
                       summary=answer.text)  # fmt: skip
        report = [{"type": "text", "text": answer.text}]
        structured = {"status": "completed", "prompt": prompt, "agentId": task_id,
                      "content": report, "totalToolUseCount": 1}  # fmt: skip
        self._wire.tool_result(tool_id, report, structured, {})

    def _progress(self, tool: ToolUse, about: Json) -> None:
        self._wire.put(
            "system",
            "task_progress",
            task_id=about.get("agent_id", ""),
            tool_use_id=about["parent_tool_use_id"],
            description=f"Running {tool.input.get('description', tool.name)}",
            last_tool_name=tool.name,
        )

    def _allowed(self) -> None:
        """Subscriptions hear of their limits with the first answer."""
        if not self._told_of_limits:
            self._told_of_limits = True
            info = {"status": "allowed", "isUsingOverage": False}
            self._wire.put("rate_limit_event", rate_limit_info=info)

    # -- the user --------------------------------------------------------------------------------

    def _on_control(self, line: Json) -> None:
        if line.get("type") == "control_request":
            request = line.get("request", {})
            if request.get("subtype") == "interrupt":
                self._bench.asker.cancel()
            queued = [message.uuid for message in self._messages]
            respond(self._wire, line.get("request_id"), request, queued)
            if request.get("subtype") == "interrupt" and self._working:
                raise InterruptedTurnError
        elif line.get("type") == "control_response":
            self._bench.asker.on_response(line)
        elif line.get("type") == "user":
            message = Message(line["message"]["content"], line.get("uuid") or "")
            self._messages.append(message)
            self._lifecycle(message.uuid, "queued")
        elif not line:
            raise BadLineError

    def _take(self, turn: Turn, message: Message) -> None:
        """A message of the user reaches the model in the middle of a turn."""
        if message.uuid:
            turn.folded.append(message.uuid)
        self._add_message(turn, message)

    def _add_message(self, turn: Turn, message: Message) -> None:
        turn.replays.append(message)
        self._wire.conversation.append({"role": "user", "content": message.text})

    def _count_broken(self, answer: Answer) -> None:
        """An answer broke off: its beginning is in the sums, in older versions in the cost too."""
        tokens = (answer.input_tokens, answer.cached_tokens, 1)
        self._turn.sums.add(*tokens)
        if not self._wire.modern:
            self._wire.count(tokens)

    def _replay(self) -> None:
        """Repeat the user's messages as the model begins to answer."""
        for message in self._turn.replays:
            fold(self._wire, message, replay=self._limits.replay)
            if message.uuid in self._turn.folded:
                self._lifecycle(message.uuid, "started")
        self._turn.replays.clear()

    def _lifecycle(self, message_id: str, state: str) -> None:
        if message_id and self._wire.modern:
            self._wire.put("command_lifecycle", command_uuid=message_id, state=state)

    # -- the end of a turn -----------------------------------------------------------------------

    def _interrupted(self, turn: Turn, message: Message) -> None:
        self._replay()
        where = " for tool use" if turn.in_tool else ""
        text = f"[Request interrupted by user{where}]"
        turn.user_events += 1
        content = [{"type": "text", "text": text}]
        self._wire.put(
            "user", message={"role": "user", "content": content}, parent_tool_use_id=None
        )
        reason = "aborted_tools" if turn.in_tool else "aborted_streaming"
        errors = [f"[ede_diagnostic] result_type=user stop_reason={turn.stop_reason}"]
        self._end(turn, message, "error_during_execution", reason, {"errors": errors})

    def _fail(self, turn: Turn, message: Message, failed: CallFailedError) -> None:
        about: Json = {"error": failed.error}
        result: Json = {"api_error_status": failed.status}
        if self._wire.modern:
            about |= {"is_api_error_message": True, "api_error_status": failed.status}
            result |= {"api_error_type": failed.error_type, **failed.details}
        self._wire.synthetic(failed.text, **about)
        turn.last_text, turn.stop_reason = failed.text, failed.stop_reason
        self._end(turn, message, "success", failed.reason, {**result, "is_error": True})

    def _end(
        self,
        turn: Turn,
        message: Message,
        subtype: str,
        reason: str | None,
        about: Json | None = None,
    ) -> None:
        for message_id in turn.folded:
            self._lifecycle(message_id, "completed")
        if message.origin:
            about = {**(about or {}), "origin": message.origin}
        self._exit_code = finish(self._wire, turn, subtype, reason, about or {})
        self._lifecycle(message.uuid, "completed")


def fresh_id() -> str:
    """A session's identifier when none is given."""
    return str(uuid.uuid4())
