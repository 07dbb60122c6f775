"""Every state of the cockpit that has a picture: its name, how it comes about, at which sizes.

Rule: a state is a row here and nothing else; what is played is a story of `tests/world`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ralph_tui.events import AbortRequested, Event, RunFinished
from ralph_tui.events.run import Outcome
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.tui.cockpit import layout
from tests.foreign import sample_events
from tests.tui.archive import OneRun, beside
from tests.tui.driving import Driver, live, replay, story
from tests.tui.fake_files import FakeFiles
from tests.tui.fleets import FleetDriver, finished, under_way
from tests.tui.homes import ASKS, DIED, DONE, LIVE, USED_UP, HomeDriver
from tests.tui.new_runs import FormDriver
from tests.tui.test_assessment import MADE
from tests.tui.test_away import returned

Size = tuple[int, int]
SMALL, MEDIUM, LARGE = (80, 24), (100, 30), (140, 45)
ALL: tuple[Size, ...] = (SMALL, MEDIUM, LARGE)
BOTH: tuple[Size, ...] = (SMALL, LARGE)
LIGHT: dict[str, Any] = {"theme": "ralph-light"}


@dataclass(frozen=True)
class State:
    """One row of the table."""

    name: str
    driver: Callable[[], Driver]
    keys: Sequence[str] = ()
    sees: str = ""
    """Text to wait for before the picture is taken, if any."""
    gone: str = ""
    """Text that must disappear before the picture is taken."""
    sizes: tuple[Size, ...] = (SMALL,)
    """Several where its place differs; `tests/golden` draws whole screens of every run."""
    colours: bool = True
    """False: with NO_COLOR."""


def of(name: str, **options: Any) -> Callable[[], Driver]:
    """A live run of a story."""
    return lambda: live(story(name), **options)


def and_then(name: str, event: Event) -> list[Event]:
    """A story, and what happened next."""
    last = story(name)[-1]
    return [*story(name), event.model_copy(update={"seq": last.seq + 1, "at": last.at})]


def ended(outcome: Outcome, reason: str) -> Driver:
    """A run that came to no good end."""
    end = RunFinished(
        outcome=outcome, reason=reason, iterations=6, completion=44, best=44, best_iteration=6,
        duration_s=1500,
    )  # fmt: skip
    return live(and_then("decided", end))


def recorded(name: str) -> Driver:
    """A run whose record can be taken away."""
    driver = live(story(name))
    driver.source.record = RunRecord(Path("events.jsonl"))
    return driver


def disconnected() -> Driver:
    """A run of another process, which is gone."""
    driver = live(story("running"))
    driver.source.lost, driver.source.elsewhere = True, True
    return driver


STATES = (
    # what the run does
    State("starting", of("empty")),
    State("working", of("running"), sizes=ALL),
    State("working-light", of("running", **LIGHT)),
    State("working-no-colour", of("running"), colours=False),
    State("working-60x15", of("running"), sizes=((60, 15),)),
    State("one-line-asked", of("asked"), ("escape",), sizes=((50, 12),)),
    State("verifying", of("regressing")),
    State("limit", of("limited")),
    State("paused", of("paused")),
    State("aborting", lambda: live(and_then("running", AbortRequested()))),
    State("disconnected", disconnected),
    State("crashed", of("crashed")),
    State("hostile", of("hostile")),
    # what needs somebody
    State("question", of("asked")),
    State("redirect-restore", of("rollback")),
    State("redirect-edited", of("redirect"), ("e", "A"), sizes=BOTH),
    State("pause", of("pause")),
    State("criterion", of("criterion")),
    State("handoff", of("handoff_asked"), sees="Handoff in iteration 3"),
    State("permission", of("permission"), sees="asks for permission"),
    State("permission-edit", of("permission_edit")),
    State("permission-hostile", of("permission_hostile")),
    State("choices-several", of("choices"), ("1", "1", "3")),
    State("permissions-decided", of("permissions_decided"), ("2",)),
    State("question-later", of("redirect"), ("escape",), sees="press d"),
    # what happened
    State("episode", of("oscillating"), ("2",), sizes=BOTH),
    State("decided", of("decided"), ("2",)),
    State("restored", of("rolled_back"), ("3",)),
    State("away", lambda: returned("decided"), sees="while you were away"),
    # the past
    State("replay-start", lambda: replay(story("stuck")), ("home",)),
    State("replay-alarm", lambda: replay(story("stuck")), ("M",), sizes=BOTH),
    State("imported-oscillating", lambda: replay(sample_events("wired-oscillating")), ("M", "2")),
    State("end-completed", of("steady"), sizes=BOTH),
    State("end-limit", of("stuck")),
    State("end-aborted", lambda: ended("aborted", "aborted by you")),
    State("end-failed", lambda: ended("failed", "the agent could not be started: no such file")),
    # dialogs
    State("help", of("running"), ("question_mark",)),
    State("commands", of("limited"), ("colon",), sizes=(MEDIUM,)),
    State("guide", of("running"), ("g", "h", "i")),
    State("abort", of("running"), ("a",)),
    State("leave", of("running"), ("q",)),
    State("export", lambda: recorded("running"), ("E",)),
    State("roll-over", of("climbing"), ("C",)),
    State("evidence", of("oscillating"), ("2", "enter")),
    State("changes", of("decided", files=FakeFiles()), ("3", "left", "left", "enter", "right"),
          "class Lexer", "icon.png  binary", sizes=BOTH),
    State("two-points", of("decided", files=FakeFiles()),
          ("3", "shift+left", "v", "shift+left", "shift+left")),
    State("restore", of("paused", files=FakeFiles()), ("3", "home", "right", "r"),
          "would change 4 files"),
    State("search", of("running", beside=beside(OneRun(story("stuck")))), ("slash", *"test"),
          "4 places", sizes=BOTH),
    # a fleet
    State("fleet", lambda: FleetDriver(under_way()), sees="loop 2 is waiting for your answer",
          sizes=BOTH),
    State("fleet-over", lambda: FleetDriver(finished()), ("down", "down"), "attempt 1 of 3"),
    # home
    State("home", partial(HomeDriver, LIVE, DONE, USED_UP, DIED), sees="1 live",
          sizes=(*BOTH, (60, 15))),
    State("home-question", partial(HomeDriver, DONE, ASKS, said="the run is not there any more"),
          sees="waits for your answer"),
    State("home-none", HomeDriver, sees="No run is recorded", gone="checking your set-up"),
    State("home-help", partial(HomeDriver, DONE), ("question_mark",), "find a run"),
    State("new-run", FormDriver, sees="2.1.198", sizes=BOTH),
    State("new-run-wrong", FormDriver, ("ctrl+s",), "2 errors", sizes=(SMALL, (60, 15))),
    State("new-run-tried", FormDriver, ("tab", "tab", "down", "ctrl+t"), "41 of 66"),
    # panes
    *(State(f"zoomed-{key}", of("taught" if key == "learnings" else "running"),
            (str(index), "z"), sizes=(LARGE,))
      for index, key in enumerate(layout.ORDER, start=1)),
    State("learnings", of("taught"), ("5", "down")),
    State("learning-card", of("marked"), ("5", "enter")),
    State("details", lambda: live(and_then("running", MADE.model_copy(update={"iteration": 6}))),
          ("9",)),
    *(State(f"context-{name}", of(name), ("9", "end"))
      for name in ("climbing", "rolled_over", "unknown")),
)  # fmt: skip


def pictures() -> list[tuple[str, State, Size]]:
    """Each with its name."""
    return [
        (f"{state.name}-{size[0]}x{size[1]}", state, size)
        for state in STATES
        for size in state.sizes
    ]
