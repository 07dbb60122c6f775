"""A manual reflection that fits in the journal, while its derived files do not fit."""

import errno
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.runtime import reflecting
from tests.paths import FIXTURES


def test_on_a_full_disk_the_sentence_names_what_is_known_and_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(
            errno.ENOSPC, os.strerror(errno.ENOSPC)
        )  # like a write error: without a file name

    made = AttemptFolder.create(tmp_path, "fix it", datetime(2026, 1, 1, tzinfo=UTC))
    shutil.copy(next((FIXTURES / "journals").glob("*.jsonl")), made.journal)
    monkeypatch.setattr(reflecting, "write_task", full)
    with pytest.raises(WorkspaceError) as caught:
        reflecting.reflect(resolve_run(tmp_path, "task-001"), "Look first.")
    assert str(caught.value).endswith(
        "but the files derived from it cannot be written: No space left on device; free some "
        "space, then run 'ralph-tui rebuild'"
    )
