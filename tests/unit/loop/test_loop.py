"""The loop: the order of its steps, its ends, and user commands at any moment."""

from collections.abc import Callable
from functools import partial

import pytest

from ralph_tui import events as ev
from ralph_tui.base.errors import AgentError, WorkspaceError
from ralph_tui.commands import Abort, Checkpoint, Command, Guide, Pause, Stop, Unpause
from ralph_tui.config.settings import CheckpointSettings, Settings
from ralph_tui.layers.settings import ControlSettings
from tests.lines import plain_line
from tests.world import FakeSession, World, promise, report, wait
from tests.world.moments import moments


def test_a_run_ends_completed_when_the_gate_passes() -> None:
    world = World([2, 4, 7, 10]).run()
    assert world.end.outcome == "completed"
    assert world.end.completion == 100
    assert world.end.iterations == 3
    assert world.watcher.stopped
    assert [e.completion for e in world.all(ev.ReadingTaken)] == [20, 40, 70, 100]


def test_one_iteration_goes_through_its_steps_in_their_order() -> None:
    world = World([2, 10]).run()
    steps = [event.step for event in world.all(ev.StepEntered)]
    assert steps == list(range(18))
    assert world.kinds(
        "run_started",
        "gate_started",
        "gate_finished",
        "reading_taken",
        "snapshot_taken",
        "checkpoint_captured",
        "iteration_started",
        "prompt_prepared",
        "session_started",
        "session_finished",
        "files_changed",
        "signal_computed",
        "iteration_finished",
        "run_finished",
    ) == [
        "run_started",
        "gate_started",
        "gate_finished",
        "reading_taken",
        "snapshot_taken",
        "checkpoint_captured",
        "iteration_started",
        "prompt_prepared",
        "checkpoint_captured",
        "session_started",
        "session_finished",
        "snapshot_taken",
        "files_changed",
        "checkpoint_captured",
        "gate_started",
        "gate_finished",
        "reading_taken",
        "signal_computed",
        "iteration_finished",
        "run_finished",
    ]


def test_the_plan_is_on_disk_before_the_first_session() -> None:
    world = World([2, 10])
    next(event for event in world.steps() if isinstance(event, ev.SessionStarted))
    (written,) = world.records.projected
    made = world.only(ev.PlanMade)
    assert made.approach in written["plan.md"]


def test_a_promise_does_not_end_a_run_and_is_told_to_the_next_session() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(promise)
    world.run()
    assert world.end.iterations == 2
    assert "promised completion, but the measurement disagrees" in world.agent.prompts[1]
    assert "promised completion" not in world.agent.prompts[0]


def test_a_gate_green_at_the_start_needs_promise_and_change() -> None:
    world = World([10, 10, 10, 10], until_promise=True)
    world.agent.acts.extend([FakeSession.finish, promise])
    world.run()
    assert world.end.outcome == "completed"
    assert world.end.iterations == 2
    assert world.end.reason.startswith("the agent promised, and the completion command passed")
    assert not any(e.source == "tests" for e in world.all(ev.ReadingTaken)[:2])
    assert world.state.gate.origin == "promised by the agent"
    assert "(promised by the agent)" in str(plain_line(world.all(ev.ReadingTaken)[-1]))


def test_a_gate_green_at_the_start_never_completes_without_a_changed_file() -> None:
    world = World([10, 10, 10], max_iterations=2, until_promise=True)
    world.workspace.changed = []
    world.agent.acts.extend([promise, promise])
    world.run()
    assert world.end.outcome == "limit_reached"


def test_a_run_ends_at_its_limit() -> None:
    world = World([2, 3, 4], max_iterations=2).run()
    assert world.end.outcome == "limit_reached"
    assert "all 2 iterations are used up, and completion is at 40 %" in world.end.reason
    assert [e.alarm for e in world.all(ev.AlarmRaised)] == ["BUDGET_EXCEEDED"]
    assert (
        "the only iteration is used up, and completion is at"
        in World([2, 3], max_iterations=1).run().end.reason
    )


def test_a_run_ends_when_its_money_is_spent() -> None:
    world = World([2, 3, 4], budget_usd=1.0)
    world.agent.acts.extend([partial(FakeSession.finish, cost=0.6)] * 3)
    world.run()
    assert world.end.outcome == "limit_reached"
    assert world.end.iterations == 2
    assert world.end.cost_usd == pytest.approx(1.2)


def test_alarms_are_raised_once_and_cleared() -> None:
    world = World([2, 3, 3, 3, 3, 3, 3, 8, 10], max_iterations=20).run()
    stuck = [e.kind for e in world.events if getattr(e, "alarm", "") == "STUCK"]
    assert stuck == ["alarm_raised", "alarm_cleared"]


def test_the_prompt_carries_what_was_measured_and_reported() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(report("look at the lexer"))
    world.run()
    second = world.agent.prompts[1]
    assert "Completion: 40 % (from the tests)" in second
    assert "4 passed, 6 failed" in second
    assert "look at the lexer" in second
    assert "the tail" in second
    assert world.records.prompts == dict(enumerate(world.agent.prompts, 1))


def test_control_speaks_in_the_prompt_only_when_it_is_on() -> None:
    """A signal that no one reads does not count."""
    series = [2, 3, 3, 3, 3, 3]
    on = World(series, max_iterations=5).run()
    off = World(
        series, max_iterations=5, settings=Settings(control=ControlSettings(enabled=False))
    ).run()
    assert "# Control" in on.agent.prompts[-1]
    assert "# Control" not in off.agent.prompts[-1]
    assert on.agent.prompts[-1] != off.agent.prompts[-1]
    urgency = [[e.urgency for e in w.all(ev.PromptPrepared)] for w in (on, off)]
    assert urgency[1] == ["normal"] * 5
    assert urgency[0][-1] in ("high", "critical")
    assert not off.all(ev.AlarmRaised)


# -- the owner ------------------------------------------------------------------------------------


def test_pause_holds_before_the_next_iteration_and_unpause_goes_on() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(wait)
    world.send(Pause())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.send(Unpause())
    world.run()
    wanted = world.kinds("pause_requested", "paused", "unpaused", "iteration_started")
    assert wanted == [
        "iteration_started",
        "pause_requested",
        "paused",
        "unpaused",
        "iteration_started",
    ]
    assert world.end.outcome == "completed"
    assert "ralph: after a pause" in world.workspace.taken


def test_a_wish_to_pause_can_be_taken_back() -> None:
    world = World([2, 10])
    world.agent.acts.append(wait)
    world.send(Pause(), Unpause())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert not world.all(ev.Paused)


def test_who_stops_after_the_iteration_while_it_is_paused_begins_no_other() -> None:
    world = World([2, 4, 6])
    world.agent.acts.append(wait)
    world.send(Pause())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    for event in world.steps():
        if event.kind == "paused":
            world.host.inbox.append(Stop(mode="after_iteration"))
    assert (world.end.outcome, world.end.reason) == (
        "interrupted",
        "stopped while it was paused, as requested",
    )
    assert len(world.agent.sessions) == 1


def test_guidance_goes_into_the_next_prompt_where_the_session_takes_none() -> None:
    world = World([2, 4, 6, 10])
    world.agent.acts.append(wait)
    world.send(Guide(text="mind the *lexer*"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert "mind the *lexer*" not in world.agent.prompts[0]
    assert "mind the *lexer*" in world.agent.prompts[1]
    assert "mind the *lexer*" not in world.agent.prompts[2], "once is enough"
    assert [item.status for item in world.state.guidance.items.values()] == ["delivered"]


def test_guidance_is_sent_into_a_session_that_takes_it() -> None:
    world = World([2, 10])
    world.agent.takes_guidance = True
    world.agent.acts.append(wait)
    world.send(Guide(text="mind the lexer"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert world.agent.sessions[0].sent == ["mind the lexer"]


def test_a_checkpoint_by_key_is_taken_beside_the_session() -> None:
    world = World([2, 10])
    world.agent.acts.append(wait)
    world.send(Checkpoint(note="before the risky part", by="a script"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    triggers = [(e.trigger, e.note) for e in world.all(ev.CheckpointCaptured)]
    assert triggers == [("start", ""), ("start", ""), ("key", "before the risky part"), ("end", "")]
    assert [e.number for e in world.all(ev.CheckpointCaptured)] == [1, 1, 2, 3]
    assert [e.by for e in world.all(ev.CheckpointCaptured)] == ["", "", "a script", ""]
    assert "requested by a script" in [e.reason for e in world.all(ev.SnapshotTaken)]


def test_checkpoints_by_timer_come_at_their_interval() -> None:
    world = World([2, 10], settings=Settings(checkpoints=CheckpointSettings(interval_s=10)))
    world.agent.acts.append(wait)

    def later() -> None:
        if world.host.clock.seconds > 35:
            world.agent.sessions[0].finish()
        else:
            world.host.idle.append(later)

    world.host.idle.append(later)
    world.run()
    timed = [e for e in world.all(ev.CheckpointCaptured) if e.trigger == "timer"]
    assert len(timed) == 3


def test_a_checkpoint_that_fails_is_told_and_ends_nothing() -> None:
    world = World([2, 10])

    def act(session: FakeSession) -> None:
        world.workspace.error = WorkspaceError("git is gone; install it")

    world.agent.acts.append(act)
    world.send(Checkpoint())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    failed = [e for e in world.all(ev.CheckpointCaptured) if e.error]
    assert failed[0].snapshot is None
    assert world.end.outcome == "completed"
    assert any("no snapshot taken" in e.text for e in world.all(ev.Noticed))


def act_then(world: World, command: Command) -> Callable[[FakeSession], None]:
    def act(session: FakeSession) -> None:
        world.send(command)

    return act


@pytest.mark.parametrize(("command", "outcome"), [(Abort(), "aborted"), (Stop(), "interrupted")])
def test_an_end_in_mid_session_stops_the_agent_and_holds_the_work(
    command: Command, outcome: str
) -> None:
    world = World([2, 4])
    world.agent.acts.append(act_then(world, command))
    world.run()
    assert world.agent.sessions[0].stopped
    assert world.workspace.hurried == 1
    assert world.end.outcome == outcome
    finished = world.all(ev.IterationFinished)
    assert [e.status for e in finished] == ["interrupted"]
    assert world.workspace.taken[-1] == f"ralph: the run ended: {outcome}"
    (reported,) = [one for one in world.all(ev.FilesChanged) if not one.live]
    assert finished[0].files == sum(total.files for total in reported.totals) > 0
    assert world.state.run.session_running is False


def test_stop_after_the_iteration_lets_it_finish() -> None:
    world = World([2, 4, 6])
    world.agent.acts.append(wait)
    world.send(Stop(mode="after_iteration"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert world.end.outcome == "interrupted"
    assert world.end.iterations == 1
    assert world.all(ev.IterationFinished)[0].status == "incomplete"


def test_one_that_is_stopped_in_its_last_iteration_has_reached_its_limit() -> None:
    """A resume would have nothing left to do."""
    world = World([2, 4], max_iterations=1)
    world.agent.acts.append(wait)
    world.send(Stop(mode="after_iteration"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert world.end.outcome == "limit_reached"
    assert "the only iteration is used up" in world.end.reason


def test_an_end_while_paused_needs_no_unpause() -> None:
    world = World([2, 4, 6])
    world.agent.acts.append(wait)
    world.send(Pause())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.send(Abort())
    world.run()
    assert world.end.outcome == "aborted"
    assert len(world.agent.sessions) == 1


def test_an_end_during_the_baseline_cancels_the_gate() -> None:
    world = World([2, 4])
    steps = world.steps()
    for event in steps:
        if event.kind == "gate_started":
            world.host.inbox.append(Abort())
            break
    for _ in steps:
        pass
    assert world.gate.cancelled == 1
    assert world.end.outcome == "aborted"
    assert not world.agent.sessions


def test_commands_that_cannot_be_obeyed_say_why() -> None:
    world = World([2, 10])
    world.agent.acts.append(wait)
    world.send(Unpause(), Pause(), Pause(), Unpause())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    refused = [(e.command, e.reason) for e in world.all(ev.CommandRefused)]
    assert refused == [
        ("unpause", "the run is not paused"),
        ("pause", "a pause is already requested"),
    ]


def test_commands_after_the_end_began_are_refused() -> None:
    world = World([2, 4])

    def act(session: FakeSession) -> None:
        world.send(Abort(), Guide(text="wait"))
        session.stopped = True  # it hears no other stop
        world.host.idle.append(lambda: session.finish("stopped"))

    world.agent.acts.append(act)
    world.run()
    assert [e.reason for e in world.all(ev.CommandRefused)] == ["the run is ending"]
    assert world.end.outcome == "aborted"


@pytest.mark.parametrize("command", [Abort(), Stop()])
def test_an_end_that_comes_while_the_run_ends_hurries_it(command: Command) -> None:
    """It is refused, but a git that hangs is stopped sooner."""
    world = World([2, 10])
    world.watcher.stop = lambda: world.host.inbox.append(command)  # type: ignore[method-assign]
    world.run()
    assert [e.reason for e in world.all(ev.CommandRefused)] == ["the run is ending"]
    assert world.workspace.hurried == 1
    assert world.end.outcome == "completed"


def test_every_command_works_at_every_moment() -> None:
    """Any command at any point: the run ends, and no process is left."""
    places = moments(World([2, 4, 10]).run().events)
    for first, command in enumerate(
        (Pause(), Abort(), Guide(text="hi"), Stop(), Checkpoint(), Unpause())
    ):
        for moment in places[first % 4 :: 4]:
            world = World([2, 4, 10])
            for number, _ in enumerate(world.steps()):
                if number == moment:
                    world.host.inbox.append(command)
                if world.state.run.paused:
                    world.host.inbox.append(Unpause())
                assert number < 200
            assert world.end.kind == "run_finished", (command, moment)
            assert world.loop.scheduler.session is None


# -- failures --------------------------------------------------------------------------------------


def test_an_agent_that_cannot_start_ends_the_run_with_its_sentence() -> None:
    world = World([2, 4])

    def start(*_: object) -> None:
        raise AgentError("no such program: install it")

    world.agent.start = start  # type: ignore[method-assign, assignment]
    world.run()
    assert world.end.outcome == "failed"
    assert world.end.reason == "no such program: install it"


def test_without_a_first_snapshot_a_run_does_not_begin() -> None:
    world = World([2, 4])
    world.workspace.error = WorkspaceError("the disk is full; free some space")
    world.run()
    assert world.end.outcome == "failed"
    assert not world.agent.sessions


def test_a_refusing_disk_is_a_sentence() -> None:
    world = World([2, 4])

    def full(*_: object) -> None:
        raise OSError(13, "Permission denied", "prompt.md")

    world.records.write_prompt = full  # type: ignore[method-assign, assignment]
    world.run()
    assert world.end.outcome == "failed"
    assert "prompt failed (prompt.md): Permission denied; fix the permissions" in world.end.reason


def test_a_session_that_fails_is_an_error_iteration_and_the_loop_goes_on() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(lambda session: session.finish("error"))
    world.run()
    assert [e.status for e in world.all(ev.IterationFinished)] == ["error", "completed"]
