"""Sentences that a check with real agents proved wrong."""

from datetime import UTC, datetime

from ralph_tui.adapters.agents import AGENTS
from ralph_tui.adapters.agents.ends import Remedies, sentence
from ralph_tui.events import AgentChanged

NOW = datetime(2026, 11, 23, 15, 0, tzinfo=UTC)


def test_a_guessed_end_of_a_limit_is_the_next_try() -> None:
    event = AgentChanged(
        iteration=1, before="claude", agent="codex", cause="usage_limit", until=NOW, at=NOW
    )
    assert event.words(NOW).startswith("claude is at its limit until ")
    guessed = event.model_copy(update={"guessed": True})
    assert guessed.words(NOW).startswith("claude is at its limit, retry at ")


def test_a_low_balance_is_no_matter_of_signing_in() -> None:
    remedies: Remedies = {"auth": "sign in with /login"}
    assert "/login" in sentence("auth", "401 unauthorized", remedies)
    failure = sentence("auth", "Credit balance is too low", remedies)
    assert "/login" not in failure
    assert "add credit" in failure


def test_agents_that_do_not_report_all_of_their_tokens() -> None:
    reported = {agent.name: agent.abilities.tokens for agent in AGENTS}
    assert {name: calls for name, calls in reported.items() if calls != "all"} == {
        "opencode": "last call",
        "command": "",
    }
