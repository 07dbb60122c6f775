"""A scripted Messages service on the loopback: plays a scenario to a real binary.

Requests that offer no tools, or ask for a summary, are side calls: they get an answer, but take
none from the script. Subagents are known by their first message.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tests.doubles import answering
from tests.doubles.answering import REFUSALS
from tests.doubles.loopback import Handler, Service, event
from tests.doubles.scenario import Answer, Json, Scenario, Script

COMPACTING = "will be rejected and you will fail the task"
"""Ends the last message of a request for a summary, which offers tools as any other."""
SIDE_ANSWER = Answer(text="<summary>The work so far.</summary>", output_tokens=10)


@dataclass(frozen=True)
class Request:
    """A request to the service, and its response."""

    path: str
    stream: bool
    tools: int
    first: str
    last: str
    answer: str
    system: str = ""
    """The end of the system prompt."""


class Api(Service):
    """The running service; use it as a context."""

    def __init__(self, scenario: Scenario, session: int = 0, *, port: int = 0) -> None:
        super().__init__(_Handler, port)
        self._script = Script(scenario.answers(session))
        self._subagents = {key: Script(value) for key, value in scenario.subagents.items()}
        self._scenario = scenario
        self.asked: dict[str, int] = {}
        """Number of times each scripted question was asked."""
        self.requests: list[Request] = []

    def answer(self, path: str, body: Json) -> tuple[Answer, Script]:
        """The response to a request."""
        texts = [answering.text_of(message) for message in body.get("messages", [])] or [""]
        first = texts[0]
        script = next((s for key, s in self._subagents.items() if key in first), self._script)
        with self.lock:
            key = None if body.get("tools") else self._scenario.question("\n".join(texts))
            side = not body.get("tools") or COMPACTING in texts[-1]
            if key is not None:
                self.asked[key] = self.asked.get(key, 0) + 1
                answer = self._scenario.nth_answer(key, self.asked[key])
            elif side and not script.overflows:
                answer = SIDE_ANSWER
            else:
                answer = script.next(time.time())
            summary = answer.fault or answer.text or "tools"
            self.requests.append(
                Request(
                    path,
                    bool(body.get("stream")),
                    len(body.get("tools", [])),
                    first[-200:],
                    texts[-1][-200:],
                    summary,
                    json.dumps(body.get("system", ""))[-8000:],
                )
            )
        return answer, script


class _Handler(Handler[Api]):
    NOT_FOUND = answering.refusal("not_found_error", "Not found")

    def further_headers(self) -> Mapping[str, str]:
        """Each answer has a number."""
        return {"request-id": answering.new_id("req")}

    def post(self) -> None:
        """Messages, and counting their tokens."""
        raw = self.read_body()
        body: Json = json.loads(raw or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self.send(200, {"input_tokens": len(raw) // 4})
        elif path.endswith("/messages"):
            self._answer(path, body)
        else:
            self.send(404, self.NOT_FOUND)

    def _answer(self, path: str, body: Json) -> None:
        api = self.service
        answer, script = api.answer(path, body)
        api.ended.wait(answer.delay_s)
        if answer.fault == "drop":
            self.close_connection = True
            return
        if answer.fault and answer.fault != "error_event":
            status, kind, text = REFUSALS[answer.fault]
            headers = {"retry-after": answer.retry_after} if answer.retry_after else {}
            if answer.resets_in_s:
                headers |= answering.limit_headers(script.resets_at(answer))
            self.send(status, answering.refusal(kind, text), headers)
            return
        model = str(body.get("model", "model"))
        if not body.get("stream"):
            if answer.fault:
                self.send(529, answering.refusal("overloaded_error", "Overloaded"))
                return
            self.send(200, answering.message(answer, model))
            return
        pieces = (event(one) if one else None for one in answering.events(answer, model))
        self.stream(pieces, answer.stall_s)
