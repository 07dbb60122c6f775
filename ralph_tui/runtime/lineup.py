"""The agents of a run: the chosen one and its fallbacks, each checked before the run begins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ralph_tui.adapters.agents import (
    AgentContext,
    AgentDescription,
    choose_fallbacks,
    fallback_settings,
)
from ralph_tui.base.errors import UsageError
from ralph_tui.config.settings import Settings
from ralph_tui.text.sanitize import one_line


@dataclass(frozen=True)
class Lineup:
    """The agents that can work, in order of preference."""

    agents: Sequence[tuple[AgentDescription, AgentContext]]
    absent: Mapping[str, str]
    """Why requested agents cannot work, by agent name."""
    notes: Sequence[str]
    """Notes for the user, one sentence each."""


def line_up(first: AgentDescription, context: AgentContext, settings: Settings) -> Lineup:
    """Check all agents. Raises ``UsageError`` if a name is wrong or none of them can work."""
    fallbacks = choose_fallbacks(settings.agent, context.environ)
    if not fallbacks:
        first.check(context)
        own = [first]
        notes = (
            *_warn_duplicate(first, settings),
            *_warn_no_asking(own, settings),
            *_warn_no_tokens(own, settings),
            *_warn_no_cost(first, own, settings),
        )
        return Lineup([(first, context)], {}, notes)
    _refuse(first, fallbacks, settings)
    agents, absent = [], dict[str, str]()
    problem: UsageError | None = None
    for agent in (first, *fallbacks):
        of_its_own = context
        if agent is not first:
            theirs = fallback_settings(settings.agent, agent.name)
            of_its_own = context._replace(settings=theirs)
        try:
            agent.check(of_its_own)
        except UsageError as error:
            problem = problem or error
            absent[agent.name] = _absence(agent, of_its_own, error)
        else:
            agents.append((agent, of_its_own))
    if not agents:
        assert problem is not None
        raise problem
    return Lineup(agents, absent, tuple(_notes(first, agents, absent, settings)))


def _refuse(
    first: AgentDescription, fallbacks: Sequence[AgentDescription], settings: Settings
) -> None:
    free = next((agent.name for agent in fallbacks if not agent.restricted), None)
    if free is not None and first.restricted and settings.permissions.mode != "skip":
        raise UsageError(
            f"the agent `{free}` (agent.fallback) does not enforce permissions; it can replace "
            f"`{first.name}` only with --permissions skip"
        )
    given = [agent.name for agent in (first, *fallbacks) if agent.name in ("acp", "command")]
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(f'`{name}`' for name in given)} both use agent.command; remove one "
            "from agent.name and agent.fallback"
        )


def _absence(agent: AgentDescription, context: AgentContext, error: UsageError) -> str:
    """Return why an agent is missing and, for a program, where ralph-tui looked for it."""
    if agent.program and not agent.is_ready(context.settings, context.environ):
        search_place = agent.search_place(context.settings, context.environ)
        return f"{agent.title} was not found; looked for {search_place}"
    return one_line(str(error))


def _warn_duplicate(first: AgentDescription, settings: Settings) -> Iterator[str]:
    if first.name in settings.agent.fallback and not first.reserved:
        yield (f"{first.name} (agent.fallback) is already the main agent; the fallback is ignored")


def _warn_no_asking(agents: Sequence[AgentDescription], settings: Settings) -> Iterator[str]:
    """Warn about agents that can neither ask for permissions nor enforce them."""
    for agent in agents if settings.permissions.mode == "ask" else ():
        if not agent.restricted and not agent.reserved:
            yield (
                f"the agent `{agent.name}` cannot ask (--permissions ask) and does not "
                "enforce permissions; it can do anything that you can do"
            )


def _warn_no_tokens(agents: Sequence[AgentDescription], settings: Settings) -> Iterator[str]:
    limits = settings.limits
    has_budget = limits.budget_tokens is not None or limits.iteration_budget_tokens is not None
    for agent in agents:
        if agent.abilities.tokens == "last call":
            yield (
                f"{agent.name} reports only the tokens of each prompt's last call; token counts "
                "are too low, and token budgets may be exceeded"
            )
        elif not agent.abilities.tokens and has_budget:
            yield f"{agent.name} does not report its tokens; the token budget does not limit it"


def _notes(
    first: AgentDescription,
    agents: Sequence[tuple[AgentDescription, AgentContext]],
    absent: Mapping[str, str],
    settings: Settings,
) -> Iterator[str]:
    yield from _warn_duplicate(first, settings)
    for name, why in absent.items():
        where = "" if name == first.name else " (agent.fallback)"
        then = f"{agents[0][0].name} is used instead" if name == first.name else "it is ignored"
        yield f"{name}{where} is not available; {then}: {why}"
    yield from _warn_no_asking([agent for agent, _ in agents], settings)
    yield from _warn_no_tokens([agent for agent, _ in agents], settings)
    yield from _warn_no_cost(first, [agent for agent, _ in agents], settings)


def _warn_no_cost(
    first: AgentDescription, agents: Sequence[AgentDescription], settings: Settings
) -> Iterator[str]:
    """Warn about agents that do not report their cost, if there is a budget in dollars."""
    limits = settings.limits
    if limits.budget_usd is None and limits.iteration_budget_usd is None:
        return
    for agent in agents:
        if agent.abilities.cost:
            continue
        name = agent.name if agent is first else f"{agent.name} (agent.fallback)"
        if agent.name == "acp":  # it can be any program, and some report it
            yield (
                f"{name} may not report its cost; the dollar budget applies only to reported cost"
            )
        else:
            yield f"{name} does not report its cost; the dollar budget does not limit it"
