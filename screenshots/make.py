"""Takes the README's pictures: ``make screenshots``. Look at each before you commit it.

Rule: nothing is staged. Every picture is the real cockpit showing a real demo run, recorded while
this runs; only the date is moved, and the times with it, so that two takings differ little.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import find_runs
from ralph_tui.events import Event, QuestionAsked
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.ports.source import Source
from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.screen import CockpitScreen
from screenshots import fleet

FOLDER = Path(__file__).parent
BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
"""When every recorded run is said to have begun."""
WIDE = (140, 45)
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
"""Fonts that are there; Textual's own choice is fetched from a host."""
SPACE = "&#160;"
CELL = 12.2
"""Width of a character in Textual's drawings."""
TEXT = re.compile(
    r'(<text class="[^"]*" x=")([\d.]+)(" y="[^"]*" textLength=")([\d.]+)("[^>]*>)([^<]*)</text>'
)
NAME = "calculator"
PROJECT = f"/home/ada/{NAME}"
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Picture:
    """What to show."""

    name: str
    scenario: str
    size: tuple[int, int] = WIDE
    theme: str = "ralph-dark"
    iteration: int = 0
    """The run as it stood in this iteration, the agent at work; 0: a replay, at its end."""
    tool: int = -1
    """Which of that session's tool calls was running, as an index."""
    keys: tuple[str, ...] = ()
    """Pressed before it is taken."""
    asked: bool = False
    """The question of that iteration is open instead."""


PICTURES = (
    Picture("cockpit", "regressing", iteration=7),
    Picture("cockpit-100x30", "regressing", size=(100, 30), iteration=7),
    Picture("cockpit-80x24", "regressing", size=(80, 24), iteration=7),
    Picture("redirect", "regressing", size=(100, 30), iteration=4, asked=True),
    Picture("light", "regressing", theme="ralph-light"),
    Picture("stuck", "stuck", iteration=6),
    Picture("context", "context", iteration=2, keys=("9",)),
)


@dataclass(frozen=True)
class Run:
    """A recorded run."""

    folder: Path
    events: Sequence[Event]


def main() -> None:
    """Record, draw, write."""
    parser = argparse.ArgumentParser(prog="screenshots.make", description="Takes the pictures.")
    names = [*(picture.name for picture in PICTURES), "fleet"]
    parser.add_argument("--only", action="append", choices=names)
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument(
        "--unhurried", action="store_true", help="record at the demo's own pace: two minutes"
    )
    arguments = parser.parse_args()
    os.environ["TZ"] = "UTC"
    time.tzset()
    only = arguments.only or names
    wanted = [picture for picture in PICTURES if picture.name in only]
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ralph-pictures-") as scratch:
        runs = record(
            sorted({picture.scenario for picture in wanted}),
            Path(scratch),
            fast=not arguments.unhurried,
        )
        for picture in wanted:
            _write(asyncio.run(draw(picture, runs[picture.scenario])), arguments.out, picture.name)
        if "fleet" in only:
            _write(fleet.take(Path(scratch), BEGAN), arguments.out, "fleet")


def _write(drawing: str, folder: Path, name: str) -> None:
    path = folder / f"{name}.svg"
    path.write_text(portable(drawing), encoding="utf-8")
    sys.stdout.write(f"wrote {path}\n")


def record(scenarios: Iterable[str], scratch: Path, *, fast: bool) -> dict[str, Run]:
    """Run the demo once per scenario, as a user would; all at the same time."""
    program = [sys.executable, "-m", "ralph_tui", "demo", "--headless"]
    program += ["--fast"] if fast else []
    demos = {
        scenario: subprocess.Popen(
            [*program, "--scenario", scenario, "--keep", str(scratch / scenario / NAME)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        for scenario in scenarios
    }
    runs = {}
    for scenario, demo in demos.items():
        demo.wait()
        runs[scenario] = _recorded(scratch / scenario / NAME)
    return runs


def _moved(event: Event, by: timedelta) -> Event:
    """The event with all times that it tells later by as much."""
    times = ("at", "deadline", "until", "since")
    told = {name: getattr(event, name, None) for name in times}
    return event.model_copy(
        update={name: time + by for name, time in told.items() if isinstance(time, datetime)}
    )


def _recorded(folder: Path) -> Run:
    """The one run in this folder, moved to another place and date."""
    journal = next(find_runs(folder)).journal
    journal.write_text(elsewhere(journal.read_text("utf-8"), folder), "utf-8")
    events = read_journal(journal).events
    moved = BEGAN - events[0].at
    return Run(journal.parent, [_moved(event, moved) for event in events])


def elsewhere(text: str, folder: Path) -> str:
    """The text, as if this machine's Python and temporary folder had usual names."""
    text = text.replace(sys.executable, "python")
    # What is quoted of long output may begin in the middle of a path.
    return re.sub(rf"[\w./-]*/{folder.parent.name}/{folder.name}\b", PROJECT, text)


async def draw(picture: Picture, run: Run) -> str:
    """The cockpit as an SVG."""
    source, seq = _source(picture, run)
    app = RalphApp(partial(CockpitScreen, source), theme=picture.theme)
    async with app.run_test(size=picture.size) as pilot:
        deadline = time.monotonic() + PATIENCE_S
        while not any(
            isinstance(s, CockpitScreen) and s.state.seq == seq for s in app.screen_stack
        ):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the picture {picture.name} did not come about")
            await pilot.pause(0.01)
        await pilot.press(*picture.keys)
        # What follows from the last events is laid out, then drawn.
        for _ in range(3):
            await pilot.pause(0.1)
        return app.export_screenshot(title="ralph-tui")


def _source(picture: Picture, run: Run) -> tuple[Source, int]:
    """Where the events come from, and the number of the last one that is to be seen."""
    if not picture.iteration:
        return Replay(run.events, run.folder), run.events[-1].seq
    kind = "question_asked" if picture.asked else "tool_started"
    moments = [
        event
        for event in run.events
        if event.kind == kind and getattr(event, "iteration", 0) == picture.iteration
    ]
    last = moments[picture.tool]
    shown = deque(run.events[: last.seq])
    if isinstance(last, QuestionAsked):
        # The recorded run had nobody to wait for; before a screen it would have waited.
        wait = timedelta(seconds=OversightSettings().redirect_timeout_s)
        shown[-1] = last.model_copy(update={"deadline": last.at + wait})
    now = last.at + timedelta(seconds=1)
    return Live(shown, lambda command: None, run.folder, wall_clock=lambda: now), last.seq


def portable(svg: str) -> str:
    """The drawing with fonts of the machine it is looked at on; it names no host.

    A text starts and ends with a visible character: some viewers drop spaces at its ends.
    """
    svg = re.sub(r"@font-face\s*\{[^}]*\}\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family:\s*[^;}]+", f"font-family: {FONTS}", svg)
    svg = svg.replace("font-variant-east-asian: full-width;", "")
    svg = TEXT.sub(_trimmed, svg)
    # Fonts differ in width; stretched glyphs still make closed lines.
    svg = svg.replace(" textLength=", ' lengthAdjust="spacingAndGlyphs" textLength=')
    hosts = set(re.findall(r"https?://[^\s\"')<]+", svg)) - {"http://www.w3.org/2000/svg"}
    if hosts:
        raise RuntimeError(f"the drawing still names {', '.join(sorted(hosts))}")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def _trimmed(found: re.Match[str]) -> str:
    head, x, middle, length, rest, text = found.groups()
    spaced = text.replace(SPACE, " ").strip("\n")
    visible = spaced.strip(" ")
    if not visible:
        return ""
    left = float(x) + (len(spaced) - len(spaced.lstrip(" "))) * CELL
    width = float(length) - (len(spaced) - len(visible)) * CELL
    return f"{head}{left:.1f}{middle}{width:.1f}{rest}{visible.replace(' ', SPACE)}</text>"


if __name__ == "__main__":
    main()
