"""Budgets of dollars and tokens: what a session may use, and when it has to end for it."""

from ralph_tui.events import Noticed
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step


class SessionBudget(Step):
    """Keeps the sessions of a run within its budgets."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._start = run.start
        self._exceeded = False

    def begin(self) -> None:
        """A session starts."""
        self._exceeded = False

    def allowed_usd(self) -> float | None:
        """What the next session may cost: the rest of the iteration's and of the run's budget."""
        run, start = self._state.run, self._start
        rests = []
        if run.budget_usd is not None:
            rests.append(run.budget_usd - run.cost_usd)
        if start.iteration_budget_usd is not None:
            rests.append(start.iteration_budget_usd - run.iteration_cost_usd)
        return max(0.01, min(rests)) if rests else None

    def keep(self) -> None:
        """Stop a session that has used what it may, for agents that do not look themselves."""
        if self._exceeded or self._scheduler.session is None:
            return
        words = self._limit_reached()
        if words:
            self._exceeded = True
            self.record(
                Noticed(level="warn", source="budget", text=f"{words}; the session has to end")
            )
            self._scheduler.end_session("budget")

    @property
    def used_up(self) -> bool:
        """Whether no further session may begin in this iteration."""
        return bool(self._limit_reached())

    def _limit_reached(self) -> str:
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

    def tell_overshoot(self, k: int) -> None:
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
            self.record(Noticed(level="warn", source="budget", text=text))
