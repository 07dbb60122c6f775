"""Files in use, and what that protects."""

import os
import sys
import time
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.open_files import open_files
from ralph_tui.adapters.workspace.repository import open_repository

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux tells it")


def test_a_file_is_in_use_while_it_is_open(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        there = os.fstat(file.fileno())
        assert (there.st_dev, there.st_ino) in open_files()
    assert (there.st_dev, there.st_ino) not in open_files()


def test_pieces_that_another_git_still_writes_stay(git_repo: Path) -> None:
    repository = open_repository(git_repo)
    folder = repository.objects / "ab"
    folder.mkdir(exist_ok=True)
    began = time.time()
    left, old = folder / "tmp_obj_left", folder / "tmp_obj_old"
    for piece in (left, old):
        piece.write_bytes(b"x")
    os.utime(old, (began - 600, began - 600))
    with (folder / "tmp_obj_used").open("wb"):
        repository.clear_pieces(began)
        assert sorted(p.name for p in folder.glob("tmp_*")) == ["tmp_obj_old", "tmp_obj_used"]
