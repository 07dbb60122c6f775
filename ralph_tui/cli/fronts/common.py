"""Shared by the front ends: a line for each event, the closing hints, the exit code.

The assembly of a run is not imported here: a cockpit is painted before git and agents load.
"""

import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.analysis.next_steps import StepName, next_steps
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts.output import print_line
from ralph_tui.cli.fronts.run_lines import PlainLines
from ralph_tui.events import Event, RunStarted
from ralph_tui.state import RunState

if TYPE_CHECKING:
    from ralph_tui.adapters.records.attempts import AttemptFolder
    from ralph_tui.runtime.assembly import AssembledRun


def run_argument(attempt: "AttemptFolder", option: str = "") -> str:
    """Return the argument that names this run for a command typed here; empty if none is needed.

    `option` comes before it, such as `` --run``.
    """
    if worktree_root(Path.cwd()) == attempt.root:
        return ""
    return f"{option} {shlex.quote(str(attempt.root))}"


def print_next_steps(run: "AssembledRun", *names: StepName) -> None:
    """Print the commands of those next steps that apply after the run has ended.

    Each command works as printed, from the current folder.
    """
    here = worktree_root(Path.cwd()) == run.attempt.root
    there = "" if here else f"cd {shlex.quote(str(run.attempt.root))} && "
    for step in next_steps(run.engine.state):
        if step.name in names:
            print_line(f"{step.verb}: {there}{step.command}")


def leave_text(state: RunState, attempt: "AttemptFolder") -> str:
    """Describe what the run does after its screen has closed, and list commands, one per line."""
    from ralph_tui.cli.status_words import command_row  # noqa: PLC0415 - a cockpit does not wait for it

    there, at = run_argument(attempt, " --run"), run_argument(attempt)
    rows = ["the run continues here as plain lines"]
    if state.run.paused:
        rows = [
            "the run is paused and waits here",
            command_row("let it continue", f"ralph-tui unpause{there}"),
        ]
    elif state.run.pause_requested and state.needs.question is None:
        rows = [
            "the run continues here as plain lines; it pauses after this iteration",
            command_row("let it continue", f"ralph-tui unpause{there}"),
        ]
    elif state.needs.question is not None:
        rows = [
            "the run waits here for an answer",
            command_row("answer", f"ralph-tui decide{there}"),
        ]
    return "\n".join(
        [
            *rows,
            command_row("reopen the screen", f"ralph-tui attach{at}"),
            command_row("stop it", "ctrl+c"),
        ]
    )


def warn(text: str) -> None:
    """Print a sentence on stderr if the terminal still exists."""
    with suppress(OSError):
        print_line(f"ralph-tui: {text}", sys.stderr)


class Printer:
    """Prints the events of a run; some kinds have no line, because only a screen shows them."""

    def __init__(
        self, *, as_json: bool = False, state: RunState | None = None, loop: str = ""
    ) -> None:
        """`state`: the state of the run before the first event to print.

        `loop`: name to print for a fleet's loop; the record names the run in the loop's clone.
        """
        run = state.run if state is not None else None
        self._as_json = as_json
        self._loop = loop
        self._lines = PlainLines()
        if run is not None:
            measured = run.completion is not None
            self._lines = PlainLines(run.iteration, run.max_iterations, measured=measured)

    def print(self, event: Event) -> None:
        """Print the event's line, if it has one."""
        text = event.model_dump_json() if self._as_json else self._lines.line(event)
        if text is not None and self._loop and isinstance(event, RunStarted) and not self._as_json:
            text = text.replace(event.name, self._loop, 1)
        if text is not None:
            print_line(text)


def exit_code(run: "AssembledRun") -> int:
    """Return the exit code for a run's outcome. Raises the error if it could not be recorded."""
    if run.engine.error is not None:
        raise run.engine.error
    state, needs = run.engine.state.run, run.engine.state.needs
    if state.crash is not None:
        warn(
            f"a bug ended the run ({state.crash.error}); its traceback is in {run.attempt.journal}"
        )
        return ExitCode.FAILED
    from ralph_tui.layers.sensor.passing import refused  # noqa: PLC0415 - after the first frame

    if refused(run.engine.state):
        return ExitCode.USAGE
    code = OUTCOME_CODES[state.finished.outcome] if state.finished else ExitCode.INTERRUPTED
    if code is ExitCode.INTERRUPTED and (needs.left_open or needs.question) is not None:
        return ExitCode.QUESTION_OPEN
    return code
