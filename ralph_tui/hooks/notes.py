"""What ``ralph-tui hooks`` says of a project, and what a loop's PROMPT.md begins with."""

import difflib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ralph_tui.hooks.installed.loop_file import LoopFile
from ralph_tui.hooks.installed.settings import environment_in, switched_off
from ralph_tui.hooks.installed.settings_file import NAME
from ralph_tui.hooks.program import prompt_file, windows, words
from ralph_tui.hooks.program.watch import thresholds_of
from ralph_tui.layers.context.state_file import State
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.secrets import redact

CONTEXT = 3
"""Lines around a change."""
END = 500
"""Characters at either end of a changed line that are shown."""
SEEN = 32 * END
"""So many are searched for secrets, of which one may begin or end outside of what is shown."""


def begin_prompt(prompt: Path, state: State) -> None:
    """Nothing of the loop before is said to the sessions of this one. Raises ``RalphError``."""
    if not prompt_file.has_section(prompt):
        return
    prompt_file.write_section(
        prompt,
        plain(words.where_it_stands(state, None, "")),
        words.task_of(state),
        words.instructions_of(state),
        plain(state["objective"]),
    )


def notes(root: Path, settings: bytes, *, installed: bool) -> Iterator[str]:
    """What is still to be known."""
    loop, text = LoopFile.of(root, os.environ), settings.decode("utf-8").removeprefix("\ufeff")
    yield loop.words(installed=installed)
    for path in loop.set_aside:
        yield f"{shown(path, root)} was set aside: no state file could be read from it"
    running = loop.running
    if running is not None and installed:
        yield from _about_window(running, {**environment_in(text), **os.environ})
        prompt = root / prompt_file.NAME
        if prompt_file.has_section(prompt) and not prompt_file.names(
            prompt, plain(running["objective"])
        ):
            yield f"{prompt.name} names another task; its section says that it is this one"
    if switched_off(text):
        yield f"no hook runs at all while `disableAllHooks` is true in {NAME}"
    if shutil.which("python3") is None:
        yield "there is no python3 on PATH here: the hooks need one, 3.11 or newer"


def _about_window(state: State, environ: Mapping[str, str]) -> Iterator[str]:
    """How large it is, and what comes in the way of its checkpoint."""
    known = windows.window_of(environ, state, "", None).tokens
    if known is None:
        yield (
            "no level is watched where the model's name does not tell how large its context window "
            "is: say ralph-tui hooks install --window 200k"
        )
        return
    yield f"the context window holds {known:,} tokens"
    if early := windows.sums_up_before(known, thresholds_of(state).checkpoint, environ):
        yield early


def shown(path: Path, root: Path) -> str:
    """As its user would name it."""
    return one_line(str(path.relative_to(root) if path.is_relative_to(root) else path))


def settings_diff(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Settings can hold keys: what stands beside our lines is shown without them."""
    was, will = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    # difflib would index every line of a large file; only what lies between is compared.
    skipped = max(0, _same(was, will) - CONTEXT)
    was, will = was[skipped:], will[skipped:]
    if (rest := _same(was[::-1], will[::-1]) - CONTEXT) > 0:
        was, will = was[:-rest], will[:-rest]
    for line in difflib.unified_diff(was, will, NAME, NAME, lineterm="", n=CONTEXT):
        yield _ends(_moved(line, skipped))


def _ends(line: str) -> str:
    """The line without its secrets, and of a long one its ends: a whole file may be one line."""
    if len(line) <= 2 * SEEN:
        return plain(redact(line))
    begin, end = plain(redact(line[:SEEN])), plain(redact(line[-SEEN:]))
    return f"{begin[:END]} … {end[-END:]}"


def _same(some: Sequence[str], others: Sequence[str]) -> int:
    """Lines that are equal from the first on."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(some), len(others)))


def _moved(line: str, skipped: int) -> str:
    """The head of a hunk, by the lines of the whole file; any other line as it is."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"([-+])(\d+)", lambda at: f"{at[1]}{int(at[2]) + skipped}", line)
