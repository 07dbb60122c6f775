"""Step 10: the agent works, through limits, silence and interruptions, until its turn ends.

A session ended by a limit, an outage or a full disk is tried again in the same iteration. The step
ends only if the agent, the user or a budget ends a session. A session that had begun to work is
resumed if the agent supports that. Otherwise the whole prompt is sent again.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal
from uuid import uuid4

from ralph_tui import events as ev
from ralph_tui.commands import Controls
from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.agent_questions import AgentQuestions
from ralph_tui.loop.steps.agents import Agents
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.context import ContextMonitor, HandoffRequest
from ralph_tui.loop.steps.handoff_runner import HandoffRunner
from ralph_tui.loop.steps.plan_items import PlanItems
from ralph_tui.loop.steps.prompt_text import PromptText, later_text
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.steps.state_file import StateFile
from ralph_tui.loop.steps.tool_patterns import ToolPatterns
from ralph_tui.loop.steps.watchdog import Watchdog
from ralph_tui.ports.agents import Permissions, Turn


class SessionBudget(Step):
    """Keeps the sessions of a run within its budgets."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._start = run.start
        self._exceeded = False

    def begin(self) -> None:
        """Start watching a new session."""
        self._exceeded = False

    def allowed_usd(self) -> float | None:
        """Return the USD that a session may spend; None without a budget."""
        run, start = self._state.run, self._start
        rests = []
        if run.budget_usd is not None:
            rests.append(run.budget_usd - run.cost_usd)
        if start.iteration_budget_usd is not None:
            rests.append(start.iteration_budget_usd - run.iteration_cost_usd)
        return max(0.01, min(rests)) if rests else None

    def keep(self) -> None:
        """Stop a session that has used up a budget, for agents that do not check it themselves."""
        if self._exceeded or self._scheduler.session is None:
            return
        words = self._limit_reached()
        if words:
            self._exceeded = True
            self.record(
                ev.Noticed(level="warn", source="budget", text=f"{words}; the session must end")
            )
            self._scheduler.end_session("budget")

    @property
    def used_up(self) -> bool:
        """True if no further session may begin in this iteration."""
        return bool(self._limit_reached())

    def _limit_reached(self) -> str:
        for name, used, limit, shown in self._budgets():
            if used >= limit:
                return f"{name} of {shown(limit)} is used up ({shown(used)})"
        return ""

    def _budgets(self) -> Iterator[tuple[str, float, float, Callable[[float], str]]]:
        """Yield each budget that is set: its name, the used amount, the limit, and their format."""
        run, start = self._state.run, self._start
        for name, used, limit, shown in (
            ("the run's budget", run.cost_usd, run.budget_usd, _dollars),
            (
                "the iteration's budget",
                run.iteration_cost_usd,
                start.iteration_budget_usd,
                _dollars,
            ),
            ("the run's token budget", run.tokens, run.budget_tokens, _tokens),
            (
                "the iteration's token budget",
                run.iteration_tokens,
                start.iteration_budget_tokens,
                _tokens,
            ),
        ):
            if limit is not None:
                yield name, used, limit, shown

    def report_overrun(self, k: int) -> None:
        """Report budget overruns: a session stops only after the call that exceeds a budget."""
        over = [
            f"{name} by {shown(used - limit)}"
            for name, used, limit, shown in self._budgets()
            if used > limit
        ]
        if over:
            text = f"iteration {k} exceeded {' and '.join(over)}"
            self.record(ev.Noticed(level="warn", source="budget", text=text))


def _dollars(usd: float) -> str:
    return f"${usd:,.6g}"


def _tokens(number: float) -> str:
    return f"{number:,.0f}"


REFUSED = ("limited", "missing", "not_started", "auth", "unknown_model")
"""Session outcomes after which an agent cannot work, temporarily or until the user fixes it."""

SWITCHING = ("rolled_over", "limited", "silent", "unresumable", "stopped")
"""Session outcomes after which another session of the same iteration follows."""
_FROM_THERE = "Check the state of the files and continue from there. Do not restart the task."
CONTINUE = f"You were interrupted because you produced no output for a long time. {_FROM_THERE}"
CONTINUE_SERVED = (
    f"Your service stopped because of a limit or an outage. This is a retry. {_FROM_THERE}"
)
"""Prompts for resuming a session: after silence, and after a limit or an outage."""
TAKEN_OVER = (
    "Another agent worked on this task before you and cannot continue. Its changes are "
    f"in the repository. {_FROM_THERE}"
)
"""Addition to the prompt of an agent's first session after it takes over."""


class Sessions(Step):
    """Runs the sessions of one iteration."""

    def __init__(
        self,
        run: Run,
        checkpoints: Checkpoints,
        asker: QuestionAsker,
        handoff_runner: HandoffRunner,
        state_file: StateFile,
    ) -> None:
        super().__init__(run)
        self._ports = run.ports
        self._start = run.start
        self._checkpoints = checkpoints
        self._asker = asker
        self._handoff_runner = handoff_runner
        self._state_file = state_file
        self._items = PlanItems(run)
        self._patterns = ToolPatterns(run)
        self._agents = Agents(run)
        self._context = ContextMonitor(run, self._items)
        self._budget = SessionBudget(run)

    def warn(self) -> None:
        """Report caveats about the agents before their first session."""
        self._agents.warn()

    def read_plan(self) -> None:
        """Read the plan before the prompt is written: it says how many items to take on."""
        self._items.begin()

    def run(self, k: int, prompt_text: PromptText) -> ev.SessionFinished:
        """Run sessions until the iteration's work ends; return how the last one ended.

        Raises `Ended` if no agent can work, ``AgentError`` if the agent cannot be started.
        """
        watchdog = Watchdog(k, self._run, self._asker, lambda: self._agents.replacement_agent)
        prompt, instructed = prompt_text.prompt.text, self._state.intelligence.standing_instruction
        resume: str | None = None
        continue_prompt = taken_over = ""
        records, prepared = self._ports.records, self._state.gate.prompt
        unsent = prepared.path if prepared is not None else None
        self._agents.begin(k)
        while True:
            folder = self._scheduler.run_job("record", lambda: records.iteration_folder(k))
            queued = [item.text for item in self._state.guidance.queued]
            said = later_text(self._state, queued, instructed)
            instructed = self._state.intelligence.standing_instruction
            prompt = f"{prompt.rstrip()}{said}" if said else prompt
            words = f"{prompt}{taken_over}" if resume is None else f"{continue_prompt}{said}"
            if said or taken_over or unsent is None:
                self._save_text(k, words, unsent)
            turn = self._turn(k, folder, words, resume)
            turn = replace(turn, system_context=prompt_text.system_context)
            finished = self._session(turn, watchdog)
            unsent = None
            resumes = self._agents.working.resumes
            if self._switch_agent(k, finished, watchdog):
                resume, taken_over = None, f"\n\n{TAKEN_OVER}"
            elif finished.outcome == "limited":
                if finished.tokens and resumes:  # without tokens, no work had begun
                    resume, continue_prompt = turn.session_id, CONTINUE_SERVED
            elif finished.outcome == "silent":
                resume, continue_prompt = (turn.session_id if resumes else None), CONTINUE
            elif finished.outcome in ("unresumable", "not_started"):
                resume = None
            elif finished.outcome == "stopped":  # because the disk was full; the run continues
                resume = None
                self._checkpoints.retry_boundary(k)
            elif finished.outcome not in ("rolled_over", "context_full"):
                self._budget.report_overrun(k)
                return finished
            request = self._handoff_request(turn, finished)
            if request is not None and self._can_continue():
                prompt_text = self._handoff_runner.hand_off(k, request)
                taken_over = ""
                self._state_file.keep()
                prompt, resume = prompt_text.prompt.text, None
                instructed = self._state.intelligence.standing_instruction
                unsent = self._state.gate.prompt.path if self._state.gate.prompt else None
            elif finished.outcome in ("rolled_over", "context_full"):
                if request is not None:
                    self._handoff_runner.leave_handoff(k, request)
                self._budget.report_overrun(k)
                return finished

    def _switch_agent(self, k: int, finished: ev.SessionFinished, watchdog: Watchdog) -> bool:
        """Handle a refused or silent session; True if another agent continues the iteration."""
        if finished.outcome in REFUSED:
            return self._agents.refused(k, finished)
        if finished.outcome == "silent" and watchdog.switches_agent:
            return self._agents.silent(k, finished)
        return False

    def _handoff_request(self, turn: Turn, finished: ev.SessionFinished) -> HandoffRequest | None:
        """Return why another session should take over; None if none should.

        If a handoff was due when a limit or silence ended the session, the session hands off
        instead of being resumed.
        """
        monitor, request = self._context, self._context.request
        if finished.outcome == "context_full":
            monitor.overflowed()
            # Without any work done, the prompt alone filled the window and would fill the next one.
            done = turn.resume is not None or self._state.context.calls > 0
            acts = done and self._run.settings.context.rollover
            request = HandoffRequest("L3", "the context window is full") if acts else None
        elif finished.outcome not in SWITCHING:
            return None
        return request

    def _can_continue(self) -> bool:
        """True if a fresh session of the same iteration may follow."""
        return self._context.can_hand_off and not self._budget.used_up

    def _save_text(self, k: int, words: str, unsent: str | None) -> None:
        """Save the words for the next session in a file, before they are sent.

        `unsent`: the prompt's file if no session has received it, else None.
        """
        queued, records = self._state.guidance.queued, self._ports.records
        path = self._scheduler.run_job("prompt", lambda: records.write_prompt(k, words, unsent))
        before = self._state.gate.prompt
        whole = before is not None and len(words) >= before.characters
        self.record(
            ev.PromptPrepared(
                iteration=k,
                path=records.relative(path),
                urgency=before.urgency if before else "normal",
                characters=len(words),
                guidance=[item.guidance_id for item in queued],
                tokens=estimate_tokens(words),
                cut=before.cut if before and whole else [],
                origin=before.origin if before else "template",
                edited_by=before.edited_by if before else "",
                system_context=before.system_context if before else "",
                assessment=before.assessment if before else "",
                next_prompt=before.next_prompt if before else "",
            )
        )
        for item in queued:
            self.record(ev.GuidanceDelivered(guidance_id=item.guidance_id, into="prompt"))

    def _turn(self, k: int, folder: Path, prompt: str, resume: str | None) -> Turn:
        needs = self._state.needs
        return Turn(
            iteration=k,
            prompt=prompt,
            session_id=str(uuid4()),
            transcript=folder / "transcript.jsonl",
            stderr=folder / "stderr.log",
            command=self._start.command or "",
            permissions=Permissions(_mode(needs.mode), needs.allow),
            budget_usd=self._budget.allowed_usd(),
            resume=resume,
        )

    def _session(self, turn: Turn, watchdog: Watchdog) -> ev.SessionFinished:
        scheduler, checkpoints, k = self._scheduler, self._checkpoints, turn.iteration
        checkpoints.begin_session(k, turn.session_id)
        self._ports.watcher.follow(k, checkpoints.latest.tree)
        questions = AgentQuestions(k, self._run, self._asker)
        self._budget.begin()
        self._context.begin()
        self._items.begin()
        watchdog.begin()

        def look_after() -> None:
            if scheduler.session is not None:
                self._items.watch()
                self._patterns.watch()
                self._state_file.follow()
                self._context.watch()
                self._budget.keep()
                watchdog.watch()
                questions.watch()
                self._asker.tick()

        periodic = self._run.settings.checkpoints
        if periodic.enabled:
            scheduler.start_timer(periodic.interval_s, lambda: checkpoints.capture(k, "timer"))
        controls = Controls(
            capture=lambda note, by: checkpoints.capture(k, "key", note, by),
            look_after=look_after,
            answered=self._asker.answered,
        )
        self._ports.memory.begin()
        try:
            with scheduler.accepting(controls):
                scheduler.session = self._agents.working.start(turn, scheduler.host.emit)
                finished = scheduler.wait_for_session()
        finally:
            scheduler.stop_timer()
            self._ports.memory.end()
        watchdog.end()
        questions.end()
        scheduler.join()
        self._items.end()
        self._patterns.look()  # include the results of the last calls
        self._context.end()
        return finished


def _mode(recorded: str) -> Literal["edits", "skip", "ask"]:
    """Return the permission mode; an unknown one becomes the most restrictive."""
    return "skip" if recorded == "skip" else "ask" if recorded == "ask" else "edits"
