"""Step 10: the agent works, through limits, silence and interruptions, until its turn is over.

A session that a limit or a full disk has ended is tried again in the same iteration; only what the
agent itself ended, or its owner, or its budget, ends the step.
"""

from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from ralph_tui.events import (
    GuidanceDelivered,
    Noticed,
    PromptPrepared,
    SessionFinished,
    WaitEnded,
    WaitStarted,
)
from ralph_tui.events.waiting import WaitCause
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.questions import QuestionDesk
from ralph_tui.loop.steps.watchdog import Watchdog
from ralph_tui.loop.waiting.controls import Controls, Ended, Steps
from ralph_tui.ports import Permissions, Turn

HOPELESS = ("missing", "auth")
"""Ends of a session that no further iteration can mend: the owner has to."""

FIRST_WAIT_S: dict[WaitCause, float] = {"overload": 30.0, "usage_limit": 300.0}
LONGEST_WAIT_S = 1800.0
AFTER_RESET_S = 5.0
"""Clocks differ: a reset is waited for a little longer."""
STALE_RESET_S = 60.0
"""A session ends a little after it was refused: its reset may have passed by then, and counts."""

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
        self._over_budget = False

    def run(self, k: int, prompt: str) -> Steps[SessionFinished]:
        """Work on the prompt; gives back how the last session ended.

        Raises `Ended` when the agent cannot work at all, ``AgentError`` when it cannot be started.
        """
        watchdog = Watchdog(k, self._run, self._desk)
        resume: str | None = None
        records = self._ports.records
        while True:
            folder = yield from self._scheduler.run_job(
                "record", lambda: records.iteration_folder(k)
            )
            if resume is None:
                prompt = yield from self._with_guidance(k, prompt, keep=True)
                words = prompt
            else:
                words = yield from self._with_guidance(k, GO_ON, keep=False)
            turn = self._turn(k, folder, words, resume)
            finished = yield from self._session(turn, watchdog)
            resume = None
            if finished.outcome in HOPELESS:
                raise Ended("failed", finished.reason)
            if finished.outcome == "limited":
                yield from self._wait(k, finished)
            elif finished.outcome == "silent":
                resume = turn.session_id
            elif finished.outcome == "stopped":  # but the run goes on: the disk was full
                yield from self._checkpoints.retry_boundary(k)
            else:
                yield from self._tell_overshoot(k)
                return finished

    def _with_guidance(self, k: int, prompt: str, *, keep: bool) -> Steps[str]:
        """The prompt with what the owner has said since it was written."""
        queued, records = self._state.guidance.queued, self._ports.records
        if not queued:
            return prompt
        words = "\n\n".join(item.text.strip() for item in queued)
        prompt = f"{prompt.rstrip()}\n\n# Guidance from the owner\n\n{words}\n"
        if keep:
            path = yield from self._scheduler.run_job(
                "prompt", lambda: records.write_prompt(k, prompt)
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
            budget_usd=self._allowed_usd(),
            resume=resume,
        )

    def _session(self, turn: Turn, watchdog: Watchdog) -> Steps[SessionFinished]:
        scheduler, checkpoints, k = self._scheduler, self._checkpoints, turn.iteration
        yield checkpoints.begin_session(k, turn.session_id)
        self._ports.watcher.follow(k, checkpoints.latest.tree)
        self._over_budget = False
        watchdog.begin()

        def look_after() -> Steps[None]:
            if scheduler.session is not None:
                yield from self._keep_budget()
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
        try:
            with scheduler.offering(controls):
                scheduler.session = self._ports.agent.start(turn, scheduler.host.emit)
                finished = yield from scheduler.wait_for_session()
        finally:
            scheduler.stop_timer()
        yield from watchdog.end()
        yield from scheduler.join()
        return finished

    # -- limits of the service -------------------------------------------------------------------

    def _wait(self, k: int, finished: SessionFinished) -> Steps[None]:
        scheduler, clock = self._scheduler, self._scheduler.host.clock
        attempt = self._state.needs.waits + 1
        cause: WaitCause = finished.limit or "overload"
        began = clock.now()
        until = wait_until(began, cause, attempt, finished.resets_at)
        yield WaitStarted(
            iteration=k,
            cause=cause,
            reason=finished.reason,
            until=until,
            resets_at=finished.resets_at,
            attempt=attempt,
        )
        by = yield from scheduler.sleep_until(until)
        yield WaitEnded(iteration=k, by=by, waited_s=scheduler.seconds_since(began))

    # -- budgets ---------------------------------------------------------------------------------

    def _allowed_usd(self) -> float | None:
        """What the next session may cost: the rest of the iteration's and of the run's budget."""
        run, start = self._state.run, self._start
        rests = []
        if run.budget_usd is not None:
            rests.append(run.budget_usd - run.cost_usd)
        if start.iteration_budget_usd is not None:
            rests.append(start.iteration_budget_usd - run.iteration_cost_usd)
        return max(0.01, min(rests)) if rests else None

    def _keep_budget(self) -> Steps[None]:
        """Stop a session that has used what it may, for agents that do not look themselves."""
        if self._over_budget or self._scheduler.session is None:
            return
        words = self._exceeded()
        if words:
            self._over_budget = True
            yield Noticed(level="warn", source="budget", text=f"{words}; the session has to end")
            self._scheduler.session.stop("budget")

    def _exceeded(self) -> str:
        run, start = self._state.run, self._start
        limits = (
            ("the run's budget", run.cost_usd, run.budget_usd, "$"),
            ("the iteration's budget", run.iteration_cost_usd, start.iteration_budget_usd, "$"),
            ("the run's token budget", run.tokens, run.budget_tokens, ""),
            (
                "the iteration's token budget",
                run.iteration_tokens,
                start.iteration_budget_tokens,
                "",
            ),
        )
        for name, used, limit, unit in limits:
            if limit is not None and used >= limit:
                return f"{name} of {unit}{limit:,g} is used up ({unit}{used:,.6g})"
        return ""

    def _tell_overshoot(self, k: int) -> Steps[None]:
        """A session is stopped after the call that went over: by how much is said."""
        run, start = self._state.run, self._start
        over = [
            f"{what} by {unit}{used - limit:,.4g}"
            for what, used, limit, unit in (
                ("the run's budget", run.cost_usd, run.budget_usd, "$"),
                ("its budget", run.iteration_cost_usd, start.iteration_budget_usd, "$"),
                ("the run's token budget", run.tokens, run.budget_tokens, ""),
                ("its token budget", run.iteration_tokens, start.iteration_budget_tokens, ""),
            )
            if limit is not None and used > limit
        ]
        if over:
            text = f"iteration {k} overshot {' and '.join(over)}"
            yield Noticed(level="warn", source="budget", text=text)


def wait_until(
    now: datetime, cause: WaitCause, attempt: int, resets_at: datetime | None
) -> datetime:
    """When to try again: at the reset, where it is known; else after a growing pause."""
    if resets_at is not None and resets_at > now - timedelta(seconds=STALE_RESET_S):
        return max(now, resets_at) + timedelta(seconds=AFTER_RESET_S)
    first = FIRST_WAIT_S.get(cause, FIRST_WAIT_S["overload"])
    return now + timedelta(seconds=min(first * 2 ** min(attempt - 1, 20), LONGEST_WAIT_S))
