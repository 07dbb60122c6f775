"""What the front ends share: how a run is to be shown, one line per event, the exit code.

The assembly of a run is not imported here: a cockpit is painted before git and agents are loaded.
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
from ralph_tui.cli.status_words import told
from ralph_tui.events import Event
from ralph_tui.state import RunState

if TYPE_CHECKING:
    from ralph_tui.adapters.records.attempts import AttemptFolder
    from ralph_tui.runtime.assembly import AssembledRun


def named_elsewhere(attempt: "AttemptFolder", option: str = "") -> str:
    """What a command needs to mean this run when it is typed in the folder of now; often nothing.

    `option`: what stands before it, as in `` --run``.
    """
    if worktree_root(Path.cwd()) == attempt.root:
        return ""
    return f"{option} {shlex.quote(str(attempt.root))}"


def say_what_is_next(run: "AssembledRun", *names: StepName) -> None:
    """After the end: the commands of these steps, as far as there is something to do.

    They work as they stand there, from this folder.
    """
    here = worktree_root(Path.cwd()) == run.attempt.root
    there = "" if here else f"cd {shlex.quote(str(run.attempt.root))} && "
    for step in next_steps(run.engine.state):
        if step.name in names:
            print_line(f"{step.verb}: {there}{step.command}")


def words_of_leaving(state: RunState, attempt: "AttemptFolder") -> str:
    """What a run does whose screen was left, and what can be done about it, a row each."""
    there, at = named_elsewhere(attempt, " --run"), named_elsewhere(attempt)
    rows = ["the run goes on here as plain lines"]
    if state.run.paused:
        rows = [
            "the run is paused, and waits here",
            told("let it go on", f"ralph-tui unpause{there}"),
        ]
    elif state.run.pause_requested and state.needs.question is None:
        rows = [
            "the run goes on here as plain lines; it pauses after this iteration, and waits",
            told("let it go on", f"ralph-tui unpause{there}"),
        ]
    elif state.needs.question is not None:
        rows = ["the run waits here for an answer", told("answer", f"ralph-tui decide{there}")]
    return "\n".join(
        [*rows, told("the screen", f"ralph-tui attach{at}"), told("stop it", "ctrl+c")]
    )


def warn(text: str) -> None:
    """Print a sentence on stderr, where there still is a terminal to print it on."""
    with suppress(OSError):
        print_line(f"ralph-tui: {text}", sys.stderr)


class Printer:
    """Prints the events of a run; of some kinds only a screen shows anything."""

    def __init__(self, *, as_json: bool = False, state: RunState | None = None) -> None:
        """`state`: the run as it stands before the first event that is printed."""
        run = state.run if state is not None else None
        self._as_json = as_json
        self._lines = PlainLines()
        if run is not None:
            read = run.completion is not None
            self._lines = PlainLines(run.iteration, run.max_iterations, measured=read)

    def print(self, event: Event) -> None:
        """Its line, if it has one."""
        text = event.model_dump_json() if self._as_json else self._lines.line(event)
        if text is not None:
            print_line(text)


def exit_code(run: "AssembledRun") -> int:
    """What the outcome of a run means to the shell; raises what kept it from being recorded."""
    if run.engine.error is not None:
        raise run.engine.error
    state, needs = run.engine.state.run, run.engine.state.needs
    if state.crash is not None:
        warn(
            f"a bug ended the run ({state.crash.error}); its traceback is in {run.attempt.journal}"
        )
        return ExitCode.FAILED
    from ralph_tui.layers.sensor.passing import refused  # noqa: PLC0415 - not before the first frame

    if refused(run.engine.state):
        return ExitCode.USAGE
    code = OUTCOME_CODES[state.finished.outcome] if state.finished else ExitCode.INTERRUPTED
    if code is ExitCode.INTERRUPTED and (needs.left_open or needs.question) is not None:
        return ExitCode.QUESTION_OPEN
    return code
