"""A scripted Gemini service on the loopback: plays a scenario's answers to a real binary.

Calls without tools are side calls (which model is to answer, what a turn was about): they get an
answer, but take none from the script.
"""

import json
import time

from tests.doubles.loopback import Handler, Service
from tests.doubles.scenario import Answer, Json, Script

SIDE_ANSWER = Answer(text='{"complexity_reasoning": "plain", "complexity_score": 10}')
REFUSALS = {
    "401": (401, "UNAUTHENTICATED", "API key not valid."),
    "404": (404, "NOT_FOUND", "models/nosuch is not found."),
    "429": (429, "RESOURCE_EXHAUSTED", "Too many requests."),
    "500": (500, "INTERNAL", "An internal error has occurred."),
}
DAILY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}


class GeminiApi(Service):
    """The running service; use it as a context."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(_Handler)
        self._script = Script(answers, time.time())
        self.prompts: list[str] = []
        """The last words of each call that was answered from the script."""

    def answer(self, body: Json) -> Answer:
        """The response to a call."""
        if not body.get("tools"):
            return SIDE_ANSWER
        with self.lock:
            self.prompts.append(json.dumps(body.get("contents", [])[-1:])[-2000:])
            return self._script.next(time.time())


def chunk(answer: Answer) -> Json:
    """An answer as the service gives it, in one piece."""
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"name": use.name, "args": use.input}} for use in answer.tools]
    total = answer.input_tokens + answer.output_tokens
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": total,
        },
    }


class _Handler(Handler[GeminiApi]):
    def post(self) -> None:
        """Content, streamed or not, and counting its tokens."""
        body: Json = json.loads(self.read_body())
        path = self.path.partition("?")[0]
        method = path.rpartition(":")[2].lower()
        if method == "counttokens":
            self.send(200, {"totalTokens": 1000})
            return
        answer = self.service.answer(body)
        if answer.fault:
            status, name, words = REFUSALS[answer.fault.partition(" ")[0]]
            details = [DAILY] if answer.fault.endswith("daily") else []
            error = {"code": status, "status": name, "message": words, "details": details}
            self.send(status, {"error": error})
        elif method.startswith("stream"):
            self.stream([f"data: {json.dumps(chunk(answer))}\r\n\r\n".encode()])
        else:
            self.send(200, chunk(answer))
