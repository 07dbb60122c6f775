"""The end of the run: its results, open questions, and possible next steps.

Rule: it replaces another pane, so nothing moves. Outcome and reason are in the verdict above and
are not repeated.
"""

import shlex
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from ralph_tui.analysis.next_steps import NextStep, next_steps, scratch, whole_change
from ralph_tui.analysis.touched import to_check, touched_by
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.state.guidance import unsent_words
from ralph_tui.state.oversight import Intervention
from ralph_tui.text.format import count, duration, percent, points_gained
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import WARNING
from ralph_tui.tui.draw.spans import Line, clickable, clip, flat, flat_name, wrap
from ralph_tui.tui.draw.words import cost, elapsed
from ralph_tui.tui.panes.iteration_cells import cut_off_words, is_open
from ralph_tui.tui.panes.pane import MAX_COPIED, LinesPane
from ralph_tui.tui.panes.tabs import edge

VERB_CELLS = 11
MAX_ASKED = 3
"""Maximum number of interventions listed here; the event log has them all."""
LONGEST_OBJECTIVE = 400
SHORTEST_OBJECTIVE = 40
"""Minimum number of characters shown of a command's objective; copied commands are complete."""
ENDLESS = 1_000_000
"""A width, and a length of an objective, that no command reaches."""
LONGEST = 12
"""Maximum number of rows of one command."""


class EndPane(LinesPane):
    """The end panel, shown in place of the agent's group until it is closed."""

    key: ClassVar[str] = "end"
    heading: ClassVar[str] = "the end"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.close_end", show=False)]

    def __init__(
        self,
        refused: Callable[[str], str | None],
        keys: Keys = DEFAULTS,
        lost: Callable[[], bool] = lambda: False,
        fleet: Callable[[], FleetWork | None] = lambda: None,
        broken: Callable[[], bool] = lambda: False,
    ) -> None:
        """Create the panel; `refused` returns why an action is unavailable here, or None.

        `lost` returns True if no process runs the run although no end was recorded. `fleet` returns
        the fleet's information about the run, or None if no fleet runs it. `broken` returns True if
        the record is damaged.
        """
        super().__init__()
        self._refused, self._keys, self._lost, self._fleet = refused, keys, lost, fleet
        self._broken = broken
        self._commands: dict[int, str] = {}
        """Commands by row, as last built."""
        self.esc = "shows the pane below"
        """Description of the esc key's effect."""
        self.display = False

    def stamp(self, state: RunState, now: datetime) -> object:
        run = state.run
        ended = (run.live, self._lost(), self._broken(), self._fleet())
        return (run.revision, state.oversight.revision, *ended)

    def line(self, y: int, width: int) -> Line:
        """Draw the title without a digit."""
        if y:
            return super().line(y, width)
        named: Line = [(self.heading, "focus strong" if self.lit else "strong")]
        return edge("╭", "╮", named, [], width, "focus" if self.lit else "frame")

    def subtitle(self, width: int) -> Line:
        return clickable([("esc", "key"), (f" {self.esc}", "dim")], "escape")

    def build(self, width: int, height: int) -> list[Line]:
        above = self._results(width)
        steps, room = list(self._steps(width)), LONGEST_OBJECTIVE
        # Shorten the objectives in displayed commands until all keys are visible.
        while len(above) + len(steps) > height and room > SHORTEST_OBJECTIVE:
            room -= SHORTEST_OBJECTIVE
            steps = list(self._steps(width, room))
        if len(above) + len(steps) < height:
            above.append([])
        self._commands = {len(above) + i: command for i, (_, command) in enumerate(steps)}
        return [*above, *(line for line, _ in steps)]

    def text_rows(self, most: int = MAX_COPIED) -> list[str]:
        """Return all rows, each command whole and in one row, so that it can be pasted."""
        steps = [line for line, _ in self._steps(ENDLESS, ENDLESS)]
        rows = [*self._results(self.inner_width), [], *steps]
        return ["".join(text for text, _ in row).rstrip() for row in rows[:most]]

    def _results(self, width: int) -> list[Line]:
        facts = _facts(self.state, self.now, width, lost=self._lost())
        return [*facts, *_to_check(self.state, width), *_questions(self.state, width)]

    def clicked(self, row: int, cell: int) -> None:
        """Copy a clicked command; a click on its key runs it."""
        command = self._commands.get(row, "")
        if command and cell >= VERB_CELLS + 2:
            self.app.copy_to_clipboard(command)
            self.post_message(self.NoEffect(f"copied: {command}"))

    def _steps(self, width: int, room: int = LONGEST_OBJECTIVE) -> Iterator[tuple[Line, str]]:
        """Yield rows, each with its command; `room` limits an objective's length."""
        started = self.state.run.started
        if started is None:
            return
        fleet = self._fleet()
        lost, broken = self._lost(), self._broken()
        for step in next_steps(self.state, gone=lost, broken=broken, fleet=fleet):
            if step.name == "replay":
                continue  # the replay would show nothing new
            able = step.name not in ("attach", "merge") and self._refused(step.name) is None
            keys = self._keys if able else None
            if scratch(started):  # deleted with this screen, so commands would fail
                if keys is not None:
                    yield from (
                        (line, "") for line in _step(step._replace(command=""), keys, width)
                    )
                continue
            objective = shlex.quote(started.objective)
            shown = shlex.quote(clip(started.objective, room))
            displayed = step._replace(command=step.command.replace(objective, shown))
            yield from ((line, step.command) for line in _step(displayed, keys, width))
        if scratch(started):
            words = "its folder is deleted when you leave; ralph-tui demo --keep FOLDER keeps it"
            yield [(clip(words, width), "dim")], ""
        elif fleet is None and started.root and is_elsewhere(started.root):
            yield [(piece, "dim") for piece in wrap(f"in {flat(started.root)}", width, 1)], ""


def is_elsewhere(root: str | Path) -> bool:
    """True if the current directory is outside of this worktree, or has been deleted."""
    try:
        return not Path.cwd().is_relative_to(root)
    except FileNotFoundError:
        return True


def _facts(state: RunState, now: datetime, width: int, *, lost: bool) -> Iterator[Line]:
    """Yield the results and their cost; after a crash, also where the traceback is."""
    run, gates = state.run, [s.gate for s in state.timeline.spans if s.gate is not None]
    if run.crash is not None:
        words = (
            "this is a bug in ralph-tui; the agent was stopped and the journal has the traceback"
        )
        yield from ([(row, "text")] for row in wrap(words, width, 2))
    done = ""
    if run.completion is not None:
        first = run.completions[0] if run.completions else run.completion
        start = first if run.baseline is None else run.baseline
        done = f"{percent(start, run.completion)} → {percent(run.completion, start, run.best)}"
        if lost and not run.completions:
            done = f"{percent(start)} at the start"
    tests = ""
    counted = [gate for gate in gates if gate.total]
    if counted and run.passed is not None:
        first_passed = "" if len(counted) == 1 else f"{counted[0].passed or 0} → "
        tests = f"{first_passed}{run.passed} tests pass"
        if run.total and run.passed < run.total:
            tests = f"{first_passed}{run.passed} of {run.total} tests pass"
    best = ""
    if run.completion is not None and run.best > run.completion:
        where = f"after iteration {run.best_iteration}" if run.best_iteration else "at the start"
        best = f"best {percent(run.best, run.completion)} {where}"
    spent = flat(run.billing or "") or ("cost unknown" if state.roster.worked else "")
    if run.cost_known:
        without = state.roster.unreported_text
        paid = f"({flat(run.billing)})" if run.billing else ""
        spent = " ".join(filter(None, (cost(state), flat(without), paid)))
    open_one, trees = state.timeline.current, whole_change(state)
    cut = ""
    if lost and open_one is not None and open_one.number and is_open(open_one, state):
        cut = cut_off_words(open_one)
    went = count(run.iteration, "iteration")
    paused = any(entry.kind == "pause" for entry in state.log.entries)
    pauses = ", pauses included" if paused else ""
    took = f"{went} in {duration(elapsed(state, now))}{pauses}"
    unchanged = (
        "no files differ from the start" if trees and trees[0] == trees[1] and not cut else ""
    )
    since = "files restored since" if state.oversight.stale else ""
    yield from _packed([done, since, tests, best, took, cut, unchanged, spent], width)


def _to_check(state: RunState, width: int) -> Iterator[Line]:
    """Yield guidance that never reached the agent, then changes to verify.

    These changes could make tests pass without the work being done.
    """
    if unsent := unsent_words(state.guidance.unsent):
        yield from ([(row, "warn")] for row in wrap(f"{WARNING.glyph} {unsent}", width, 2))
    command = state.run.started.command if state.run.started else None
    config, tests, named = to_check(touched_by(state), command)
    changed = {
        "test configuration": config,
        "tests": tests,
        "files named by the completion command": named,
    }
    for title, paths in changed.items():
        if paths:
            names = ", ".join(flat_name(path) for path in paths)
            warning = f"{WARNING.glyph} check first: {title} changed: {names}"
            yield from ([(row, "warn")] for row in wrap(warning, width, 2))


def _packed(parts: list[str], width: int) -> Iterator[Line]:
    """Yield parts in as few rows as possible, without cutting any."""
    row = ""
    for part in filter(None, parts):
        longer = f"{row}   {part}" if row else part
        if row and len(longer) > width:
            yield [(row, "strong")]
            longer = part
        row = longer
    if row:
        yield [(row, "strong")]


def _questions(state: RunState, width: int) -> Iterator[Line]:
    """Yield the questions asked and their answers."""
    if state.foreign.tool:
        return  # ralph-tui's overseer did not run, so it asked nothing
    made = [each for each in state.oversight.interventions if each.level in ("REDIRECT", "PAUSE")]
    if state.needs.left_open is not None:
        words = f"not answered: {flat(state.needs.left_open.text)}"
        yield [(clip(words, width), "warn")]
        made = [each for each in made if each.decision]
    for each in made[:MAX_ASKED]:
        yield [("asked  ", "dim"), (clip(_describe(each), width - 7), "text")]
    if len(made) > MAX_ASKED:
        rest = f"and {len(made) - MAX_ASKED} more: press 2"
        yield clickable([(f"       {rest}", "dim")], "2")


def _describe(made: Intervention) -> str:
    decided = f": {made.decision}" if made.decision else ""
    gained = f", {points_gained(made.effect.points)}" if made.effect is not None else ""
    return f"{made.level} in iteration {made.iteration}{decided}{gained}"


def _step(step: NextStep, keys: Keys | None, width: int) -> Iterator[Line]:
    """Yield a step's rows; a long command continues on further rows instead of being cut.

    `keys` is None if this screen cannot carry out the step.
    """
    key = f"{keys.shown(step.name)} " if keys else ""
    head: Line = [
        (f"{key:<2}", "key"),
        (f"{step.verb:<{VERB_CELLS + 2 - max(2, len(key))}}", "text"),
    ]
    first, *more = wrap(step.command, width - VERB_CELLS - 2, LONGEST) or [""]
    yield [*(clickable(head, keys.of(step.name)[0]) if keys else head), (first, "accent")]
    for piece in more:
        yield [(" " * (VERB_CELLS + 2), ""), (piece, "accent")]
