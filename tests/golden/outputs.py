"""Every form in which a recorded run is shown: commands in this process, screens of the app."""

import hashlib
import json
import re
from pathlib import Path

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.runtime.sources.replay import Replay
from tests.e2e.cli import here
from tests.tui.driving import Driver, drive
from tests.unit.adapters.search.journals import attempt

JOURNALS = sorted((Path(__file__).parents[1] / "fixtures" / "journals").glob("v*.jsonl"))
FILES = Path(__file__).parent / "files"
RUN = "task-001/001"
COMMANDS = (
    ("replay", RUN, "--headless"),
    ("replay", RUN, "--json"),
    ("status", RUN),
    ("status", RUN, "--json"),
    ("report", RUN, "--full"),
    ("report", RUN),
    ("history",),
    ("history", "--json"),
    ("history", RUN),
    ("search", "the", "--limit", "1000", "--json"),
)
MOMENTS = ((0.5, ((80, 24), (140, 45))), (1.0, ((200, 60), (100, 30))))
"""Parts of the journal after which the screen is drawn, and at which sizes."""
PANES = "1234567890"


def outputs(journal: Path, repository: Path) -> str:
    """All of them in one text; `repository` is an empty folder, `journal` becomes its only run."""
    copied = attempt(repository, RUN) / "events.jsonl"
    copied.parent.mkdir(parents=True)
    copied.write_bytes(journal.read_bytes())
    parts = [_said(command, repository) for command in COMMANDS] + _screens(journal)
    return "\n".join(parts)


def _said(command: tuple[str, ...], repository: Path) -> str:
    done = here(*command, cwd=repository)
    said = re.sub(re.escape(str(repository)), "/repository", done.stdout)
    if command[0] == "replay" and command[-1] == "--json":
        said = f"sha256 {hashlib.sha256(said.encode()).hexdigest()}\n"  # the journal itself
    elif command[-1] == "--json" and command[0] != "search":
        said = json.dumps(json.loads(said), indent=1, ensure_ascii=False) + "\n"
    error = re.sub(re.escape(str(repository)), "/repository", done.stderr)
    return f"#### ralph-tui {' '.join(command)}: exit {done.returncode}\n{said}{error}"


def _screens(journal: Path) -> list[str]:
    events = read_journal(journal).events
    drawn = []
    short = len(events) < 8  # such a journal holds one kind of event

    async def draw(driver: Driver) -> None:
        source = driver.source
        assert isinstance(source, Replay)
        for moment, sizes in MOMENTS[-1:] if short else MOMENTS:
            seq = events[int((len(events) - 1) * moment)].seq
            source.seek(seq)
            await driver.until(lambda seq=seq: driver.cockpit.state.seq == seq)  # type: ignore[misc]
            for size in sizes[:1] if short else sizes:
                await driver.resize(size)
                drawn.append(_screen(driver, f"event {seq}"))
        for pane in "" if short else PANES:
            await driver.press(pane)
            drawn.append(_screen(driver, f"event {seq}, pane {pane}"))

    drive(Driver(Replay(events)), draw)
    return drawn


def _screen(driver: Driver, what: str) -> str:
    width, height = driver.app.screen.size
    rows = "\n".join(row.rstrip() for row in driver.text())
    return f"#### screen at {what}, {width}x{height}\n{rows}\n"
