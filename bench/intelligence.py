"""Measure the cost of the prompt layer, and whether its output reaches an agent that obeys it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from bench.result import Result, Scale, ms, per_call
from bench.scripted_world import ARMS, LIMIT, ON, TASKS, Arm, Ran, Task, copied, repository, run
from bench.scripted_world import iterations_of as played
from ralph_tui.config.settings import Settings
from ralph_tui.events import GateFinished, RunStarted
from ralph_tui.layers.intelligence import assess, gather
from ralph_tui.loop.steps.prompt_text import compose_prompt
from ralph_tui.state import RunState
from tests.world.recorder import Recorder

FAILING = 2000
"""Number of failing test names; a journal keeps no more."""
PAST = 200
"""Iterations before the one that is timed."""
ALLOWED_S = 0.01
WIRING = (
    "The scripted world proves the wiring, not the worth: an agent that acts on its prompt alone",
    "is told what it needs. How much a real agent makes of it is not measured here.",
)


def world(scale: Scale) -> Iterator[Result]:
    """Yield the iterations of scripted agents with the layers on and off, then the layer's cost."""
    seeds = range(1, 1 + scale.of(7, 3))
    for task in TASKS:
        ran = {arm.name: [_played(task, seed, arm) for seed in seeds] for arm in ARMS}
        yield _row(task, ran)
    yield _really_run()
    yield from _costs(scale)


def _played(task: Task, seed: int, arm: Arm) -> Ran:
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as place:
        return played(task, seed, arm, Path(place))


def _row(task: Task, ran: Mapping[str, Sequence[Ran]]) -> Result:
    middles = {name: median(one.iterations for one in runs) for name, runs in ran.items()}
    done = {name: sum(one.completed for one in runs) for name, runs in ran.items()}
    told = [
        f"{name} {middles[name]:g}"
        if done[name] == len(runs)
        else f"{name} {middles[name]:g} ({done[name]} of {len(runs)} completed)"
        for name, runs in ran.items()
    ]
    return Result(
        f"iterations, median of {len(ran[ON.name])} seeds: needs {task.needs}",
        ", ".join(told),
        f"fewer than with {task.off.name}",
        middles[ON.name] < middles[task.off.name],
        {f"{name.replace(' ', '_')}_iterations": value for name, value in middles.items()},
        WIRING if task is TASKS[-1] else (),
    )


def _really_run() -> Result:
    """Run one seed of each task as users would; the result must equal the simulation's."""
    told, same = [], True
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        for task in TASKS:
            origin = repository(task, 1, Path(scratch) / task.name / "origin")
            counts = []
            for arm in (ON, task.off):
                really = run(task, 1, arm, copied(origin, origin.with_name(arm.name)))
                counts.append(really.iterations)
                known = _played(task, 1, arm)
                same = same and (known.iterations, known.completed) == (
                    really.iterations,
                    really.completed,
                )
            told.append(f"{task.name} {counts[0]} and {counts[1]}")
    return Result(
        "the same, one seed, with real processes and git",
        "; ".join(told),
        f"as played (limit {LIMIT})",
        same,
    )


def _costs(scale: Scale) -> Iterator[Result]:
    rounds = scale.of(5, 3)
    state, start = _long_run()
    settings = Settings()
    limit = settings.intelligence.prompt_budget_tokens
    prompt_s = per_call(lambda: compose_prompt(PAST + 1, start, state, None, settings), 5, rounds)
    assessed_s = per_call(lambda: assess(gather(state, PAST)), 5, rounds)
    for what, seconds in (("composing a prompt", prompt_s), ("assessing an iteration", assessed_s)):
        yield Result(
            f"{what}: {FAILING:,} failing names, {PAST} iterations, budget {limit:,}",
            ms(seconds),
            f"<= {ms(ALLOWED_S)} of the loop's own 150 ms",
            seconds <= ALLOWED_S,
            {"seconds": seconds},
        )


def _long_run() -> tuple[RunState, RunStarted]:
    """Return a run with many iterations and the maximum number of failing test names."""
    run_ = Recorder(PAST + 10)
    run_.baseline(20)
    run_.iterations(*[20 + number * 60 / PAST for number in range(1, PAST + 1)])
    state = RunState()
    for event in run_.events:
        if isinstance(event, GateFinished):
            names = [f"tests/test_module_{n % 40}.py::test_{n}" for n in range(FAILING)]
            output = "\n".join(f"FAILED {name} - AssertionError" for name in names[:60])
            event = event.model_copy(  # noqa: PLW2901  the same event with more content
                update={"failing": names, "failed": FAILING, "unnamed": 0, "tail": output[-4000:]}
            )
        state.apply(event)
    assert state.run.started is not None
    return state, state.run.started
