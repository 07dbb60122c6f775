"""The plan of an attempt: made of what earlier runs taught, or, without memory, of its settings."""

from ralph_tui.adapters.records.aiwg.records import AttemptPlan
from ralph_tui.events import PlanMade, RunStarted
from ralph_tui.text.format import count, duration


def plan_of(started: RunStarted, made: PlanMade | None) -> AttemptPlan:
    """What the attempt set out to do."""
    if made is None:
        steps = [f"work through {started.plan}"] if started.plan else []
        return AttemptPlan(approach=_approach(started), steps=steps)
    known = made.estimated_iterations is not None
    return AttemptPlan(
        approach=made.approach,
        steps=made.steps,
        estimated_iterations=made.estimated_iterations,
        estimate_from=made.estimate_from if known else None,
        cites=made.cites,
        related=made.related,
    )


def plan_text(started: RunStarted, made: PlanMade | None) -> str:
    """``plan.md``: what was wanted, how it is gone about, and within which limits."""
    plan = plan_of(started, made)
    end = "" if plan.approach.endswith((".", "!", "?")) else "."
    parts = [
        f"# Plan of {started.task}/{started.attempt}",
        started.objective.strip(),
        f"## Approach\n\n{plan.approach}{end}",
        *([_numbered("Steps", plan.steps)] if made and plan.steps else []),
        *([f"The items of `{started.plan}` are counted."] if started.plan else []),
        *_estimate(plan),
        *([_listed("Follows", plan.cites)] if plan.cites else []),
        *([_listed("Tasks like this one", plan.related)] if plan.related else []),
        _listed("Limits", _limits(started)),
    ]
    return "\n\n".join(parts) + "\n"


def _estimate(plan: AttemptPlan) -> list[str]:
    if plan.estimated_iterations is None:
        return []
    told = f"About {count(plan.estimated_iterations, 'iteration')}"
    rests = f", from {count(plan.estimate_from, 'run')}" if plan.estimate_from else ""
    return [f"## Estimate\n\n{told}{rests}."]


def _limits(started: RunStarted) -> list[str]:
    limits = [
        f"at most {count(started.max_iterations, 'iteration')}",
        f"a session at most {duration(started.session_timeout_s)}",
    ]
    if started.budget_usd is not None:
        limits.append(f"${started.budget_usd:,.2f} for the run")
    if started.budget_tokens is not None:
        limits.append(f"{started.budget_tokens:,} tokens for the run")
    return limits


def _approach(started: RunStarted) -> str:
    goal = (
        f"`{started.command}` passes" if started.command else f"this is true: {started.criterion}"
    )
    return (
        f"{started.agent} works in a loop, measured after each of at most "
        f"{count(started.max_iterations, 'iteration')}, until {goal}"
    )


def _numbered(title: str, items: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))


def _listed(title: str, items: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {item}" for item in items)
