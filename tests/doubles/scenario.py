"""A scenario: the model's answers, the faults, and the user's actions.

One JSON file, played by the stub and by the scripted service alike. ``{root}`` and ``{python}`` in
texts are replaced by the project folder and an interpreter. An answer that is not scripted ends the
turn.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "fixtures" / "scenarios"
LAST_WORDS = "Nothing left to do."

Json = dict[str, Any]


@dataclass(frozen=True)
class ToolUse:
    """A tool the model wants: a name and its input."""

    name: str
    input: Json


@dataclass(frozen=True)
class Answer:
    """One answer of the model, or a fault instead."""

    text: str = ""
    tools: Sequence[ToolUse] = ()
    stop_reason: str = ""
    """Why the model stopped, if not for its tools or the end of its turn: "refusal", ..."""
    delay_s: float = 0.0
    """Silence before the first byte."""
    stall_s: float = 0.0
    """Silence in the middle of the stream."""
    input_tokens: int = 12
    cached_tokens: int = 12_400
    output_tokens: int = 20
    fault: str = ""
    """An HTTP status ("429", ...), or "drop", "error_event", "overflow"."""
    times: int = 1
    """Number of faults before the next answer."""
    retry_after: str = ""
    resets_in_s: float = 0.0
    """A usage limit: the fault comes until so many seconds after the scenario began."""
    compacts_to: int = 0
    """Tokens left of the context, which is compacted before this answer."""
    hook_stops: bool = False
    """True if one of the user's hooks ends the turn after these tools."""


@dataclass(frozen=True)
class Action:
    """An action of the user, once: on the `nth` event of a kind, or when a file exists."""

    do: str
    """"send", "interrupt", "context", "close", or the name of a signal."""
    on: str = ""
    """A kind of event, such as "system/init", "assistant/tool_use", "user/tool_result"."""
    nth: int = 1
    file: str = ""
    text: str = ""
    wait_s: float = 0.0
    """Seconds after that event."""


@dataclass(frozen=True)
class Scenario:
    """Everything about one scenario; see the fields of `Answer` and `Action`."""

    name: str
    about: str
    sessions: Sequence[Sequence[Answer]]
    """The answers of each session of a run; the last list serves all later ones."""
    prompt: str = "Do the work"
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """The project before: a text per file name."""
    subagents: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    """The answers of subagents, by their prompt."""
    questions: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    """The answers to one-shot questions that hold these words, one each; the last serves all later
    ones. No session is counted for them."""
    actions: Sequence[Action] = ()
    results: int = 1
    """Results to wait for before input is closed."""
    model: str = "claude-sonnet-5-5"
    context_window: int = 1_000_000
    subscription: bool = False
    """True for an account with usage limits, false for an API key."""
    signed_out: bool = False
    """True if the agent itself detects that no account is signed in."""
    hostile: str = ""
    """A way of the stub to be no agent at all; see `hostile.py`."""
    expected: Json = field(default_factory=dict)
    """Expected end: exit_code, outcome, and fields of the last result."""
    differs: str = ""
    """Why the real binary is not compared, if so."""
    differs_before: str = ""
    """...only those before this version, for what they do not know."""

    def answers(self, session: int) -> Sequence[Answer]:
        """Answers of a session, counted from 0."""
        return self.sessions[min(session, len(self.sessions) - 1)] if self.sessions else ()

    def question(self, words: str) -> str | None:
        """Which of the scripted questions this is."""
        return next((key for key in self.questions if key in words), None)

    def nth_answer(self, question: str, nth: int) -> Answer:
        """The nth answer to a scripted question, counted from 1."""
        answers = self.questions[question]
        return answers[min(nth, len(answers)) - 1]


class Script:
    """Gives answers in their order, faults as often as they come.

    `began` is an epoch time; None: it begins when it is asked first, however long a program takes
    to get there.
    """

    def __init__(self, answers: Sequence[Answer], began: float | None = None) -> None:
        self._left = list(answers)
        self._began = began
        self._given = 0

    def next(self, now: float) -> Answer:
        """The next answer, or fault."""
        self._began = now if self._began is None else self._began
        while self._left:
            answer = self._left[0]
            if answer.resets_in_s:
                if now < self._began + answer.resets_in_s:
                    return answer
                self._left.pop(0)
                continue
            self._given += 1
            if self._given >= answer.times:
                self._left.pop(0)
                self._given = 0
            return answer
        return Answer(text=LAST_WORDS)

    @property
    def overflows(self) -> bool:
        """True if the conversation is too long now."""
        return bool(self._left) and self._left[0].fault == "overflow"

    def resets_at(self, answer: Answer) -> int:
        """Epoch second at which a usage limit ends."""
        assert self._began is not None
        return math.ceil(self._began + answer.resets_in_s)


def names() -> list[str]:
    """All scenarios there are."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(path: Path | str, **places: str) -> Scenario:
    """A scenario by name or path; `places` fills ``{root}`` and the like. Raises on bad files."""
    file = Path(path) if str(path).endswith(".json") else FOLDER / f"{path}.json"
    text = file.read_text()
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", json.dumps(value)[1:-1])
    raw = json.loads(text)
    sessions = raw.pop("sessions", None) or [raw.pop("answers", [])]
    return Scenario(
        name=file.stem,
        sessions=[_answers(answers) for answers in sessions],
        subagents={key: _answers(value) for key, value in raw.pop("subagents", {}).items()},
        questions={key: _answers(value) for key, value in raw.pop("questions", {}).items()},
        actions=[Action(**action) for action in raw.pop("actions", [])],
        files={key: _file(value) for key, value in raw.pop("files", {}).items()},
        **raw,
    )


def _answers(raw: Sequence[Json]) -> list[Answer]:
    return [
        Answer(**{**answer, "tools": [ToolUse(**tool) for tool in answer.get("tools", [])]})
        for answer in raw
    ]


def _file(raw: str | Json) -> str:
    """Big files are given as a line and a number of repetitions."""
    return raw if isinstance(raw, str) else raw["first"] + str(raw["line"]) * int(raw["times"])
