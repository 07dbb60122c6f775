"""The command that continues a finished or damaged run. Uses only the standard library."""

from ralph_tui.text.terms import RECORD_BROKEN

MORE = 5
"""Additional iterations to propose when the granted ones are used up."""


def resume_command(run: str = "", kept: int | None = None, more: str = "") -> str:
    """Return the command that resumes a run; without a name, the newest.

    `kept`: number of events before the damage of a damaged journal; `more`: see `limit_options`.
    """
    named = f" {run}" if run else ""
    return f"ralph-tui resume{named}{'' if kept is None else f' --from {kept}'}{more}"


def explain_damage(run: str, kept: int) -> str:
    """Return why the end of a run with a damaged journal is unknown, and how to resume it."""
    return f"{RECORD_BROKEN}; {resume_command(run, kept)} continues from here"


def more_tokens(used: int) -> int:
    """Return a token budget to propose after this many tokens, in whole thousands."""
    return -(-2 * used // 1000) * 1000


def limit_options(
    done: int,
    most: int,
    budget_usd: float | None,
    *,
    limited: bool,
    tokens: int = 0,
    budget_tokens: int | None = None,
) -> str:
    """Return the options for `resume`, with a leading space; empty if it needs no options.

    `limited`: the run ended at its limit. A run without iterations left needs more, however it
    ended. `tokens`: those used so far.
    """
    if budget_tokens is not None and tokens >= budget_tokens:
        more = f" --max-iterations {most + MORE}" if done >= most else ""
        return f"{more} --set limits.budget_tokens={more_tokens(tokens)}"
    if done >= most or (limited and budget_usd is None):
        return f" --max-iterations {most + MORE}"
    if limited and budget_usd is not None:
        return f" --budget {2 * budget_usd:g}"
    return ""
