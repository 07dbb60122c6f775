"""What every agent process has in common: threads on its pipes, its transcript, its one ending.

Whatever the process does (prints garbage, prints nothing, dies, never ends until it is stopped),
`SessionFinished` is emitted once, as the last event, when it and all it started are gone.
"""

import os
import queue
import selectors
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import IO, cast

from ralph_tui.adapters.agents.claude.session_ends import Verdict
from ralph_tui.adapters.agents.line_splitter import LineSplitter
from ralph_tui.adapters.agents.transcript import KeyFilter, Transcript
from ralph_tui.adapters.processes.child import Child, Exit
from ralph_tui.events import AgentNoted, Event, SessionFinished, SessionStarted
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.ports import Emit, Turn

CHUNK = 256 * 1024
STDERR_LINE = 64 * 1024
DRAIN_S = 5.0
"""How long the pipes may stay open after the process is gone."""

INTERRUPT_S = 2.5
"""How long an agent that was asked to end may take before it is made to."""

_STOPPED: Mapping[str, str] = {
    "timeout": "The session ran longer than it may and was stopped.",
    "interrupted": "The agent was interrupted.",
    "silent": "The agent said nothing for too long and was interrupted.",
    "budget": "The session used up its budget and was stopped.",
    "stopped": "Stopped.",
}


@dataclass
class Tally:
    """The counters of a session, as far as its agent tells."""

    cost_usd: float | None = None
    tokens: int = 0
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0


class ProcessSession(ABC):
    """A running agent: subclasses say what its output means and what it is told."""

    takes_guidance = False
    line_limit = 1 << 20
    """Bytes; a longer line comes in pieces."""

    def __init__(self, child: Child, turn: Turn, emit: Emit, timeout_s: float) -> None:
        self.pid = child.pid
        self.stderr_tail = ""
        """The last line of its error output."""
        self._child = child
        self._turn = turn
        self._emit_event = emit
        self._timeout_s = timeout_s
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._stopped: Verdict | None = None
        """Why it was stopped, once it was."""
        self._ladder = threading.Timer(INTERRUPT_S, child.stop)
        self._ladder.daemon = True
        self._failure = ""
        self._ordered = False
        """Whether its end was ordered."""
        self._finished = False
        self._hearing = False
        """Whether output that was read is being worked on."""
        self._errors_clean = KeyFilter()
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, name=f"agent-{name}", daemon=True)
            for name, work in (("stdout", self._listen), ("stderr", self._listen_to_errors))
        ]

    def begin(self, agent: str) -> None:
        """Say that it runs, start to read, and to write what was said so far."""
        transcript = self._turn.transcript
        started = SessionStarted(
            iteration=self._turn.iteration,
            session_id=self._turn.session_id,
            agent=agent,
            pid=self.pid,
            takes_guidance=self.takes_guidance,
            # results/iter-001/transcript.jsonl: the attempt's folder is two above the iteration's.
            transcript=str(transcript.relative_to(transcript.parents[2])),
        )
        self._tell([started])
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._write, name="agent-stdin", daemon=True).start()
        threading.Thread(target=self._supervise, name="agent-end", daemon=True).start()

    # -- the port --------------------------------------------------------------------------------

    def send(self, guidance_id: str, text: str) -> bool:
        """False: this agent cannot be spoken to while it works."""
        return False

    def stop(self, outcome: str = "stopped") -> None:
        """Begin to end it and all it started; the first `outcome` given stands.

        An agent that can be asked to end is asked, and made to 2.5 s later; when the run ends, or
        at a second order, it is made to at once.
        """
        reason = _STOPPED.get(outcome, "The agent was stopped.")
        self._end(Verdict(cast("SessionOutcome", outcome), reason), at_once=outcome == "stopped")

    def _end(self, why: Verdict, *, at_once: bool = False) -> None:
        with self._lock:
            if self._finished:
                return
            first, self._ordered = not self._ordered, True
            if first and not self._decided():
                self._stopped = why
        if first and self._interrupt() and not at_once:
            self._ladder.start()
        else:
            self._child.stop()

    # -- what subclasses say ---------------------------------------------------------------------

    @abstractmethod
    def _heard(self, line: str, offset: int) -> Iterable[Event]:
        """The events of one line of output."""

    def _clean(self, line: str) -> str:
        """A line as it may be kept, but for what `redact` hides."""
        return line

    def _patience(self) -> float | None:
        """After how many silent seconds `_silence` shall be called; None for never."""
        return None

    def _silence(self) -> Iterable[Event]:
        """Nothing was printed for a while."""
        return ()

    def _last_words(self) -> Iterable[Event]:
        """Its output is closed."""
        return ()

    @abstractmethod
    def _verdict(self, exit_code: int | None) -> Verdict:
        """How it ended of its own accord."""

    def _decided(self) -> bool:
        """Whether it has done its work, so that its own verdict stands when it is stopped now."""
        return False

    def _tally(self) -> Tally:
        """Its counters."""
        return Tally()

    def _interrupt(self) -> bool:
        """Ask it to end; False when it cannot be asked."""
        return False

    # -- speaking --------------------------------------------------------------------------------

    def _say(self, data: bytes) -> None:
        self._outbox.put(data)

    def _close_stdin(self) -> None:
        self._outbox.put(None)

    def _write(self) -> None:
        """Writes in a thread of its own: an agent that does not read must not hold anybody up."""
        stdin = cast("IO[bytes]", self._child.stdin)
        try:
            with stdin:
                while (data := self._outbox.get()) is not None:
                    stdin.write(data)
                    stdin.flush()
        except (BrokenPipeError, ConnectionResetError):
            return

    # -- listening -------------------------------------------------------------------------------

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            with self._lock:
                if not self._finished:
                    self._emit_event(event)

    def _listen(self) -> None:
        stdout = cast("IO[bytes]", self._child.stdout)
        splitter = LineSplitter(self.line_limit)
        complete = False
        try:
            with stdout, closing(Transcript(self._turn.transcript)) as transcript:
                for chunk in self._chunks(stdout.fileno()):
                    lines = splitter.feed(chunk) if chunk else []
                    self._tell(self._silence() if chunk is None else ())
                    self._hear(lines, transcript)
                self._hear(splitter.close(), transcript)
                self._tell(self._last_words())
                if transcript.error is not None:
                    self._tell([self._unwritable(transcript.error)])
            complete = True
        except OSError as error:
            complete = True
            self._failure = f"The agent's output cannot be kept: {error}."
            self._child.stop()
        finally:
            if not complete:
                # Nobody reads any more: a process that goes on printing would hang for ever.
                self._failure = "Reading the agent's output failed."
                self._child.stop()

    def _chunks(self, descriptor: int) -> Iterable[bytes | None]:
        """Output as it comes; None after a silence as long as `_patience`."""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                if not selector.select(self._patience()):
                    yield None
                    continue
                chunk = os.read(descriptor, CHUNK)
                if not chunk:
                    return
                self._hearing = True
                yield chunk
                self._hearing = False

    def _hear(self, lines: list[bytes], transcript: Transcript) -> None:
        texts = [self._clean(line.decode("utf-8", "replace")) for line in lines]
        for text, offset in zip(texts, transcript.write(texts), strict=True):
            self._tell(self._heard(text, offset))

    def _unwritable(self, error: OSError) -> AgentNoted:
        return AgentNoted(
            iteration=self._turn.iteration,
            level="error",
            text=f"The transcript is incomplete: {error}.",
        )

    def _listen_to_errors(self) -> None:
        stderr = cast("IO[bytes]", self._child.stderr)
        splitter = LineSplitter(STDERR_LINE)
        try:
            with stderr, closing(Transcript(self._turn.stderr)) as log:
                while chunk := os.read(stderr.fileno(), CHUNK):
                    self._keep_errors(splitter.feed(chunk), log)
                self._keep_errors(splitter.close(), log)
        except OSError as error:
            self._failure = f"The agent's error output cannot be kept: {error}."
            self._child.stop()

    def _keep_errors(self, lines: list[bytes], log: Transcript) -> None:
        texts = [self._errors_clean(line.decode("utf-8", "replace")) for line in lines]
        log.write(texts)
        spoken = [text for text in texts if text.strip()]
        if spoken:
            self.stderr_tail = spoken[-1][:2000]

    # -- the end ---------------------------------------------------------------------------------

    def _supervise(self) -> None:
        try:
            ended = self._child.wait(self._timeout_s)
        except TimeoutError:
            self.stop("timeout")
            ended = self._child.wait()
        self._ladder.cancel()
        self._close_stdin()
        for thread in self._threads:
            thread.join(DRAIN_S)
        while self._threads[0].is_alive() and self._hearing:
            # A line of many megabytes takes its time.
            self._threads[0].join(DRAIN_S)
        verdict = Verdict("crashed", "ralph-tui failed to tell how the session ended.")
        try:
            verdict = self._ending(ended)
        finally:
            # Even with a bug in the line above the loop must hear that the session is over.
            self._finish(ended, verdict)

    def _finish(self, ended: Exit, verdict: Verdict) -> None:
        tally = self._tally()
        finished = SessionFinished(
            iteration=self._turn.iteration,
            outcome=verdict.outcome,
            reason=verdict.reason,
            exit_code=ended.code,
            duration_s=round(time.monotonic() - self._began, 3),
            limit=verdict.limit,
            resets_at=verdict.resets_at,
            cost_usd=tally.cost_usd,
            tokens=tally.tokens,
            turns=tally.turns,
            tool_calls=tally.tool_calls,
            tool_errors=tally.tool_errors,
            leftovers=ended.leftovers,
        )
        with self._lock:
            self._finished = True
            self._emit_event(finished)

    def _ending(self, ended: Exit) -> Verdict:
        if self._stopped is not None:
            return self._stopped
        if self._failure:
            return Verdict("error", self._failure)
        if ended.lost:
            return Verdict("crashed", "The agent's keeper was killed; the agent was stopped.")
        return self._verdict(ended.code)
