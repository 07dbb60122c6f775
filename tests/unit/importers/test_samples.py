"""Every recorded sample of another tool folds, and agrees with its own records."""

from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.state import RunState
from tests.foreign import find_imported, of_kind, read_imported, row_of, unpacked
from tests.rows import each_row

EXPECTED = {
    "ref-steady": ("aiwg/e346fe17", "A", [20, 40, 60, 80, 100], "completed"),
    "ref-stuck": ("aiwg/aabdb08a", "A", [30, 30, 31, 30, 31, 30, 31, 30], "limit_reached"),
    "ref-crash": ("aiwg/276305e5", "A", [20, 40], None),
    "cli-abort": ("aiwg/1d6faa91", "A", [20, 40, 60, 80], "limit_reached"),
    "wired-oscillating": ("aiwg/020b2b71", "B", [40, 60] * 4, "limit_reached"),
}


@each_row("sample", EXPECTED)
def test_a_sample_folds_to_what_it_says(sample: str, tmp_path: Path) -> None:
    name, form, completions, outcome = EXPECTED[sample]
    (run,) = find_imported(unpacked(sample, tmp_path))
    recording = read_imported(run)
    state = RunState().apply_all(recording.events)
    assert (run.name, run.form) == (name, form)
    assert recording.problem == ""
    assert [event.seq for event in recording.events] == [*range(1, len(recording.events) + 1)]
    assert state.run.completions == completions
    assert (state.run.finished.outcome if state.run.finished else None) == outcome
    assert state.run.started is not None
    assert state.run.started.imported == f"aiwg, form {form}"
    row = row_of(run)
    assert [100 * each for each in row.completions] == pytest.approx(completions)
    assert row.status == (outcome or "died")


GOLDEN = {
    "ref-steady": (
        ["incomplete"] * 4 + ["completed"], 25, 10, 5, 0.10, 1.591, [],
        ["2 WARN", "3 WARN", "4 WARN", "5 WARN"],
        [0.026, 0.381, 0.698, 1.062, 1.353], [0.212, 0.539, 0.914, 1.189, 1.462],
    ),
    "ref-stuck": (
        ["incomplete"] * 8, 24, 16, 8, 0.16, 2.954, ["4 STUCK", "8 BUDGET_EXCEEDED"],
        ["2 WARN", "3 WARN", "4 REDIRECT", "4 WARN", "5 WARN", "6 PAUSE", "6 WARN", "7 PAUSE",
         "7 WARN", "8 PAUSE", "8 WARN"],
        [0.012, 0.477, 0.767, 1.089, 1.477, 1.7, 2.03, 2.477],
        [0.125, 0.585, 0.914, 1.236, 1.564, 1.809, 2.249, 2.726],
    ),
    "ref-crash": (
        ["incomplete", "incomplete", "interrupted"], 7, 5, 2, 0.04, 0.296, [], ["2 WARN"],
        [0.017, 0.156, 0.296], [0.095, 0.224, 0.296],
    ),
    "cli-abort": (
        ["incomplete"] * 4, 12, 8, 4, 0.08, 19.271, ["4 BUDGET_EXCEEDED"],
        ["2 WARN", "3 WARN", "4 WARN"],
        [0.105, 0.465, 6.891, 13.132], [0.234, 6.686, 13.07, 19.209],
    ),
    "wired-oscillating": (
        ["incomplete"] * 8, 32, 16, 8, 0.16, 12.643,
        ["5 OSCILLATING", "8 STUCK", "8 BUDGET_EXCEEDED"],
        [f"{k} REDIRECT" for k in (4, 5, 6, 7, 8)],
        [0.214, 1.853, 3.223, 4.49, 6.129, 7.459, 8.64, 10.853],
        [0.475, 2.001, 3.389, 4.723, 6.341, 7.622, 8.844, 10.971],
    ),
}  # fmt: skip
"""Expected values of each sample.

Iterations, tools, checkpoints, iterations with changed files, dollars, seconds; our alarms and its
own interventions; start and end of its sessions, in seconds after the run's start.
"""


@each_row("sample", GOLDEN)
def test_a_sample_is_told_in_full(sample: str, tmp_path: Path) -> None:
    (run,) = find_imported(unpacked(sample, tmp_path))
    recording = read_imported(run)
    began = recording.events[0].at

    def seconds(kind: type[ev.Event]) -> list[float]:
        return [round((e.at - began).total_seconds(), 3) for e in of_kind(recording, kind)]

    state = RunState().apply_all(recording.events)
    assert (
        [event.status for event in of_kind(recording, ev.IterationFinished)],
        len(of_kind(recording, ev.ToolStarted)),
        len(of_kind(recording, ev.CheckpointCaptured)),
        len(of_kind(recording, ev.FilesChanged)),
        round(state.run.cost_usd, 6),
        round((recording.events[-1].at - began).total_seconds(), 3),
        [f"{event.iteration} {event.alarm}" for event in of_kind(recording, ev.AlarmRaised)],
        [f"{e.iteration} {e.act}" for e in of_kind(recording, ev.ForeignVerdict)
         if e.layer == "oversight" and e.act],
        seconds(ev.SessionStarted),
        seconds(ev.SessionFinished),
    ) == GOLDEN[sample]  # fmt: skip
    prompts = of_kind(recording, ev.PromptPrepared)
    assert [prompt.path for prompt in prompts] == [
        f"prompts/{k:03}-prompt.md" for k in range(1, len(prompts) + 1)
    ]
    assert all((recording.path.parent / prompt.path).is_file() for prompt in prompts)
