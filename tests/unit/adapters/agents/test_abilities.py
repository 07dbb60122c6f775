"""The guide lists the same agent abilities as the code."""

from pathlib import Path

from ralph_tui.adapters.agents import AGENTS, selectable_agents
from ralph_tui.adapters.agents.description import (
    HEAD,
    Abilities,
    AgentDescription,
    can_words,
    table,
)
from tests.rows import each_row

GUIDE = Path(__file__).parents[4] / "docs/guide/agents.md"


def test_the_guide_has_the_table_of_the_code() -> None:
    made = table(
        [
            agent
            for agent in selectable_agents()
            if agent.abilities._replace(tokens="all") != Abilities()
        ]
    )
    lines = GUIDE.read_text().splitlines()
    first = lines.index(f"| {' | '.join(HEAD)} |")
    stands = lines[first : first + len(made.splitlines())]
    assert "\n".join(stands) == made
    assert not lines[first + len(stands)].startswith("|"), "every agent has a description"


@each_row("agent", AGENTS)
def test_what_it_cannot_tell_is_unknown(agent: AgentDescription) -> None:
    claimed, words = agent.abilities, can_words(agent.abilities)
    able, _, unknown = words.partition("; unknown: ")
    assert ("its context" in unknown) == (not claimed.context)
    assert ("its cost" in unknown) == (not claimed.cost)
    assert ("when a limit ends" in unknown) == (claimed.limits != "with reset")
    assert able
