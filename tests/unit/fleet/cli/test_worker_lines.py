"""A worker's lines on its terminal."""

from ralph_tui.fleet.cli.worker import WIDTH, WorkerLines, worker_line
from ralph_tui.fleet.ports import (
    Began,
    Ended,
    HostNoticed,
    NotCollected,
    Observation,
    Recorded,
    Stage,
    StatusChanged,
)
from ralph_tui.ports.clones import Collected
from tests.rows import each_row

OF = {"loop": "3a", "attempt": 1}


@each_row(
    ("what", "line"),
    [
        (Stage(**OF, stage="cloning"), "loop 3a: preparing its working copy"),
        (Stage(**OF, stage="setup"), ""),
        (Began(**OF, run_id="r", run="t/1", folder="/b/3a"), "loop 3a runs in /b/3a"),
        (Recorded(**OF, seq=1, lines=("{}",)), ""),
        (StatusChanged(**OF), ""),
        (Ended(**OF, outcome="completed", reason="it passed"), "loop 3a completed: it passed"),
        (Ended(**OF, outcome="interrupted"), "loop 3a stopped"),
        (
            Ended(**OF, outcome="failed", reason="no claude here", never_began=True),
            "loop 3a could not start: no claude here",
        ),
        (Collected(**OF, branch="b", commit="c"), "loop 3a: its work was sent to the fleet"),
        (NotCollected(**OF, reason="full"), "loop 3a: its work could not be sent: full"),
        (HostNoticed(text="the disk is full"), "the disk is full"),
        (HostNoticed(loop="3a", text="two\nlines"), "loop 3a: two⏎lines"),
    ],
)
def test_what_its_user_is_told(what: Observation, line: str) -> None:
    assert worker_line(what) == line


def test_a_line_stays_a_line() -> None:
    shown = worker_line(HostNoticed(text="\x1b[31m" + "x\n" * 5000))
    assert len(shown) <= WIDTH
    assert shown.isprintable()


def test_what_a_fleet_is_told_again_is_said_once() -> None:
    said: list[str] = []
    lines = WorkerLines(said.append)
    begins = [Stage(**OF, stage="cloning"), Stage(**OF, stage="starting")]
    began = Began(**OF, run_id="r", run="t/1", folder="/b/3a")
    over = Ended(**OF, outcome="interrupted")
    reported: list[Observation] = [*begins, began, began, over, began, over]
    for what in reported:
        lines.report(what, "a")
    first = ["loop 3a: preparing its working copy", "loop 3a runs in /b/3a", "loop 3a stopped"]
    assert said == first
    for what in reported[-2:]:
        lines.report(what, "b")
    assert said == first, "of another process of this host"
    lines.report(Stage(**OF, stage="starting"), "a")  # it continues in its worktree
    lines.report(began, "a")
    lines.report(Ended(**OF, outcome="failed", reason="full", never_began=True), "b")
    assert said[3:] == ["loop 3a runs in /b/3a", "loop 3a could not start: full"]
