"""What an agent can do and tell, in words: for whoever chooses one, and as the table of the README.

Rule: what it cannot tell is unknown. Light.
"""

from collections.abc import Iterator, Sequence

from ralph_tui.adapters.agents.description import Abilities, AgentDescription

HEAD = (
    "agent",
    "asks you",
    "after a no",
    "words mid-turn",
    "context",
    "cost",
    "limits",
    "goes on later",
    "run with",
)
_CONTEXT = {"live": "live", "turn end": "at a turn's end"}
_LIMITS = {"with reset": "with their end", "class": "without their end"}


def can_words(abilities: Abilities) -> str:
    """``asks you, ..., resumes; unknown: its cost``: in the order of the table."""
    able = ", ".join(_able(abilities)) or "works on its prompt"
    unknown = ", ".join(_unknown(abilities))
    return f"{able}; unknown: {unknown}" if unknown else able


def _able(told: Abilities) -> Iterator[str]:
    if told.questions:
        yield "can ask you"
    if told.words_mid_turn:
        yield "takes words while it works"
    if told.context:
        yield f"tells its context{'' if told.context == 'live' else ' when a turn ends'}"
    if told.cost:
        yield "tells its cost"
    if told.limits:
        yield f"tells limits {_LIMITS[told.limits]}"
    if told.resume:
        yield "resumes sessions"


def _unknown(told: Abilities) -> Iterator[str]:
    if not told.context:
        yield "its context"
    if not told.cost:
        yield "its cost"
    if told.limits != "with reset":
        yield "when a limit ends"


def row(agent: AgentDescription) -> Sequence[str]:
    """Its row in the table."""
    told = agent.abilities
    after = "goes on" if told.refusal_goes_on else "is prompted again"
    return (
        f"`{agent.name}`",
        _yes(told.questions),
        after if told.questions else "—",
        _yes(told.words_mid_turn),
        _CONTEXT.get(told.context, "unknown"),
        "told" if told.cost else "unknown",
        _LIMITS.get(told.limits, "unknown"),
        _yes(told.resume),
        f"{agent.title} {agent.seen_versions}" if agent.seen_versions else "—",
    )


def table(agents: Sequence[AgentDescription]) -> str:
    """The table of abilities, as it stands in the README."""
    rows = [HEAD, tuple("---" for _ in HEAD), *map(row, agents)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _yes(able: bool) -> str:  # noqa: FBT001 - a word for a word
    return "yes" if able else "no"
