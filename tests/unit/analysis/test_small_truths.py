"""Sentences that a check of real agents found untrue."""

from datetime import UTC, datetime, timedelta

from ralph_tui.adapters.agents import AGENTS
from ralph_tui.adapters.agents.failures import Remedies, sentence
from ralph_tui.analysis.checkpoints import summarize
from ralph_tui.events import AgentChanged, CheckpointCaptured, IterationStarted, SessionFinished
from ralph_tui.state import RunState
from ralph_tui.state.roster_wording import changed_words

NOW = datetime(2026, 11, 23, 15, 0, tzinfo=UTC)


def test_a_guessed_end_of_a_limit_is_the_next_try() -> None:
    event = AgentChanged(
        iteration=1, before="claude", agent="codex", cause="usage_limit", until=NOW, at=NOW
    )
    assert changed_words(event, NOW).startswith("claude is at its limit until ")
    guessed = event.model_copy(update={"guessed": True})
    assert changed_words(guessed, NOW).startswith("claude is at its limit, next try at ")


def test_a_low_balance_is_no_matter_of_signing_in() -> None:
    remedies: Remedies = {"auth": "sign in with /login"}
    assert "/login" in sentence("auth", "401 unauthorized", remedies)
    told = sentence("auth", "Credit balance is too low", remedies)
    assert "/login" not in told
    assert "add credit" in told


def test_sessions_without_an_end_checkpoint_count_with_their_time() -> None:
    state = RunState().apply_all(
        [
            IterationStarted(seq=1, at=NOW, iteration=1, max_iterations=3),
            SessionFinished(seq=2, at=NOW, iteration=1, outcome="limited", duration_s=7.0),
            CheckpointCaptured(
                seq=3, at=NOW, iteration=1, number=1, trigger="end", session_id="s2", duration_s=5.0
            ),
            SessionFinished(
                seq=4, at=NOW + timedelta(seconds=5), iteration=1, outcome="success", duration_s=5.0
            ),
        ]
    )
    told = summarize(state.timeline)
    assert told is not None
    assert told.seconds == 12.0


def test_only_opencode_reports_a_part_of_its_tokens() -> None:
    assert [agent.name for agent in AGENTS if not agent.abilities.tokens] == ["opencode"]
