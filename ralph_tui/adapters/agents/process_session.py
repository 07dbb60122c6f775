"""The process of an agent's session: started under the keeper, read by threads, ended once.

The process may print garbage or nothing, die, or run until it is stopped. In any case,
`SessionFinished` is emitted once, as the last event, after the process and its children are gone.
"""

import os
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import closing
from typing import IO, Literal, cast

from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.ends import SessionEnd, Tally, end_of_stop, session_finished
from ralph_tui.adapters.agents.output import CHUNK, BoundedLines, Transcript, chunks
from ralph_tui.adapters.processes.child import PIPE, Child, Exit, launch
from ralph_tui.base.errors import AgentError, ProcessError, why
from ralph_tui.events import AgentNoted, Event, SessionStarted
from ralph_tui.ports.agents import AgentAnswer, Turn
from ralph_tui.ports.host import Emit


def start_child(argv: list[str], context: AgentContext, turn: Turn) -> Child:
    """Start the agent's process under the keeper; raise ``AgentError`` if that fails."""
    environ = {
        **context.environ,
        "RALPH_ITERATION": str(turn.iteration),
        "RALPH_RUN_ID": context.run_id,
    }
    try:
        return launch(
            argv,
            cwd=context.root,
            env=environ,
            run_id=context.run_id,
            lock_fd=context.lock_fd,
            stdin="pipe",
            stdout=PIPE,
            stderr=PIPE,
        )
    except ProcessError as error:
        raise AgentError(str(error)) from error


STDERR_LINE = 64 * 1024
DRAIN_S = 5.0
"""Seconds to wait for the pipes to close after the process is gone."""


class ProcessSession(ABC):
    """A running agent. Subclasses interpret its output and write its input."""

    takes_guidance = False
    speaks_plain_text = False
    """True if events are made from redacted lines; JSON must be parsed before it is redacted."""
    tells_context = True
    """True if it can report how full its context window is."""
    line_limit = 1 << 20
    """Maximum length of a line in bytes; longer ones arrive in pieces."""
    interrupt_s = 2.5
    """Seconds to wait for an agent that was asked to end before killing it."""

    def __init__(self, child: Child, turn: Turn, emit: Emit, timeout_s: float) -> None:
        self.pid = child.pid
        self.stderr_tail = ""
        """The last line of its error output."""
        self._child = child
        self._turn = turn
        self._emit = emit
        self._timeout_s = timeout_s
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._stopped: SessionEnd | None = None
        """How the session ended if it was stopped; None otherwise."""
        self._kill_timer = threading.Timer(self.interrupt_s, child.stop)
        self._kill_timer.daemon = True
        self._failure = ""
        self._end_requested = False
        """True once `stop` has been called or the session has begun to end on its own."""
        self._finished = False
        self._taking_lines = False
        """True while lines are being turned into events."""
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, name=f"agent-{name}", daemon=True)
            for name, work in (("stdout", self._read_stdout), ("stderr", self._read_stderr))
        ]

    def begin(self, agent: str) -> None:
        """Emit `SessionStarted`, then start reading output and writing the outbox."""
        transcript = self._turn.transcript
        started = SessionStarted(
            iteration=self._turn.iteration,
            session_id=self._turn.session_id,
            agent=agent,
            pid=self.pid,
            takes_guidance=self.takes_guidance,
            tells_tools=not self.speaks_plain_text,
            tells_context=self.tells_context,
            # results/iter-001/transcript.jsonl: the attempt's folder is two above the iteration's.
            transcript=str(transcript.relative_to(transcript.parents[2])),
        )
        self._emit_all([started])
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._write, name="agent-stdin", daemon=True).start()
        threading.Thread(target=self._supervise, name="agent-end", daemon=True).start()

    # -- the port --------------------------------------------------------------------------------

    def send(self, guidance_id: str, text: str) -> bool:
        """Return False: most agents take no guidance while they work."""
        return False

    def answer(self, request_id: str, answer: AgentAnswer) -> bool:
        """Return False: most agents ask nothing."""
        return False

    def stop(self, outcome: str = "stopped") -> None:
        """Begin to stop the agent and everything it has started; the first `outcome` counts.

        An agent that can be asked to end is asked first, and killed `interrupt_s` later. When the
        run ends, or on a second call, it is killed at once.
        """
        self._end(end_of_stop(outcome), at_once=outcome == "stopped")

    def _end(self, why: SessionEnd, *, at_once: bool = False) -> None:
        with self._lock:
            if self._finished:
                return
            first, self._end_requested = not self._end_requested, True
            if first and not self._has_done_its_work():
                self._stopped = why
        if first and self._interrupt() and not at_once:
            self._kill_timer.start()
        else:
            self._child.stop()

    # -- what subclasses define ------------------------------------------------------------------

    @abstractmethod
    def _events_of(self, line: str, offset: int) -> Iterable[Event]:
        """Return the events of one line of output."""

    def _is_news(self, line: bytes) -> bool:
        """True if a line must be processed even when there are too many lines."""
        return False

    def _idle_after_s(self) -> float | None:
        """Return the seconds without output before `_on_idle` is called; None for never."""
        return None

    def _on_idle(self) -> Iterable[Event]:
        """Return events after `_idle_after_s` without output."""
        return ()

    def _on_output_closed(self) -> Iterable[Event]:
        """Return the last events, once the process has closed its output."""
        return ()

    @abstractmethod
    def _end_by_itself(self, exit_code: int | None) -> SessionEnd:
        """Return how the session ended if nothing stopped it."""

    def _has_done_its_work(self) -> bool:
        """True if its work is done, so that stopping it no longer changes its outcome."""
        return False

    def _tally(self) -> Tally:
        return Tally()

    def _interrupt(self) -> bool:
        """Ask the agent to end; return False if it cannot be asked."""
        return False

    # -- writing ---------------------------------------------------------------------------------

    def _send(self, data: bytes) -> None:
        self._outbox.put(data)

    def _close_stdin(self) -> None:
        self._outbox.put(None)

    def _write(self) -> None:
        """Write the outbox to stdin, on its own thread, so that a stuck agent blocks no caller."""
        stdin = cast("IO[bytes]", self._child.stdin)
        try:
            with stdin:
                while (data := self._outbox.get()) is not None:
                    stdin.write(data)
                    stdin.flush()
        except (BrokenPipeError, ConnectionResetError):
            return

    # -- reading ---------------------------------------------------------------------------------

    def _emit_all(self, events: Iterable[Event]) -> None:
        for event in events:
            with self._lock:
                if not self._finished:
                    self._emit(event)

    def _read_stdout(self) -> None:
        stdout = cast("IO[bytes]", self._child.stdout)
        output = BoundedLines(self.line_limit, self._is_news)
        complete = False
        try:
            with stdout, closing(Transcript(self._turn.transcript)) as transcript:
                for chunk in chunks(stdout.fileno(), self._idle_after_s):
                    self._taking_lines = chunk is not None
                    lines = output.feed(chunk) if chunk else []
                    self._emit_all(self._on_idle() if chunk is None else ())
                    with output.working():
                        self._take_lines(lines, transcript, output)
                    self._taking_lines = False
                self._take_lines(output.close(), transcript, output)
                self._emit_all(self._on_output_closed())
                if output.left_out:
                    self._emit_all([self._note(f"The transcript leaves out {output.amount}.")])
                if transcript.error is not None:
                    why_not = why(transcript.error, "free some space")
                    text = f"The transcript is incomplete: {why_not}."
                    self._emit_all([self._note(text, level="error")])
            complete = True
        except OSError as error:
            complete = True
            self._failure = f"The agent's output cannot be read: {why(error, 'try again')}."
            self._child.stop()
        finally:
            if not complete:
                # Nothing reads its output any more: a process that keeps printing would hang.
                self._failure = "Reading the agent's output failed."
                self._child.stop()

    def _take_lines(self, lines: list[bytes], transcript: Transcript, output: BoundedLines) -> None:
        if gap := output.gap():
            transcript.write_gap(gap)
        texts = [line.decode("utf-8", "replace") for line in lines]
        for text, (clean, offset) in zip(texts, transcript.write(texts), strict=True):
            self._emit_all(self._events_of(clean if self.speaks_plain_text else text, offset))

    def _note(self, text: str, level: Literal["warn", "error"] = "warn") -> AgentNoted:
        return AgentNoted(iteration=self._turn.iteration, level=level, text=text)

    def _read_stderr(self) -> None:
        stderr = cast("IO[bytes]", self._child.stderr)
        output = BoundedLines(STDERR_LINE)
        try:
            with stderr, closing(Transcript(self._turn.stderr)) as log:
                while chunk := os.read(stderr.fileno(), CHUNK):
                    with output.working():
                        self._take_stderr_lines(output.feed(chunk), log, output.gap())
                self._take_stderr_lines(output.close(), log, output.gap())
        except OSError as error:
            self._failure = f"The agent's error output cannot be read: {why(error, 'try again')}."
            self._child.stop()

    def _take_stderr_lines(self, lines: list[bytes], log: Transcript, gap: str) -> None:
        if gap:
            log.write_gap(gap)
        kept = log.write([line.decode("utf-8", "replace") for line in lines])
        texts = [text for text, _ in kept if text.strip()]
        if texts:
            self.stderr_tail = texts[-1][:2000]

    # -- the end ---------------------------------------------------------------------------------

    def _supervise(self) -> None:
        try:
            ended = self._child.wait(self._timeout_s)
        except TimeoutError:
            self.stop("timeout")
            ended = self._child.wait()
        self._kill_timer.cancel()
        self._close_stdin()
        for thread in self._threads:
            thread.join(DRAIN_S)
        while self._threads[0].is_alive() and self._taking_lines:
            # A line of many megabytes takes time.
            self._threads[0].join(DRAIN_S)
        end = SessionEnd("crashed", "ralph-tui could not determine how the session ended.")
        try:
            end = self._session_end(ended)
        finally:
            # Even if the line above has a bug, the loop must learn that the session has ended.
            self._finish(ended, end)

    def _finish(self, ended: Exit, end: SessionEnd) -> None:
        duration = time.monotonic() - self._began
        finished = session_finished(self._turn.iteration, ended, end, self._tally(), duration)
        with self._lock:
            self._finished = True
            self._emit(finished)

    def _session_end(self, ended: Exit) -> SessionEnd:
        if self._stopped is not None:
            return self._stopped
        if self._failure:
            return SessionEnd("error", self._failure)
        if ended.lost:
            return SessionEnd("crashed", f"The agent's keeper {ended.lost}; the agent was stopped.")
        return self._end_by_itself(ended.code)
