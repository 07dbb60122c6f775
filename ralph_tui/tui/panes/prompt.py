"""The prompt of this iteration, exactly as it was sent."""

from datetime import datetime
from pathlib import Path
from typing import ClassVar

from ralph_tui.errors import why
from ralph_tui.plain_files import NotPlainError, reading
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import plain
from ralph_tui.tui.draw.spans import Line, wrap
from ralph_tui.tui.draw.words import tokens
from ralph_tui.tui.panes.pane import LinesPane

MOST_BYTES = 400_000
"""Of a prompt that are shown."""


class PromptPane(LinesPane):
    """Reads the file the journal names; a path that leaves the attempt's folder is not followed."""

    key: ClassVar[str] = "prompt"
    heading: ClassVar[str] = "prompt"
    digit: ClassVar[int] = 8

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._read: tuple[int, str, str] = (-1, "", "")
        """Number of the event, text, and why there is none."""

    def stamp(self, state: RunState, now: datetime) -> object:
        """See `Pane`."""
        return (state.gate.prompt.path, state.gate.prompt.seq) if state.gate.prompt else None

    def changed(self) -> None:
        """See `Pane`."""
        prompt = self.state.gate.prompt
        if prompt is not None and prompt.seq != self._read[0]:
            self.top = 0
            self._read = (prompt.seq, *read_inside(self._source.folder, prompt.path))

    def build(self, width: int, height: int) -> list[Line]:
        """See `LinesPane`."""
        if self.state.gate.prompt is None:
            return [[("no prompt has been sent yet", "dim")]]
        _, text, problem = self._read
        if problem:
            return [[(piece, "warn")] for piece in wrap(problem, width, 4)]
        rows: list[Line] = []
        for line in text.split("\n"):
            style = "accent strong" if line.startswith("#") else "text"
            rows += [[(piece, style)] for piece in wrap(line, width, 200)]
        return rows

    def subtitle(self, width: int) -> Line:
        """See `Pane`."""
        prompt = self.state.gate.prompt
        if prompt is None:
            return []
        urgent = prompt.urgency in ("high", "critical")
        return [
            (f"iteration {prompt.iteration}{_session_of(prompt.path)} · urgency ", "dim"),
            (prompt.urgency, "warn" if urgent else "text"),
            (f" · {tokens(prompt.characters)} characters", "dim"),
        ]


def _session_of(path: str) -> str:
    """Which session of the iteration a prompt was for; nothing is said of the first."""
    number = path.rpartition("/prompt-")[2].removesuffix(".md")
    return f", session {number}" if number.isdecimal() else ""


def read_inside(folder: Path | None, name: str) -> tuple[str, str]:
    """Text of a file below the folder, and an empty string; or nothing, and why, in a sentence."""
    if folder is None:
        return "", "The prompt is not at hand: this record came without its folder."
    root = folder.resolve()
    try:
        path = root / name
        if ".." in path.parts or not path.is_relative_to(root):
            return "", "The record names a prompt outside its own folder; it is not opened."
        with reading(path, below=root) as file:
            return plain(file.read(MOST_BYTES).decode("utf-8", "replace")), ""
    except NotPlainError as error:
        return "", f"The prompt's file cannot be read: {why(error, '')}."
    except (OSError, ValueError, RuntimeError):
        return "", "The prompt's file cannot be read; it may have been deleted."
