"""Damaged files of a foreign run: the rest replays, and losses are reported."""

import json
import os
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph_tui.adapters.records.journal import Recording
from ralph_tui.events import Noticed, ToolStarted
from ralph_tui.state import RunState
from tests.foreign import find_imported, of_kind, read_imported, row_of, unpacked
from tests.rows import each_row

LOOP = "276305e5-6592-45e6-8027-5088abb66fce"
OUTSIDE = ".aiwg/ralph-external/"
FILES = (
    "session-state.json",
    "session-state.json.bak",
    "analysis/001-analysis.json",
    f"analytics/{LOOP}.json",
    "loops/ralph-implement-user-authentication-72a536d2/session-state.json",
    "outputs/001-stdout.log",
    "outputs/001-stderr.log",
    "outputs/checkpoints/001-checkpoint.json",
    "outputs/session-transcript.jsonl",
    "overseer/[object Object]-overseer-log.json",
    "prompts/001-prompt.md",
    "reflections/reflection-1.json",
)
NOTED = frozenset(file for file in FILES if file.endswith(".json") and "analysis" not in file)
"""Files that are read whole, so that damage shows; the state has its analyses inside."""


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbled(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 4)


def doubled(path: Path) -> None:
    path.write_bytes(path.read_bytes() * 2)


def deepened(path: Path) -> None:
    path.write_bytes(b'{"a":' * 3000)


def listed(path: Path) -> None:
    path.write_text("[1, 2]")


def recoded(path: Path) -> None:
    path.write_bytes(path.read_text().encode("utf-16"))


def deleted(path: Path) -> None:
    path.unlink()


def piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def linked(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def looped(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def in_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


HARMLESS = (deleted, recoded)
"""Harmless changes: a missing file was never written, and UTF-16 is read."""
DAMAGE = (cut, emptied, garbled, doubled, deepened, listed, recoded, deleted, piped, linked, looped,
          in_a_folder)  # fmt: skip


def sound(root: Path) -> list[tuple[Recording, RunState]]:
    """All runs of a project: found, listed, read and folded, in order."""
    found = []
    for run in find_imported(root):
        row_of(run)
        recording = read_imported(run)
        events = recording.events
        assert [event.seq for event in events] == [*range(1, len(events) + 1)]
        assert all(a.at <= b.at for a, b in pairwise(events))
        for event in events:
            event.model_dump_json()
        found.append((recording, RunState().apply_all(events)))
    return found


@each_row("damage", DAMAGE)
def test_a_damaged_file_costs_itself_and_is_told(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    whole = unpacked("ref-crash", tmp_path / "whole")
    first = 0 if damage in (cut, piped) else DAMAGE.index(damage) % 3
    for number, file in enumerate(FILES[first :: 1 if damage in (cut, piped) else 3]):
        root = tmp_path / str(number)
        shutil.copytree(whole, root)
        damage(root / OUTSIDE / file)
        runs = sound(root)
        assert runs, file
        recording, state = max(runs, key=lambda run: len(run[0].events))
        assert state.run.completions == [20, 40], file
        in_its_place = damage in (piped, linked, looped, in_a_folder)
        read_whole = file in NOTED and damage not in HARMLESS
        if read_whole or (in_its_place and not file.endswith((".bak", "analysis.json"))):
            notes = [event.text for event in of_kind(recording, Noticed)]
            assert any(file in note for note in notes), (file, notes)
            assert recording.problem, file
        if "stdout" not in file:
            assert len(of_kind(recording, ToolStarted)) == 7, file


@each_row("sample", ["cli-abort", "internal-hook"])
def test_folders_that_are_gone_take_no_other_along(sample: str, tmp_path: Path) -> None:
    whole = unpacked(sample, tmp_path / "whole")
    readings = [state.run.completions for _, state in sound(whole)]
    folders = [path for path in (whole / ".aiwg").glob("*/*") if path.is_dir()]
    for number, folder in enumerate(folders):
        root = tmp_path / str(number)
        shutil.copytree(whole, root)
        shutil.rmtree(root / folder.relative_to(whole))
        assert [state.run.completions for _, state in sound(root)] == readings


@each_row("lost", [(1, 2), (3, 4)])
def test_costs_of_which_some_are_lost_are_a_lower_bound(
    lost: tuple[int, ...], tmp_path: Path
) -> None:
    root = unpacked("cli-abort", tmp_path)
    [(_, whole)] = sound(root)
    assert not whole.run.cost_estimated
    for number in lost:
        for path in (root / OUTSIDE / "outputs").glob(f"{number:03}-*"):
            path.unlink()
            path.mkdir()
    [(_, state)] = sound(root)
    assert 0 < state.run.cost_usd < whole.run.cost_usd
    assert state.run.cost_estimated


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Positions of values in a JSON text; in lists only the first and the last."""
    found = [path]
    if isinstance(value, dict):
        for name, inner in value.items():
            found += places(inner, (*path, name))
    elif isinstance(value, list) and value:
        for index in {0, len(value) - 1}:
            found += places(value[index], (*path, index))
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = value.copy()
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    (None, True, -1, 0, 1e308, 10**30, float("nan"), "", "x", "\x1b[2J", "2026-13-45", [], {},
     [None], [[]], {"a": 1}, "9" * 400, -(10**18), "9999-12-31T23:59:59Z")
)  # fmt: skip


@pytest.mark.parametrize(
    ("sample", "file"),
    [
        ("ref-crash", "session-state.json"),
        ("wired-oscillating", "session-state.json"),
        ("ref-crash", f"analytics/{LOOP}.json"),
        ("ref-crash", "outputs/checkpoints/003-checkpoint.json"),
        ("wired-oscillating", "iterations/004/snapshot-diff.json"),
        ("wired-oscillating", "../knowledge/ralph-learnings.json"),
        ("wired-oscillating", "overseer/020b2b71-15de-4747-8978-362ab4ccfdaa-overseer-log.json"),
    ],
)
def test_no_value_of_another_type_is_too_much(
    sample: str, file: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = unpacked(sample, tmp_path_factory.mktemp("run"))
    path = root / OUTSIDE / file
    content = json.loads(path.read_text())
    keys = places(content)

    @settings(max_examples=3, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(st.sampled_from(keys), VALUES), min_size=1, max_size=4))
    def never_a_traceback(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
        damaged = content
        for place, value in changes:
            try:
                damaged = replaced(damaged, place, value)
            except (LookupError, TypeError, AttributeError):
                continue  # an earlier change removed this place
        path.write_text(json.dumps(damaged))
        sound(root)

    never_a_traceback()
