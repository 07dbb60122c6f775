"""While the agent works: which item of the plan is the next one, and whether it still fits.

The plan file is read before a session starts, when it is over, and meanwhile, beside the engine's
thread, after the agent was heard of or a file has changed, at most every few seconds.
"""

from ralph_tui.events import Noticed, PlanItemBegan
from ralph_tui.layers.context.sizes import Estimate, estimate
from ralph_tui.layers.sensor import Progress
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.assessment import read_plan
from ralph_tui.ports.host import Job

LOOK_S = 3.0
"""Seconds from one look at the plan to the next."""
READ_S = 10.0
"""Seconds that are waited for the plan between two sessions."""
GAIN = 5.0
"""Points of the window that a fresh session must gain: the least that any item takes."""

LONGEST = 500
"""Characters of an item that are recorded."""
LATER = 20
"""Open items after it that are recorded."""
MEDIUM = estimate("")
"""What an item is taken for of which nothing is known."""


class PlanItems(Step):
    """Follows the plan through the sessions of a run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.unfit = ""
        """Why a fresh session should take the next item on, as a sentence; empty: no reason."""
        self._host = run.scheduler.host
        self._job: Job | None = None
        self._due = 0.0
        self._signs: tuple[object, ...] | None = None
        self._unsure: str | None = None
        """An item that was read once: a plan that is just being written may miss some."""
        self._settled = False
        """Whether this session's first item is known."""
        self._failed = False

    def begin(self) -> None:
        """A session is about to start: the item it begins with."""
        self.unfit, self._job, self._due = "", None, 0.0
        self._signs = self._unsure = None
        self._failed = self._settled = False
        self._notice(None)
        self._settled = self._state.context.item is not None

    def watch(self) -> None:
        """Look at the plan when that may tell something new; called while the agent works."""
        if self._run.start.plan is None or self._failed:
            return
        if self._job is None:
            self._look()
        elif self._job.done:
            job, self._job = self._job, None
            self._take(job)

    def _look(self) -> None:
        run, now = self._state.run, self._host.clock.monotonic()
        signs = (run.last_output_at, run.last_change_at)
        if now >= self._due and (signs != self._signs or self._unsure is not None):
            self._signs, self._due = signs, now + LOOK_S
            # Nobody waits for it: a plan on a disk that hangs holds up nothing.
            self._job = self._host.start("plan", self._run.ports.read_plan)

    def _take(self, job: Job) -> None:
        plan = self.guarded(
            "sensor",
            lambda: _given(job),
            self._fail,
            instead="the plan is not looked at again in this session",
        )
        if plan is None:
            return
        item = _first_open(plan)
        if self._is_known(item):
            self._unsure, self._settled = None, True
        elif self._unsure == item:
            self._begin(item, plan, self._state.context.percent)
            self._unsure, self._settled = None, True
        else:
            self._unsure, self._due = item, 0.0

    def end(self) -> None:
        """The session is over: what it ticked last is noticed before anybody takes over."""
        self._notice(self._state.context.percent)

    def _notice(self, percent: float | None) -> None:
        """Between sessions nobody is writing the plan: it is read once, and waited for a little."""
        if self._run.start.plan is None:
            return
        plan = read_plan(self._run, READ_S)
        if isinstance(plan, Progress) and not self._is_known(_first_open(plan)):
            self._begin(_first_open(plan), plan, percent)

    def _is_known(self, item: str) -> bool:
        known = self._state.context.item
        return known is not None and known.item == item

    def _begin(self, item: str, plan: Progress, percent: float | None) -> None:
        expected = self.guarded(
            "context",
            lambda: _sound(estimate(item, self._state.plan_items.taken)),
            lambda: MEDIUM,
            instead="the plan's next item is taken for a medium one",
        )
        self.record(
            PlanItemBegan(
                iteration=self._state.run.iteration,
                item=item,
                size=expected.size,
                low=expected.low,
                high=expected.high,
                basis=expected.basis,
                percent=percent,
                done=plan.done,
                total=plan.total,
                later=[text[:LONGEST] for text, done in plan.items if not done][1 : 1 + LATER],
            )
        )
        self.unfit = self._why_unfit(expected) if item and self._settled else ""
        if item and expected.size == "very complex":
            self.record(
                Noticed(
                    level="warn",
                    source="context",
                    text=f"the plan's next item ({expected.size}) takes {expected.low:.0f} % of a "
                    "window or more: split it into smaller ones",
                )
            )

    def _why_unfit(self, expected: Estimate) -> str:
        """An item that begins in a session that has worked gets a fresh one where that helps.

        The first item of a session is never asked about: a rollover would only lead back to it.
        """
        context = self._state.context
        percent, window = context.percent, context.window
        if percent is None or not window or not context.calls:
            return ""
        left = max(0.0, self._run.settings.context.checkpoint_percent - percent)
        gained = percent - 100 * (context.first_tokens or 0) / window
        if expected.high <= left or gained < GAIN:
            return ""
        return (
            f"the next item ({expected.size}, up to {expected.high:.0f} %) does not fit in the "
            f"{left:.0f} % that are left"
        )

    def _fail(self) -> None:
        self._failed = True


def _first_open(plan: Progress) -> str:
    """Empty: all of them are done."""
    return next((text for text, done in plan.items if not done), "")[:LONGEST]


def _given(job: Job) -> Progress | None:
    if job.error is not None:
        raise job.error
    if job.result is not None and not isinstance(job.result, Progress):
        raise TypeError(f"a plan is no {type(job.result).__name__}")
    return job.result


def _sound(given: Estimate) -> Estimate:
    if not isinstance(given, Estimate):
        raise TypeError(f"an estimate is no {type(given).__name__}")
    return given
