"""The scripted model of the context benchmark, which decides by the content of its session.

It is a function of the conversation: the prompt, its own calls and their results. Nothing is kept
between sessions, so a session knows about earlier ones only from its prompt and the files it reads.
It does not measure how well a real model understands. It follows whatever a handoff plainly says,
and without one starts the first open item over.
"""

import random
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from bench.context_task import END, PLAN, WAYS, Step

ITEMS_PER_SESSION = 2
SLOW_S = 0.4
_HANDOFF = re.compile(r"[\w./-]*/handoff-(\d+)\.md")
_NUMBERED = re.compile(r"^ *\d+[\t→]", re.MULTILINE)
_CALL = re.compile(r"^- `(\w+) ([^`]*)`(.*)$", re.MULTILINE)
_TRANSCRIPT = re.compile(r"^- Full transcript: `([^`]+)`", re.MULTILINE)
_EDITS = '"name":"Edit","input":{[^}]*}'


@dataclass(frozen=True)
class Call:
    """A tool call, with some words before it."""

    tool: str
    arguments: dict[str, object]
    words: str = ""


@dataclass(frozen=True)
class Result:
    """The result of a call."""

    text: str
    failed: bool = False


@dataclass
class Position:
    """Position within an item."""

    way: str = ""
    done: int = 0
    """Completed steps."""


@dataclass(frozen=True)
class Mind:
    """Traits of a session: its random numbers, its talkativeness, and its marked lines."""

    dice: random.Random
    talks: bool
    lines_of: Callable[[Step, int], str] = field(repr=False)


Session = Generator[Call, Result, str]
Reading = Generator[Call, Result, Position]


def session(prompt: str, mind: Mind) -> Session:
    """Play a whole session, call by call, and return its last words."""
    held: set[str] = set()
    handoff = _HANDOFF.search(prompt)
    plan = yield from _read(PLAN, held)
    position = Position()
    left = re.findall(r"^- \[ \] (.*)$", plan, re.MULTILINE)
    if handoff is not None and left:
        position = yield from _take_over(handoff[0], left[0], held)
    ticked = 0
    while left and ticked < ITEMS_PER_SESSION:
        yield from _work(left.pop(0), position, mind, held)
        position = Position()
        ticked += 1
    report = f'{{"ralph": {{"summary": "{ticked} items done", "completion": 50}}}}'
    return report if left else f"{report}\n<promise>COMPLETE</promise>"


def _read(path: str, held: set[str]) -> Generator[Call, Result, str]:
    result = yield Call("Read", {"file_path": path})
    if not result.failed:
        held.add(path)
    return _NUMBERED.sub("", result.text)


def _work(title: str, position: Position, mind: Mind, held: set[str]) -> Generator[Call, Result]:
    """Do the remaining steps of an item, and tick it."""
    number = int(title.split(maxsplit=1)[0])
    text = yield from _read(f"items/{number:02}.md", held)
    files = re.findall(r"^\d+\. add to (\S+)$", text, re.MULTILINE)
    position.way = position.way or mind.dice.choice(WAYS)
    while position.done < len(files):
        path, step = files[position.done], position.done + 1
        words = f"Item {number:02} in way {position.way}: step {step} of {len(files)} comes next, "
        words = f"{words}in {path}." if mind.talks else ""
        if path not in held:
            yield from _read(path, held)
        lines = mind.lines_of(Step(number, step, position.way), mind.dice.randint(1, 3))
        given = {"file_path": path, "old_string": END, "new_string": f"{lines}\n{END}"}
        result = yield Call("Edit", given, words)
        if result.failed:
            yield from _read(path, held)
            continue
        position.done += 1
        if "slow check" in text:
            command = f"python3 -c 'import time; time.sleep({SLOW_S})'"
            yield Call("Bash", {"command": command, "description": "Run the slow check"})
    before, after = f"- [ ] {title}", f"- [x] {title}"
    yield Call("Edit", {"file_path": PLAN, "old_string": before, "new_string": after})


def _take_over(path: str, title: str, held: set[str]) -> Reading:
    """Return the position in the first open item according to the handoff."""
    text = yield from _read(path, held)
    number = int(title.split(maxsplit=1)[0])
    said = re.findall(
        rf"Item {number:02} in way ([A-D]): step (\d+) of \d+ comes next, in (\S+)\.", text
    )
    calls = [call for call in _CALL.findall(text) if call[0] == "Edit"]
    if calls and calls[0][1] == PLAN and _failed(calls[0][2]):
        del calls[0]  # it was not made: the item is still open
    unsure = bool(calls) and _failed(calls[0][2])
    if said and not unsure:
        way, step, file = said[-1]
        return Position(way, int(step) - 1 + (bool(calls) and calls[0][1] == file))
    transcript = _TRANSCRIPT.search(text)
    if title not in text or transcript is None:
        return Position()
    # It said nothing, or its last edit was cut off: look up the edits of this iteration.
    command = f"grep -ho '{_EDITS}' {transcript[1]}"
    listed = yield Call("Bash", {"command": command, "description": "List the edits"})
    since: list[str] = []
    for new in re.findall(r'"new_string":"([^"]*)"', listed.text):
        if f"- [x] {title}" not in new:
            since = [] if "- [x] " in new else [*since, new]
    made = False
    if since and unsure:
        content = yield from _read(calls[0][1], held)
        made = since[-1].split("\\n")[0] in content
        since = since if made else since[:-1]
    if said:
        way, step, _ = said[-1]
        return Position(way, int(step) - 1 + made)
    return Position(since[-1][:1], len(since)) if since else Position()


def _failed(how: str) -> bool:
    return "failed" in how or "still running" in how


def next_move(prompt: str, results: Sequence[Result], mind: Mind) -> Call | str:
    """Return the next call after these results of its own calls; a text ends its turn."""
    playing = session(prompt, mind)
    try:
        move = next(playing)
        for result in results:
            move = playing.send(result)
    except StopIteration as ended:
        return str(ended.value)
    return move
