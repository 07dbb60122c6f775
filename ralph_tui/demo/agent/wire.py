"""The agent's side of stream-json: one JSON object per line in both directions, with receipts.

As in a real agent, a reader thread receives messages while the script works.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Mapping

MODEL = "demo-agent"


class Interrupted(BaseException):
    """The turn must end now, because of a control request or SIGINT."""


class Terminated(BaseException):
    """The process must end now, because of SIGTERM."""


class Wire:
    """Sends lines, receives messages."""

    def __init__(self, session_id: str, window: int) -> None:
        self.session_id = session_id
        self.window = window
        """Tokens that fit into the context window."""
        self.context = 0
        """Tokens used in the context window."""
        self.messages: queue.SimpleQueue[tuple[str, str | None] | None] = queue.SimpleQueue()
        """User messages as (text, uuid); None at the end of stdin."""
        self.interrupted = threading.Event()
        self.leaving = False
        """True once SIGINT has arrived: the turn ends, and then the process."""
        self.running: subprocess.Popen[str] | None = None
        """The command of the tool that is running."""
        self._answers: queue.SimpleQueue[Mapping[str, object] | None] = queue.SimpleQueue()
        """Answers to the last request; None if no more will come."""
        self._over = False
        """True once stdin has ended."""
        self._lock = threading.Lock()
        self._busy = False

    def listen(self) -> None:
        """Start the reader thread, and handle signals."""
        signal.signal(signal.SIGINT, self._leave)
        signal.signal(signal.SIGTERM, self._terminate)
        threading.Thread(target=self._read, daemon=True).start()

    def next_message(self) -> tuple[str, str | None] | None:
        """Wait for the prompt of the next turn; None if there will be none."""
        self._busy = False
        message = self.messages.get()
        self.interrupted.clear()
        self._busy = message is not None
        return message

    def send(self, kind: str, fields: Mapping[str, object]) -> None:
        line = {"type": kind, **fields, "session_id": self.session_id, "uuid": str(uuid.uuid4())}
        text = json.dumps(line, ensure_ascii=False) + "\n"
        with self._lock:
            sys.stdout.write(text)
            sys.stdout.flush()

    def receipt(self, message_id: str, state: str) -> None:
        """Report the state of a message that has a uuid."""
        self.send("command_lifecycle", {"command_uuid": message_id, "state": state})

    def ask(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """Send a request and return its answer, empty if stdin has ended. Raises Interrupted."""
        request_id = str(uuid.uuid4())
        self._answers = queue.SimpleQueue()
        self.send("control_request", {"request_id": request_id, "request": request})
        while not self._over and not self.interrupted.is_set():
            response = self._answers.get() or {}
            if response.get("request_id") == request_id:
                answer = response.get("response")
                return answer if isinstance(answer, dict) else {}
        if self.interrupted.is_set():
            self.send("control_cancel_request", {"request_id": request_id})
            raise Interrupted
        return {}

    def pause(self, seconds: float) -> None:
        """Wait, as if thinking. Raises Interrupted."""
        if self.interrupted.wait(seconds):
            raise Interrupted

    def interrupt(self) -> None:
        """End the turn and the command it runs."""
        if self._busy:
            self.interrupted.set()
            self._answers.put(None)
            self._kill()

    def _kill(self) -> None:
        running = self.running
        if running is not None and running.poll() is None:
            # It has its own session, like a real agent's shell: kill the whole group.
            os.killpg(running.pid, signal.SIGKILL)

    def _leave(self, *_: object) -> None:
        self.leaving = True
        if not self._busy:
            raise Interrupted
        self.interrupt()

    def _terminate(self, *_: object) -> None:
        self._kill()
        raise Terminated

    def _read(self) -> None:
        for line in sys.stdin:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if message.get("type") == "user":
                self._user(message)
            elif message.get("type") == "control_request":
                self._control(message)
            elif message.get("type") == "control_response":
                response = message.get("response")
                self._answers.put(response if isinstance(response, dict) else None)
        self._over = True
        self._answers.put(None)
        self.messages.put(None)

    def _user(self, message: dict[str, object]) -> None:
        content = message.get("message")
        text = content.get("content") if isinstance(content, dict) else ""
        message_id = message.get("uuid")
        known = message_id if isinstance(message_id, str) else None
        if known is not None:
            self.receipt(known, "queued")
        self.messages.put((text if isinstance(text, str) else "", known))

    def _control(self, message: dict[str, object]) -> None:
        request = message.get("request")
        subtype = request.get("subtype") if isinstance(request, dict) else ""
        answer: dict[str, object] = {"subtype": "success", "request_id": message.get("request_id")}
        if subtype == "interrupt":
            answer["response"] = {"still_queued": []}
        elif subtype == "get_context_usage":
            answer["response"] = {
                "totalTokens": self.context,
                "maxTokens": self.window,
                "percentage": round(100 * self.context / self.window),
                "model": MODEL,
            }
        else:
            answer |= {"subtype": "error", "error_code": "unsupported_request",
                       "error": f"unsupported request {subtype}"}  # fmt: skip
        self.send("control_response", {"response": answer})
        if subtype == "interrupt":
            self.interrupt()
