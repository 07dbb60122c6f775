"""Fallback between agents: at a limit, a refused login, a missing program."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from ralph_tui import events as ev
from ralph_tui.cli.fronts.run_lines import WIDTH
from ralph_tui.commands import RetryNow
from ralph_tui.config.settings import AgentSettings, Settings
from ralph_tui.loop.steps.sessions import TAKEN_OVER
from tests.lines import plain_line
from tests.world import FakeSession, World
from tests.world.host import BEGAN

HOUR = 3600.0
FALLBACKS = ["second", "third"]


def refused(
    outcome: str, seconds: float | None = None, **more: Any
) -> Callable[[FakeSession], None]:
    """Act: end this way; the limit resets `seconds` after the run's start."""

    def act(session: FakeSession) -> None:
        given = {"limit": "usage_limit"} if outcome == "limited" else {}
        fields = {
            "iteration": session.iteration,
            "outcome": outcome,
            "reason": f"{outcome} it is.",
            "resets_at": None if seconds is None else BEGAN + timedelta(seconds=seconds),
        }
        session.emit(ev.SessionFinished.model_validate(fields | given | more))

    return act


def taking(world: World, seconds: float) -> Callable[[FakeSession], None]:
    """Act: work for this long, and end the turn."""

    def act(session: FakeSession) -> None:
        session.emit(ev.AgentSpoke(iteration=session.iteration, text="at work"))
        world.host.clock.seconds += seconds
        session.finish()

    return act


def who(world: World) -> list[tuple[int, str]]:
    return [(event.iteration, event.agent) for event in world.all(ev.SessionStarted)]


def changes(world: World) -> list[tuple[int, str, str, str]]:
    return [(e.iteration, e.before, e.agent, e.cause) for e in world.all(ev.AgentChanged)]


def hang(session: FakeSession) -> None:
    """Act: stay silent forever."""


def test_who_is_silent_again_hands_over_and_is_tried_again_after_a_while() -> None:
    settings = Settings(agent=AgentSettings(silence_s=600, silence_answer_s=300))
    world = World([2, 4, 6, 8, 10], fallbacks=FALLBACKS, settings=settings)
    world.agent.acts.extend([hang, hang])
    second = world.fallbacks[0]
    second.acts.extend([taking(world, 60), taking(world, 1800)])
    world.run()
    assert [e.default for e in world.all(ev.QuestionAsked)] == ["retry", "hand_over"]
    assert "second continues this iteration" in str(world.all(ev.QuestionAsked)[1].options)
    assert who(world) == [
        (1, "fake"), (1, "fake"), (1, "second"), (2, "second"), (3, "fake"), (4, "fake"),
    ]  # fmt: skip
    assert changes(world) == [(1, "fake", "second", "outage"), (3, "second", "fake", "back")]
    assert not world.all(ev.WaitStarted)
    first, _ = second.prompts
    assert first == f"{world.agent.prompts[0]}\n\n{TAKEN_OVER}", (
        "it gets the task, not a request to continue"
    )
    assert [event.status for event in world.all(ev.IterationFinished)][:1] != ["interrupted"]


def test_where_all_are_silent_the_iteration_is_measured() -> None:
    settings = Settings(agent=AgentSettings(silence_s=600, silence_answer_s=300))
    world = World([2, 10], fallbacks=["second"], settings=settings)
    world.agent.acts.extend([hang, hang])
    world.fallbacks[0].acts.extend([hang, hang])
    world.run()
    asked = [e.default for e in world.all(ev.QuestionAsked)]
    assert asked == ["retry", "hand_over", "retry", "stop"], "each is retried once"
    assert who(world)[:4] == [(1, "fake"), (1, "fake"), (1, "second"), (1, "second")]
    assert world.end.outcome == "completed"


def test_at_a_long_limit_the_next_one_goes_on_and_the_first_comes_back() -> None:
    world = World([2, 4, 6, 8, 10], fallbacks=FALLBACKS)
    world.agent.acts.append(refused("limited", HOUR))
    second = world.fallbacks[0]
    second.acts.extend([taking(world, 1800), taking(world, 2400)])
    world.run()
    assert who(world) == [(1, "fake"), (1, "second"), (2, "second"), (3, "fake"), (4, "fake")]
    assert changes(world) == [(1, "fake", "second", "usage_limit"), (3, "second", "fake", "back")]
    assert not world.all(ev.WaitStarted)
    assert world.end.outcome == "completed"
    assert len(world.all(ev.IterationFinished)) == 4, "no iteration is spent on a limit"
    first, again = second.prompts
    assert first == f"{world.agent.prompts[0]}\n\n{TAKEN_OVER}"
    assert TAKEN_OVER not in again
    handed, back = world.all(ev.AgentChanged)
    assert handed.until is not None
    assert timedelta(0) < handed.until - (BEGAN + timedelta(hours=1)) < timedelta(minutes=1)
    assert handed.words(BEGAN).endswith("; second takes over in the meantime")
    assert handed.words(BEGAN).startswith("fake is at its limit until ")
    assert back.words(BEGAN) == "trying fake again instead of second"
    assert [text.partition(" (")[0] for text in world.state.roster.worked_words] == [
        "fake in iterations 1, 3-4",
        "second in iterations 1-2",
    ]
    assert world.state.roster.explain_fallback(BEGAN) == ""


def test_a_short_limit_is_waited_for() -> None:
    world = World([2, 10], fallbacks=FALLBACKS)
    world.agent.acts.append(refused("limited", 1100))
    world.run()
    assert who(world) == [(1, "fake"), (1, "fake")]
    assert not world.all(ev.AgentChanged)
    assert world.only(ev.WaitEnded).waited_s >= 1000


def test_a_limit_of_unknown_length_hands_over_once_it_has_lasted_too_long() -> None:
    world = World([2, 10], fallbacks=["second"])
    world.agent.acts.extend(refused("limited") for _ in range(9))
    world.run()
    # Retries after 5 and 15 min; the next one would come after 35.
    assert who(world) == [(1, "fake"), (1, "fake"), (1, "fake"), (1, "second")]
    assert len(world.all(ev.WaitStarted)) == 2


def test_a_refused_login_and_a_missing_program_hand_over_for_good() -> None:
    world = World([2, 4, 10], fallbacks=FALLBACKS)
    world.agent.acts.append(refused("auth"))
    world.fallbacks[0].acts.append(refused("missing"))
    world.run()
    assert who(world) == [(1, "fake"), (1, "second"), (1, "third"), (2, "third")]
    assert changes(world) == [(1, "fake", "second", "auth"), (1, "second", "third", "missing")]
    assert all(event.until is None for event in world.all(ev.AgentChanged))
    words = world.state.roster.explain_fallback(BEGAN)
    assert words == "fake is not signed in; third takes over in the meantime"


def test_a_run_ends_where_no_agent_ever_can() -> None:
    world = World([2], fallbacks=["second"])
    world.agent.acts.append(refused("auth"))
    world.fallbacks[0].acts.append(refused("unknown_model"))
    world.run()
    assert world.end.outcome == "failed"
    assert world.end.reason == "no agent can work: fake: auth it is; second: unknown_model it is"


def test_a_wrong_model_of_the_first_is_no_outage() -> None:
    world = World([2], fallbacks=["second"])
    world.agent.acts.append(refused("unknown_model"))
    world.run()
    assert (world.end.outcome, world.end.reason) == ("failed", "unknown_model it is.")
    assert who(world) == [(1, "fake")]


def test_where_all_are_limited_the_run_waits_for_the_earliest_and_that_one_goes_on() -> None:
    world = World([2, 10], fallbacks=["second"])
    world.agent.acts.append(refused("limited", 4 * HOUR))
    world.fallbacks[0].acts.append(refused("limited", 2 * HOUR))
    world.run()
    assert who(world) == [(1, "fake"), (1, "second"), (1, "second")]
    wait = world.only(ev.WaitStarted)
    assert (wait.agent, wait.others) == ("second", ["fake"])
    assert wait.resets_at == BEGAN + timedelta(hours=2)
    entry = next(row.text for row in world.state.log.rows if row.text.startswith("waiting until"))
    assert entry.endswith(": usage limit of second and fake; the iteration does not count")


def test_nobody_is_said_to_work_while_all_are_waited_for() -> None:
    world = World([2, 10], fallbacks=["second"])
    world.agent.acts.append(refused("limited", 4 * HOUR))
    world.fallbacks[0].acts.append(refused("limited", 2 * HOUR))
    said = []
    for event in world.steps():
        if isinstance(event, ev.AgentChanged | ev.WaitStarted):
            said.append(bool(world.state.roster.explain_fallback(BEGAN)))
    assert said == [True, False]


def test_where_all_are_limited_the_first_may_be_the_earliest() -> None:
    world = World([2, 10], fallbacks=["second"])
    world.agent.acts.append(refused("limited", 2 * HOUR))
    world.fallbacks[0].acts.append(refused("limited", 4 * HOUR))
    world.run()
    assert who(world) == [(1, "fake"), (1, "second"), (1, "fake")]
    assert world.agent.prompts[1].endswith(TAKEN_OVER)


def test_the_owner_may_try_the_earliest_at_once() -> None:
    world = World([2, 10], fallbacks=["second"])
    world.agent.acts.append(refused("limited", 4 * HOUR))
    world.fallbacks[0].acts.append(refused("limited", 2 * HOUR))
    world.host.idle.extend([RetryNow()])
    world.run()
    assert world.only(ev.WaitEnded).by == "you"
    assert who(world)[-1] == (1, "second")
    assert world.host.clock.seconds < 60


def test_one_that_was_not_there_at_the_start_is_said_once_and_left_out() -> None:
    world = World([2, 4, 10], fallbacks=["second"], agent="gone", absent={"gone": "gone is gone."})
    world.run()
    assert changes(world) == [(1, "gone", "fake", "missing")]
    assert {agent for _, agent in who(world)} == {"fake"}
    words = world.state.roster.explain_fallback(BEGAN)
    assert words == "gone cannot be run (gone is gone); fake takes over in the meantime"


def test_an_agent_that_is_there_and_refuses_to_work_is_not_said_to_be_missing() -> None:
    world = World([2, 10], fallbacks=["second"])
    root = f"Claude Code does not skip permissions for root: set {'this or that, ' * 20}it works."
    assert len(root) > WIDTH, "the advice is not cut off"
    world.agent.acts.append(
        lambda session: session.emit(
            ev.SessionFinished(iteration=session.iteration, outcome="missing", reason=root)
        )
    )
    world.run()
    text = "\n".join(filter(None, map(plain_line, world.events)))
    assert f"cannot be run after 0s: {root}" in text
    why = "Claude Code does not skip permissions for root"
    assert f"fake cannot be run ({why}); second takes over" in text
    assert "not found" not in text
    assert "not installed" not in text


def test_a_resumed_run_goes_on_with_the_one_that_stood_in() -> None:
    world = World([2, 4, 10], fallbacks=["second"])
    world.agent.acts.append(refused("limited", HOUR))
    events = []
    for event in world.steps():
        events.append(event)
        if isinstance(event, ev.SessionStarted) and event.agent == "second":
            break  # it was killed here
    again = World([4, 10], fallbacks=["second"], past=events, began=BEGAN + timedelta(minutes=9))
    again.play(lambda asked: None, partial(again.loop.resume, ev.RunResumed()))
    later = [(e.iteration, e.agent) for e in again.all(ev.SessionStarted)]
    assert later == [(1, "fake"), (1, "second"), (2, "second"), (3, "second")]
    assert again.end.outcome == "completed"
    assert len(again.all(ev.AgentChanged)) == 1


def test_a_resumed_run_tries_again_what_its_owner_may_have_mended() -> None:
    world = World([2, 4, 10], fallbacks=["second"])
    world.agent.acts.append(refused("auth"))
    events = []
    for event in world.steps():
        events.append(event)
        if isinstance(event, ev.SessionStarted) and event.agent == "second":
            break
    again = World([4, 10], fallbacks=["second"], past=events, began=BEGAN + timedelta(minutes=9))
    again.play(lambda asked: None, partial(again.loop.resume, ev.RunResumed()))
    assert again.all(ev.SessionStarted)[-1].agent == "fake"
    assert again.all(ev.AgentChanged)[-1].cause == "back"


def test_notes_about_the_agents_are_said_before_the_first_session() -> None:
    world = World([2, 10], fallbacks=["second"])
    object.__setattr__(world.loop.ports, "agent_notes", ("third cannot work: it is gone",))
    world.run()
    assert [e.text for e in world.all(ev.Noticed) if e.source == "agent"] == [
        "third cannot work: it is gone"
    ]
    assert world.kinds("noticed", "session_started")[0] == "noticed"


def test_one_that_does_not_start_is_tried_once_more_and_then_ends_the_run() -> None:
    world = World([2, 4, 10])
    world.agent.acts.extend([taking(world, 1), refused("not_started"), refused("not_started")])
    world.run()
    assert who(world) == [(1, "fake"), (2, "fake"), (2, "fake")]
    assert world.end.outcome == "failed"
    assert world.end.reason == ("it does not start (2 attempts): not_started it is.")
    records = [event.iteration for event in world.all(ev.IterationFinished)]
    assert records[0] == 1
    assert not world.all(ev.WaitStarted)


def test_one_that_starts_at_the_second_try_is_forgiven() -> None:
    world = World([2, 4, 6, 10])
    for _ in range(3):
        world.agent.acts.extend([refused("not_started"), taking(world, 1)])
    world.run()
    assert who(world) == [(k, "fake") for k in (1, 1, 2, 2, 3, 3)]
    assert world.end.outcome == "completed"


def test_one_that_does_not_start_hands_over_for_good() -> None:
    world = World([2, 4, 6, 10], fallbacks=["second"])
    world.agent.acts.extend([refused("not_started"), refused("not_started")])
    world.run()
    assert who(world) == [(1, "fake"), (1, "fake"), (1, "second"), (2, "second"), (3, "second")]
    assert changes(world) == [(1, "fake", "second", "not_started")]
    assert world.only(ev.AgentChanged).words(BEGAN).startswith("fake did not start; second")
