"""Follow the plan while the agent works: its next item, and whether that still fits.

The plan file is read before and after each session. During a session it is read off the engine's
thread, after agent output or a file change, at most every few seconds.
"""

from ralph_tui.events import Noticed, PlanItemBegan
from ralph_tui.layers.context.sizes import Estimate, estimate
from ralph_tui.layers.context.window import calls_until
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.assessment import read_plan
from ralph_tui.ports.host import Job
from ralph_tui.text.format import count

LOOK_S = 3.0
"""Seconds between two reads of the plan."""
READ_S = 10.0
"""Seconds to wait for the plan between two sessions."""
GAIN = 5.0
"""Minimum share of the window that starting a fresh session must free, in percentage points.

This is the size of the smallest item.
"""
FEW_CALLS = 3
"""With at most this many tool calls left before the checkpoint, a session begins no new item.

Even a small item takes one call each to read, change and test something.
"""

LONGEST = 500
"""Maximum length of an item's recorded text, in characters."""
LATER = 20
"""Maximum number of later open items to record."""
MEDIUM = estimate("")
"""Estimate for an unknown item."""


class PlanItems(Step):
    """Follows the plan through the sessions of a run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.unfit = ""
        """Why the next item needs a fresh session, as a sentence; empty if it does not."""
        self._host = run.scheduler.host
        self._job: Job | None = None
        self._due = 0.0
        self._signs: tuple[object, ...] | None = None
        self._unsure: str | None = None
        """The next item if it was read only once so far: the plan may still be half written."""
        self._settled = False
        """True once this session's first item is known."""
        self._failed = False

    def begin(self) -> None:
        """Start to follow a session; record its first plan item."""
        self.unfit, self._job, self._due = "", None, 0.0
        self._signs = self._unsure = None
        self._failed = self._settled = False
        self._read_now(None)
        self._settled = self._state.context.item is not None

    def watch(self) -> None:
        """Read the plan when it may have changed; called while the agent works."""
        if self._run.start.plan is None or self._failed:
            return
        if self._job is None:
            self._start_reading()
        elif self._job.done:
            job, self._job = self._job, None
            self._take(job)

    def _start_reading(self) -> None:
        run, now = self._state.run, self._host.clock.monotonic()
        signs = (run.last_output_at, run.last_change_at)
        if now >= self._due and (signs != self._signs or self._unsure is not None):
            self._signs, self._due = signs, now + LOOK_S
            # In the background, so that a hanging disk delays nothing.
            self._job = self._host.start("plan", self._run.ports.read_plan)

    def _take(self, job: Job) -> None:
        plan = self.guarded(
            "sensor",
            lambda: _job_result(job),
            self._fail,
            instead="the plan is not read again in this session",
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
        """Record the ended session's last ticks before another one takes over."""
        self._read_now(self._state.context.percent)

    def _read_now(self, percent: float | None) -> None:
        """Read the plan once, with a short wait: nothing changes it between sessions."""
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
            lambda: _validate(estimate(item, self._state.plan_items.taken)),
            lambda: MEDIUM,
            instead="the plan's next item is treated as medium",
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
        self.unfit = self._describe_misfit(expected) if item and self._settled else ""
        if item and expected.size == "very complex":
            self.record(
                Noticed(
                    level="warn",
                    source="context",
                    text=f"the plan's next item ({expected.size}) takes {expected.low:.0f} % of a "
                    "window or more: split it into smaller items",
                )
            )

    def _describe_misfit(self, expected: Estimate) -> str:
        """Explain why the item needs a fresh session; empty if it fits or nothing would be gained.

        A session's first item never needs one, because a handoff would only lead back to it.
        """
        context = self._state.context
        percent, window = context.percent, context.window
        if percent is None or not window or not context.calls:
            return ""
        left = max(0.0, self._run.settings.context.checkpoint_percent - percent)
        gained = percent - 100 * (context.first_tokens or 0) / window
        if gained < GAIN:
            return ""
        if expected.high <= left:
            return self._describe_forecast()
        return (
            f"the next item ({expected.size}, up to {expected.high:.0f} %) does not fit in the "
            f"remaining {left:.0f} %"
        )

    def _describe_forecast(self) -> str:
        """Explain why the checkpoint comes too soon to begin the next item, whatever its size.

        Between two items, a handoff costs no understanding of the work; a few calls later it does.
        """
        context, checkpoint = self._state.context, self._run.settings.context.checkpoint_percent
        calls = calls_until(checkpoint, context.readings, context.window)
        if calls is None or calls > FEW_CALLS:
            return ""
        return f"the next item would begin {count(calls, 'tool call')} before {checkpoint:g} %"

    def _fail(self) -> None:
        self._failed = True


def _first_open(plan: Progress) -> str:
    return next((text for text, done in plan.items if not done), "")[:LONGEST]


def _job_result(job: Job) -> Progress | None:
    if job.error is not None:
        raise job.error
    if job.result is not None and not isinstance(job.result, Progress):
        raise TypeError(f"expected a plan, not a {type(job.result).__name__}")
    return job.result


def _validate(given: Estimate) -> Estimate:
    if not isinstance(given, Estimate):
        raise TypeError(f"expected an estimate, not a {type(given).__name__}")
    return given
