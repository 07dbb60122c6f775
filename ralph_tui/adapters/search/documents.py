"""The searchable parts of a journal: documents, each with the event that it comes from.

Events sanitise their texts when they are parsed, so the index contains only sanitised texts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from ralph_tui import events as ev
from ralph_tui.base.plain_files import read_bytes
from ralph_tui.text.sanitize import clip, plain
from ralph_tui.text.terms import in_words

KINDS: Final = ("objective", "reflection", "learning", "outcome", "handoff", "action")
"""Kinds of documents; for equally good matches, the earlier kind comes first."""
LONGEST: Final = 4000
"""Maximum length of a document, in characters."""
REASONING: Final = 200
"""Maximum length of the agent's last message before a tool call, in characters."""
LARGEST_HANDOFF: Final = 1 << 20

_READ = (
    ev.RunStarted
    | ev.IterationStarted
    | ev.AgentSpoke
    | ev.ToolStarted
    | ev.AgentReported
    | ev.SessionFinished
    | ev.FilesChanged
    | ev.LearningStaged
    | ev.LearningChanged
    | ev.ReflectionWritten
    | ev.IterationFinished
    | ev.RunFinished
    | ev.RunCrashed
)
_KINDS_READ = {kind for kind, event_type in ev.EVENT_TYPES.items() if issubclass(event_type, _READ)}
_KIND = re.compile(rb'"kind"\s*:\s*"(\w+)"')


def is_indexed(line: bytes) -> bool:
    """True if a line of a journal can contribute to the index."""
    kind = _KIND.search(line, 0, 300)
    return kind is not None and kind[1].decode() in _KINDS_READ


@dataclass(frozen=True)
class Document:
    """A searchable text."""

    kind: str
    """One of `KINDS`."""
    text: str
    seq: int
    iteration: int
    at: datetime


class Documents:
    """Documents from a journal, starting at its first event or at a saved position."""

    def __init__(self, folder: Path, iteration: int = 0, last_words: str = "") -> None:
        """`folder` is the attempt's folder; the others are the values at the saved position."""
        self.iteration = iteration
        self.last_words = last_words
        """The agent's text since its last tool call, shortened."""
        self._folder = folder

    def take(self, event: ev.Event) -> Iterator[Document]:
        """Yield the documents from an event."""
        match event:
            case ev.IterationStarted():
                self.iteration, self.last_words = event.iteration, ""
            case ev.AgentSpoke(parent=None):
                self.last_words = clip(event.words.strip(), REASONING)
        for kind, text in self._event_texts(event):
            if text.strip():
                yield Document(
                    kind, clip(text.strip(), LONGEST), event.seq, self.iteration, event.at
                )
        if isinstance(event, ev.RunFinished | ev.RunCrashed):
            self.iteration = 0

    def _event_texts(self, event: ev.Event) -> Iterator[tuple[str, str]]:
        match event:
            case ev.RunStarted():
                yield "objective", event.objective
            case ev.ToolStarted():
                yield "action", _lines(f"{event.tool} {event.summary}", self.last_words)
                self.last_words = ""
            case ev.SessionFinished(tool_calls=0):  # an agent that reports no tool calls
                yield "action", self.last_words
            case ev.FilesChanged(live=False):
                yield "action", _lines(*(f"{one.status} {one.path}" for one in event.changes))
            case ev.LearningStaged():
                yield "learning", event.learning.text
            case ev.LearningChanged(change="edit"):
                yield "learning", event.text
            case ev.ReflectionWritten():
                texts = (event.observation, event.analysis, event.learning)
                yield "reflection", _lines(*texts, *event.action_items)
            case ev.IterationFinished():
                for text in handoffs(self._folder, event.iteration):
                    yield "handoff", text
        if outcome := _outcome(event):
            yield "outcome", outcome


def _outcome(event: ev.Event) -> str:
    """Return what the agent reported, or how a session or the run ended."""
    match event:
        case ev.AgentReported():
            return _lines(event.summary, *event.blockers)
        case ev.SessionFinished() if event.reason:
            return f"{in_words(event.outcome)}: {event.reason}"
        case ev.RunFinished():
            return event.words
        case ev.RunCrashed():
            return event.line()
    return ""


def handoffs(folder: Path, iteration: int) -> Iterator[str]:
    """Yield the handoffs that an iteration's sessions left for later ones."""
    results = folder / "results" / f"iter-{iteration:03}"
    try:
        names = sorted(path.name for path in results.iterdir())
    except OSError:
        return
    for name in names:
        if re.fullmatch(r"handoff-[1-9]\d{0,8}\.md", name):
            try:
                content = read_bytes(results / name, below=folder, most=LARGEST_HANDOFF)
            except OSError:
                continue
            yield plain(content.decode("utf-8", "replace"))


def _lines(*texts: str) -> str:
    return "\n".join(text for text in texts if text.strip())
