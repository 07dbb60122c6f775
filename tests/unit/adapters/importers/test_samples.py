"""Every recorded sample of another tool folds, and says what its own records say."""

from pathlib import Path

import pytest

from ralph_tui.adapters.importers import find_imported, read_imported, row_of
from ralph_tui.state import RunState
from tests.foreign import unpacked

EXPECTED = {
    "ref-steady": ("aiwg/e346fe17", "A", [20, 40, 60, 80, 100], "completed"),
    "ref-stuck": ("aiwg/aabdb08a", "A", [30, 30, 31, 30, 31, 30, 31, 30], "limit_reached"),
    "ref-crash": ("aiwg/276305e5", "A", [20, 40], None),
    "cli-abort": ("aiwg/1d6faa91", "A", [20, 40, 60, 80], "limit_reached"),
    "wired-oscillating": ("aiwg/020b2b71", "B", [40, 60] * 4, "limit_reached"),
}


@pytest.mark.parametrize("sample", EXPECTED)
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
