"""A session with an agent that speaks JSON-RPC in lines: requests of ours and of its own.

Handlers run on the thread that reads, in the order of the lines, and give the events of what they
were told; they never wait. `call`, `notify`, `respond` and `refuse` may be used by any thread, also
while the session's lock is held: they only put a line into the outbox.

Whatever the other side sends harms nothing: an answer that nobody waits for, a second one, a line
that is no message, a request of an unknown kind (which is refused, so that nobody waits for us).
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
from ralph_tui.adapters.processes.memory import worked
from ralph_tui.events import Event
from ralph_tui.ports.agents import Turn
from ralph_tui.ports.host import Emit

LONGEST_LINE = 64 << 20
HANDSHAKE_S = 60.0
"""Seconds after its start at which an idle agent that is not ready is ended."""
LONGEST_HANDSHAKE_S = 180.0
"""The same for an agent that uses its processor or writes: it starts slowly."""
LIFE_SIGNS = 4
"""How often within `HANDSHAKE_S` the agent is checked for activity."""
NOT_READY_S = 10.0
"""Seconds of silence after which it is said that an agent which has not begun is waited for."""
MOST_NOISE = 200
"""Lines that are no message after which an agent that has not begun is given up."""
MOST_ANSWERED = 50
"""Requests that are known again when they are asked again."""
MAX_COMPLAINTS = 5
"""Notes about lines that are no message, and about unknown kinds, per session."""

OnResult = Callable[[object], Iterable[Event]]
OnFailure = Callable[[Failure], Iterable[Event]]


def nothing(_: object) -> Iterable[Event]:
    """Takes an answer that changes nothing."""
    return ()


@dataclass(frozen=True)
class _Call:
    """A request of ours that is not answered yet."""

    method: str
    on_result: OnResult
    on_failure: OnFailure


class RpcSession(ProcessSession):
    """A running agent that is asked, and asks; subclasses say in which words."""

    takes_guidance = True
    line_limit = LONGEST_LINE
    interrupt_s = 1.5
    version = "2.0"
    """The field ``jsonrpc`` of what is written; empty: it is left out."""
    protocol = "JSON-RPC"
    """What it speaks, for people."""

    def __init__(self, child: Child, turn: Turn, emit: Emit, timeout_s: float) -> None:
        super().__init__(child, turn, emit, timeout_s)
        # It was asked in its own words: there is nothing more to bring to an end.
        self._kill_timer = threading.Timer(self.interrupt_s, child.hurry)
        self._kill_timer.daemon = True
        self.began = False
        """Whether the handshake is over; set by the subclass."""
        self.offset = 0
        """Where the line that is being read stands in the transcript."""
        self._numbers = itertools.count()
        self._calls: dict[Id, _Call] = {}
        self._asked: dict[Id, Request] = {}
        """Requests of the other side that are not answered yet."""
        self._given: dict[Id, tuple[Request, bytes]] = {}
        """The last that were, with their answers."""
        self._complaints: set[str] = set()
        self._lateness_told = False
        self._noise = 0
        """Lines that were no message."""
        self._exited = threading.Event()
        self._handshake = threading.Thread(target=self._await_handshake, daemon=True)

    def begin(self, agent: str) -> None:
        """See `ProcessSession`; from here on it has its time to be ready."""
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
        """Ask; one of the two is called with the answer, if there is one."""
        number = next(self._numbers)
        self._calls[number] = _Call(method, on_result, on_failure)
        self._send(written(self.version, id=number, method=method, params=params))

    def notify(self, method: str, params: Mapping[str, object] | None = None) -> None:
        """Tell."""
        with_params = {} if params is None else {"params": params}
        self._send(written(self.version, method=method, **with_params))

    def respond(self, request_id: Id, result: object) -> bool:
        """Answer a request; False when it is not asked any more."""
        return self._reply(request_id, result=result)

    def refuse(self, request_id: Id, code: int, text: str) -> bool:
        """Answer a request with an error; False when it is not asked any more."""
        return self._reply(request_id, error={"code": code, "message": text})

    def withdraw(self, request_id: Id) -> Request | None:
        """A request that wants no answer any more; None when it is not open."""
        return self._asked.pop(request_id, None)

    def _reply(self, request_id: Id, **answer: object) -> bool:
        request = self.withdraw(request_id)
        if request is None:
            return False
        line = written(self.version, id=request_id, **answer)
        if len(self._given) >= MOST_ANSWERED:
            self._given.pop(next(iter(self._given)), None)
        self._given[request_id] = (request, line)
        self._send(line)
        return True

    # -- what subclasses define ------------------------------------------------------------------

    @abstractmethod
    def _on_request(self, request: Request) -> Iterable[Event] | None:
        """A request that `respond` or `refuse` is to answer, now or later; None: unknown."""

    @abstractmethod
    def _on_notification(self, notification: Notification) -> Iterable[Event] | None:
        """What was told; None: of an unknown kind."""

    # -- reading ---------------------------------------------------------------------------------

    def _events_of(self, line: str, offset: int) -> Iterable[Event]:
        self.offset = offset
        match read_message(line):
            case Request() as request:
                return self._take_request(request)
            case Notification() as notification:
                told = self._on_notification(notification)
                return self._unknown(notification.method) if told is None else told
            case Response() as response:
                return self._take_response(response)
            case Noise(shown):
                return self._take_noise(shown) if shown.strip() else ()

    def _is_news(self, line: bytes) -> bool:
        return line.startswith(b"{")

    # -- an agent that does not begin ------------------------------------------------------------

    def _idle_after_s(self) -> float | None:
        quiet = self.began or self._end_requested or self._lateness_told
        return None if quiet else NOT_READY_S

    def _on_idle(self) -> Iterable[Event]:
        self._lateness_told = True
        return [self._note("The agent is not ready yet; it is waited for")]

    def _take_noise(self, shown: str) -> Iterable[Event]:
        self._noise += 1
        if not self.began and self._noise > MOST_NOISE:
            self._is_none(f"it prints lines that are no messages: {shown}")
        return self._complain("", f"Not a message: {shown}")

    def _await_handshake(self) -> None:
        """End the session if the agent is idle before it is ready, or starts for too long."""
        gap = HANDSHAKE_S / LIFE_SIGNS
        before: object = None
        for look in itertools.count(1):
            if self._exited.wait(gap) or self.began:
                return
            ticks = worked(self._child.pid)
            signs = self.offset, self._noise, ticks
            idle, before = ticks is None or signs == before, signs
            if look * gap >= LONGEST_HANDSHAKE_S or (idle and look >= LIFE_SIGNS):
                late = f"The agent was not ready within {look * gap:.3g} s of its start"
                end = SessionEnd("error", f"{late}; run it by hand to see why.")
                self._end(end, at_once=True)
                return

    def _is_none(self, why: str) -> None:
        """The program is no agent that we can drive."""
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
        if request.id in self._asked:
            # The same one again: it is answered once.
            return ()
        ours = self._calls.get(request.id)
        if not self.began and ours is not None and ours.method == request.method:
            self._is_none("it repeats what it is told")
            return ()
        before, answer = self._given.get(request.id, (None, b""))
        if before == request:
            self._send(answer)
            return ()
        self._asked[request.id] = request
        told = self._on_request(request)
        if told is None:
            self.refuse(request.id, NO_METHOD, f"unknown method {request.method}"[:200])
            return self._unknown(request.method)
        return told

    def _take_response(self, response: Response) -> Iterable[Event]:
        call = self._calls.pop(response.id, None)
        if call is None:
            return ()
        if response.failure is not None:
            return call.on_failure(response.failure)
        return call.on_result(response.result)

    def _unknown(self, method: str) -> Iterable[Event]:
        return self._complain(method, f"Unknown kind of message, kept in the transcript: {method}")

    def _complain(self, about: str, text: str) -> Iterable[Event]:
        if about in self._complaints or len(self._complaints) >= MAX_COMPLAINTS:
            return ()
        self._complaints.add(about)
        noted = self._note(text)
        return [noted.model_copy(update={"offset": self.offset})]
