"""Every saved journal's output is unchanged; ``RALPH_TEST_GOLDEN=write`` rewrites it."""

import os
from pathlib import Path

import pytest

from tests.golden.outputs import FILES, JOURNALS, outputs


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda journal: journal.stem)
def test_nothing_that_is_said_of_a_run_has_changed(journal: Path, tmp_path: Path) -> None:
    said = outputs(journal, tmp_path)
    golden = FILES / f"{journal.stem}.txt"
    if os.environ.get("RALPH_TEST_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(said, "utf-8")
    assert said.split("\n") == golden.read_text("utf-8").split("\n")


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in FILES.iterdir()} == {journal.stem for journal in JOURNALS}
