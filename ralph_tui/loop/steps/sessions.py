"""Step 10: the agent works, through limits, silence and interruptions, until its turn is over.

A session that a limit or a full disk has ended is tried again in the same iteration; only what the
agent itself ended, or its owner, or its budget, ends the step.
"""

from pathlib import Path
from uuid import uuid4

from ralph_tui.events import (
    GuidanceDelivered,
    PromptPrepared,
    SessionFinished,
)
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.questions import QuestionDesk
from ralph_tui.loop.steps.service_limits import wait_for_service
from ralph_tui.loop.steps.session_budget import SessionBudget
from ralph_tui.loop.steps.watchdog import Watchdog
from ralph_tui.loop.waiting.controls import Controls, Ended, Steps
from ralph_tui.ports import Permissions, Turn

HOPELESS = ("missing", "auth", "unknown_model")
"""Ends of a session that no further iteration can mend: the owner has to."""

GO_ON = (
    "You were interrupted because nothing was heard of you for a long time. Look at the state of "
    "the files, and go on with the task from there; do not start it again."
)


class Sessions:
    """Runs the sessions of one iteration."""

    def __init__(self, run: Run, checkpoints: Checkpoints, desk: QuestionDesk) -> None:
        self._run = run
        self._scheduler = run.scheduler
        self._state = run.state
        self._ports = run.ports
        self._start = run.start
        self._checkpoints = checkpoints
        self._desk = desk
        self._budget = SessionBudget(run)

    def run(self, k: int, prompt: str) -> Steps[SessionFinished]:
        """Work on the prompt; gives back how the last session ended.

        Raises `Ended` when the agent cannot work at all, ``AgentError`` when it cannot be started.
        """
        watchdog = Watchdog(k, self._run, self._desk)
        resume: str | None = None
        records, prepared = self._ports.records, self._state.gate.prompt
        unsent = prepared.path if prepared is not None else None
        while True:
            folder = yield from self._scheduler.run_job(
                "record", lambda: records.iteration_folder(k)
            )
            words = yield from self._words(k, prompt if resume is None else GO_ON, unsent)
            prompt = words if resume is None else prompt
            turn = self._turn(k, folder, words, resume)
            finished = yield from self._session(turn, watchdog)
            resume = unsent = None
            if finished.outcome in HOPELESS:
                raise Ended("failed", finished.reason)
            if finished.outcome == "limited":
                yield from wait_for_service(self._run, k, finished)
            elif finished.outcome == "silent":
                resume = turn.session_id
            elif finished.outcome == "stopped":  # but the run goes on: the disk was full
                yield from self._checkpoints.retry_boundary(k)
            else:
                yield from self._budget.tell_overshoot(k)
                return finished

    def _words(self, k: int, prompt: str, unsent: str | None) -> Steps[str]:
        """What the next session is told, kept in a file: with what the owner has said since.

        `unsent` is the file of the prompt while no session got it.
        """
        queued, records = self._state.guidance.queued, self._ports.records
        if queued:
            said = "\n\n".join(item.text.strip() for item in queued)
            prompt = f"{prompt.rstrip()}\n\n# Guidance from the owner\n\n{said}\n"
        elif unsent is not None:
            return prompt
        path = yield from self._scheduler.run_job(
            "prompt", lambda: records.write_prompt(k, prompt, unsent)
        )
        yield PromptPrepared(
            iteration=k,
            path=records.relative(path),
            urgency=self._state.gate.prompt.urgency if self._state.gate.prompt else "normal",
            characters=len(prompt),
            guidance=[item.guidance_id for item in queued],
        )
        for item in queued:
            yield GuidanceDelivered(guidance_id=item.guidance_id, into="prompt")
        return prompt

    def _turn(self, k: int, folder: Path, prompt: str, resume: str | None) -> Turn:
        needs = self._state.needs
        return Turn(
            iteration=k,
            prompt=prompt,
            session_id=str(uuid4()),
            transcript=folder / "transcript.jsonl",
            stderr=folder / "stderr.log",
            command=self._start.command or "",
            permissions=Permissions("skip" if needs.mode == "skip" else "edits", needs.allow),
            budget_usd=self._budget.allowed_usd(),
            resume=resume,
        )

    def _session(self, turn: Turn, watchdog: Watchdog) -> Steps[SessionFinished]:
        scheduler, checkpoints, k = self._scheduler, self._checkpoints, turn.iteration
        yield from checkpoints.begin_session(k, turn.session_id)
        self._ports.watcher.follow(k, checkpoints.latest.tree)
        self._budget.begin()
        watchdog.begin()

        def look_after() -> Steps[None]:
            if scheduler.session is not None:
                yield from self._budget.keep()
                yield from watchdog.watch()
                yield from self._desk.tick()

        scheduler.start_timer(
            self._run.rules.checkpoint_interval_s, lambda: checkpoints.capture(k, "timer")
        )
        controls = Controls(
            capture=lambda note: checkpoints.capture(k, "key", note),
            look_after=look_after,
            answered=self._desk.answered,
        )
        self._ports.memory.begin()
        try:
            with scheduler.offering(controls):
                scheduler.session = self._ports.agent.start(turn, scheduler.host.emit)
                finished = yield from scheduler.wait_for_session()
        finally:
            scheduler.stop_timer()
            self._ports.memory.end()
        yield from watchdog.end()
        yield from scheduler.join()
        return finished
