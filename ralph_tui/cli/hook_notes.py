"""What ``ralph-tui hooks`` says of a project, and what a loop's PROMPT.md begins with."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ralph_tui.adapters.hooks.loop_file import LoopFile
from ralph_tui.adapters.hooks.settings import environment_in, switched_off
from ralph_tui.adapters.hooks.settings_file import NAME
from ralph_tui.hook import prompt_file, windows, words
from ralph_tui.hook.watch import thresholds_of
from ralph_tui.layers.context.state_file import State
from ralph_tui.text.sanitize import one_line, plain


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
