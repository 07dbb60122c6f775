"""A session with an agent that speaks line-delimited JSON-RPC in both directions.

Handlers run on the reading thread, in the order of the lines, and return events; they never wait.
Any thread may call `call`, `notify`, `respond` and `refuse`, even under the session's lock: they
only add a line to the outbox.

Unexpected input is harmless: an unknown or repeated answer, a line that is not a message, or a
request with an unknown method. Such a request is refused, so that the agent does not wait.
"""

import itertools
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ralph_tui.adapters.agents.ends import SessionEnd
from ralph_tui.adapters.agents.process_session import ProcessSession
from ralph_tui.adapters.agents.rpc.messages import (
    NO_METHOD,
    Failure,
    Id,
    Noise,
    Notification,
    Request,
    Response,
    read_message,
    written,
)
from ralph_tui.adapters.processes.child import Child, Exit
from ralph_tui.adapters.processes.memory import ticks_used
from ralph_tui.events import Event
from ralph_tui.ports.agents import Turn
from ralph_tui.ports.host import Emit

LONGEST_LINE = 64 << 20
HANDSHAKE_S = 60.0
"""Seconds after which an idle agent that is still not ready is stopped."""
LONGEST_HANDSHAKE_S = 180.0
"""The same limit for a slow starter that is using the processor or printing output."""
LIFE_SIGNS = 4
"""How many times per `HANDSHAKE_S` to check for activity."""
NOT_READY_S = 10.0
"""Seconds of silence before a note says that the agent is not ready yet."""
MAX_NOISE = 200
"""Number of lines that are not messages before an agent that is not ready is stopped."""
MAX_ANSWERED = 50
"""Maximum number of answered requests to remember, in case they are repeated."""
MAX_REPORTS = 5
"""Maximum number of notes about lines that are not messages and about unknown methods."""

OnResult = Callable[[object], Iterable[Event]]
OnFailure = Callable[[Failure], Iterable[Event]]


def nothing(_: object) -> Iterable[Event]:
    """Ignore an answer."""
    return ()


@dataclass(frozen=True)
class _Call:
    """A request from us that has not been answered yet."""

    method: str
    on_result: OnResult
    on_failure: OnFailure


class RpcSession(ProcessSession):
    """A running agent with requests in both directions; subclasses know its methods."""

    takes_guidance = True
    line_limit = LONGEST_LINE
    interrupt_s = 1.5
    version = "2.0"
    """The ``jsonrpc`` field of messages we write; omitted if empty."""
    protocol = "JSON-RPC"
    """The protocol's name, for messages to the user."""

    def __init__(self, child: Child, turn: Turn, emit: Emit, timeout_s: float) -> None:
        super().__init__(child, turn, emit, timeout_s)
        # The agent was asked in its own protocol: there is nothing more to wind down.
        self._kill_timer = threading.Timer(self.interrupt_s, child.hurry)
        self._kill_timer.daemon = True
        self.began = False
        """True once the handshake is complete; subclasses set it."""
        self.offset = 0
        """Offset of the current line in the transcript."""
        self._numbers = itertools.count()
        self._calls: dict[Id, _Call] = {}
        self._open_requests: dict[Id, Request] = {}
        """Requests from the agent that have not been answered yet."""
        self._given: dict[Id, tuple[Request, bytes]] = {}
        """The most recently answered requests and their answers."""
        self._complaints: set[str] = set()
        self._lateness_reported = False
        self._noise = 0
        """Number of lines that were not messages."""
        self._exited = threading.Event()
        self._handshake = threading.Thread(target=self._await_handshake, daemon=True)

    def begin(self, agent: str) -> None:
        """Start the session and the timeout of its handshake."""
        super().begin(agent)
        self._handshake.start()

    # -- writing ---------------------------------------------------------------------------------

    def call(
        self,
        method: str,
        params: Mapping[str, object],
        on_result: OnResult = nothing,
        on_failure: OnFailure = nothing,
    ) -> None:
        """Send a request; `on_result` or `on_failure` is called with the answer, if any."""
        number = next(self._numbers)
        self._calls[number] = _Call(method, on_result, on_failure)
        self._send(written(self.version, id=number, method=method, params=params))

    def notify(self, method: str, params: Mapping[str, object] | None = None) -> None:
        """Send a notification."""
        with_params = {} if params is None else {"params": params}
        self._send(written(self.version, method=method, **with_params))

    def respond(self, request_id: Id, result: object) -> bool:
        """Answer a request; return False if it is no longer open."""
        return self._reply(request_id, result=result)

    def refuse(self, request_id: Id, code: int, text: str) -> bool:
        """Answer a request with an error; return False if it is no longer open."""
        return self._reply(request_id, error={"code": code, "message": text})

    def withdraw(self, request_id: Id) -> Request | None:
        """Remove an open request that no longer needs an answer; return None if it is not open."""
        return self._open_requests.pop(request_id, None)

    def _reply(self, request_id: Id, **answer: object) -> bool:
        request = self.withdraw(request_id)
        if request is None:
            return False
        line = written(self.version, id=request_id, **answer)
        if len(self._given) >= MAX_ANSWERED:
            self._given.pop(next(iter(self._given)), None)
        self._given[request_id] = (request, line)
        self._send(line)
        return True

    # -- what subclasses define ------------------------------------------------------------------

    @abstractmethod
    def _on_request(self, request: Request) -> Iterable[Event] | None:
        """Handle a request, to be answered now or later; return None for an unknown method."""

    @abstractmethod
    def _on_notification(self, notification: Notification) -> Iterable[Event] | None:
        """Handle a notification; return None for an unknown method."""

    # -- reading ---------------------------------------------------------------------------------

    def _events_of(self, line: str, offset: int) -> Iterable[Event]:
        self.offset = offset
        match read_message(line):
            case Request() as request:
                return self._take_request(request)
            case Notification() as notification:
                reply = self._on_notification(notification)
                return self._unknown(notification.method) if reply is None else reply
            case Response() as response:
                return self._take_response(response)
            case Noise(shown):
                return self._take_noise(shown) if shown.strip() else ()

    def _is_news(self, line: bytes) -> bool:
        return line.startswith(b"{")

    # -- an agent that does not start ------------------------------------------------------------

    def _idle_after_s(self) -> float | None:
        quiet = self.began or self._end_requested or self._lateness_reported
        return None if quiet else NOT_READY_S

    def _on_idle(self) -> Iterable[Event]:
        self._lateness_reported = True
        return [self._note("The agent is not ready yet; still waiting")]

    def _take_noise(self, shown: str) -> Iterable[Event]:
        self._noise += 1
        if not self.began and self._noise > MAX_NOISE:
            self._end_as_foreign(f"it prints lines that are not messages: {shown}")
        return self._report_once("", f"Not a message: {shown}")

    def _await_handshake(self) -> None:
        """End the session if the agent is idle before it is ready, or starts too slowly."""
        gap = HANDSHAKE_S / LIFE_SIGNS
        before: object = None
        for look in itertools.count(1):
            if self._exited.wait(gap) or self.began:
                return
            ticks = ticks_used(self._child.pid)
            signs = self.offset, self._noise, ticks
            idle, before = ticks is None or signs == before, signs
            if look * gap >= LONGEST_HANDSHAKE_S or (idle and look >= LIFE_SIGNS):
                late = f"The agent was not ready within {look * gap:.3g} s of its start"
                end = SessionEnd("error", f"{late}; run it by hand to see why.")
                self._end(end, at_once=True)
                return

    def _end_as_foreign(self, why: str) -> None:
        """End the session: the program does not speak the protocol."""
        if not self._end_requested:
            said = f"It does not speak {self.protocol} ({why}); is it the right program?"
            self._end(SessionEnd("error", said), at_once=True)

    def _session_end(self, ended: Exit) -> SessionEnd:
        self._exited.set()
        end = super()._session_end(ended)
        failed = end.outcome in ("error", "crashed")
        return replace(end, outcome="not_started") if failed and not self.began else end

    # --------------------------------------------------------------------------------------------

    def _take_request(self, request: Request) -> Iterable[Event]:
        if request.id in self._open_requests:
            # A repeated request is answered only once.
            return ()
        ours = self._calls.get(request.id)
        if not self.began and ours is not None and ours.method == request.method:
            self._end_as_foreign("it echoes its input")
            return ()
        before, answer = self._given.get(request.id, (None, b""))
        if before == request:
            self._send(answer)
            return ()
        self._open_requests[request.id] = request
        reply = self._on_request(request)
        if reply is None:
            self.refuse(request.id, NO_METHOD, f"unknown method {request.method}"[:200])
            return self._unknown(request.method)
        return reply

    def _take_response(self, response: Response) -> Iterable[Event]:
        call = self._calls.pop(response.id, None)
        if call is None:
            return ()
        if response.failure is not None:
            return call.on_failure(response.failure)
        return call.on_result(response.result)

    def _unknown(self, method: str) -> Iterable[Event]:
        return self._report_once(
            method, f"Unknown kind of message, kept in the transcript: {method}"
        )

    def _report_once(self, about: str, text: str) -> Iterable[Event]:
        if about in self._complaints or len(self._complaints) >= MAX_REPORTS:
            return ()
        self._complaints.add(about)
        noted = self._note(text)
        return [noted.model_copy(update={"offset": self.offset})]
