"""The HTTP service that plays the scripted model of the context benchmark.

It answers each request only from the conversation in it (`context_policy`). It reports how full the
window is, which grows with each call and with the content of read files. It also takes notes on
sessions for the examiner.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.context_policy import Call, Mind, Result, next_move
from bench.context_task import Examiner, Step
from tests.doubles.answering import text_of
from tests.doubles.api import COMPACTING, SIDE_ANSWER, Api
from tests.doubles.scenario import Answer, Json, Scenario, Script, ToolUse

WINDOW = 200_000
"""Size of the model's window, as the real binary assumes; the double is configured with it."""
INSTRUCTIONS = 30_000
"""Tokens in the window at the start.

All counts are invented: a session is short, and its window must fill.
"""
PER_CALL = 6_400
PER_CHARACTER = 4
"""Tokens per character of the prompt and of read files."""
DELAY_S = 0.05
"""Delay of an answer; without one the model would outrun any loop."""
RESUMING = re.compile(r"^# Context checkpoint.*?(?=^# |\Z)", re.DOTALL | re.MULTILINE)
"""The section of a prompt for a session that takes over."""


@dataclass
class Taken:
    """How a session that took over actually continued, and how it should have."""

    right: Step
    """The correct step; any way if its way is empty, the plan's tick if beyond the last step."""
    mid_item: bool
    """True if the item had begun."""
    did: Step | None = None
    """Its first edit; None if it made none."""
    ticked: bool = False
    """True if its first edit was the plan's tick."""

    @property
    def continued(self) -> bool:
        """True if it continued with the right item, step and way."""
        if self.did is None:
            return self.ticked
        same = (self.did.item, self.did.number) == (self.right.item, self.right.number)
        return same and self.right.way in ("", self.did.way)


class Model(Api):
    """The running service; with `blank`, it hides the handoffs from its sessions."""

    def __init__(self, examiner: Examiner, *, blank: bool) -> None:
        super().__init__(Scenario("context", "a model that sees its session alone", []))
        self.sessions = 0
        self.calls = 0
        self.resumes: list[Taken] = []
        self.highest = 0
        """Most tokens in a window."""
        self._examiner = examiner
        self._blank = blank
        self._number: dict[str, int] = {}
        """Session numbers by the id of their first call."""
        self._lines: dict[tuple[int, int], str] = {}
        self._waiting: Taken | None = None
        self._cut_off = False
        """True if the last session has not ended its turn itself."""

    def answer(self, path: str, body: Json) -> tuple[Answer, Script]:
        messages: list[Json] = body.get("messages", [])
        script = Script((), 0)
        with self.lock:
            if not body.get("tools") or COMPACTING in text_of(messages[-1]):
                return SIDE_ANSWER, script
            return self._next(messages), script

    def _next(self, messages: Sequence[Json]) -> Answer:
        prompt = text_of(messages[0])
        seen = RESUMING.sub("", prompt) if self._blank else prompt
        results, first = _results(messages), _first_call(messages)
        tokens = INSTRUCTIONS + PER_CALL * len(results)
        tokens += PER_CHARACTER * (len(seen) + sum(len(result.text) for result in results))
        if tokens > WINDOW:
            return Answer(fault="overflow")
        self.highest = max(self.highest, tokens)
        if not first:
            self._begin(takes_over=RESUMING.search(prompt) is not None)
        number = self._number.setdefault(first, self.sessions) if first else self.sessions
        move = next_move(seen, results, self._mind(number))
        if isinstance(move, str):
            self._cut_off = False
            return self._said(tokens, move)
        self.calls += 1
        if move.tool == "Edit":
            self._note(move)
        return self._said(tokens, move.words, ToolUse(move.tool, move.arguments))

    def _said(self, tokens: int, words: str, *uses: ToolUse) -> Answer:
        return Answer(
            words, uses, delay_s=DELAY_S, input_tokens=tokens, cached_tokens=0, output_tokens=20
        )

    def _mind(self, number: int) -> Mind:
        """Return a session's traits as at its first call, since it is replayed from there."""
        count = 0

        def lines_of(step: Step, lines: int) -> str:
            nonlocal count
            count += 1
            if (number, count) not in self._lines:
                self._lines[number, count] = self._examiner.give(step, lines)
            return self._lines[number, count]

        seed = self._examiner.task.seed
        talks = seed % 4 != 3
        return Mind(random.Random(f"mind {seed} {number}"), talks, lines_of)

    def _begin(self, *, takes_over: bool) -> None:
        """Handle a session's first call, and note how it should continue."""
        self.sessions += 1
        right = self._examiner.next_step()
        if (self._cut_off or takes_over) and right is not None:
            self._waiting = Taken(right, mid_item=right.number > 1)
            self.resumes.append(self._waiting)
        self._cut_off = True

    def _note(self, move: Call) -> None:
        """Note how a session continued, from its first edit."""
        taken, self._waiting = self._waiting, None
        if taken is None:
            return
        mark = str(move.arguments["new_string"]).split("\n")[0].rpartition(" ")[2]
        taken.did = self._examiner.given.get(mark)
        item = next(i for i in self._examiner.task.items if i.number == taken.right.item)
        taken.ticked = taken.did is None and taken.right.number > len(item.files)


def _blocks(message: Json) -> list[Json]:
    content: Any = message.get("content", "")
    return content if isinstance(content, list) else []


def _first_call(messages: Sequence[Json]) -> str:
    calls = [b["id"] for m in messages for b in _blocks(m) if b.get("type") == "tool_use"]
    return str(calls[0]) if calls else ""


def _results(messages: Sequence[Json]) -> list[Result]:
    results = []
    for message in messages:
        for block in _blocks(message):
            if block.get("type") == "tool_result":
                content = block.get("content", "")
                text = content if isinstance(content, str) else text_of({"content": content})
                results.append(Result(text, failed=bool(block.get("is_error"))))
    return results
