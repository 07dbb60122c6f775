"""Samples of another tool, damaged in every way that disks, crashes and other versions know."""

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.cli.fronts.run_lines import PlainLines
from ralph_tui.state import RunState
from tests.e2e.cli import here
from tests.foreign import NAMES, find_imported, read_imported, row_of, unpacked

Damage = Callable[[Path], None]


def _gone(file: Path) -> None:
    file.unlink()


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _half(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _twice(file: Path) -> None:
    file.write_bytes(2 * file.read_bytes())


def _noise(file: Path) -> None:
    file.write_bytes(random.Random(file.name).randbytes(500))


def _list(file: Path) -> None:
    file.write_text("[1, 2, 3]")


def _fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/passwd")


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: tuple[Damage, ...] = (
    _gone, _empty, _half, _twice, _noise, _list, _fifo, _link, _folder,
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None,
    -1,
    1e308,
    True,
    "x",
    "",
    [],
    {},
    [None],
    "\x1b]0;x\x07",
    "../" * 40,
)


STATES = ("session-state.json", "state.json", "current-loop.json", "registry.json")
ROUNDS = 3


def files_of(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def read_all_runs(root: Path) -> None:
    """Every run that is found is listed, read, folded and worded; nothing comes of outside."""
    for run in find_imported(root):
        row = row_of(run)
        recording = read_imported(run)
        assert recording.events[0].kind == "run_started"
        seqs = [event.seq for event in recording.events]
        assert seqs == [*range(1, len(seqs) + 1)]
        times = [event.at for event in recording.events]
        assert times == sorted(times)
        state, lines = RunState(), PlainLines()
        for event in recording.events:
            state.apply(event)
            text = lines.line(event) or ""
            assert "\x1b" not in text
            assert "root:x:0" not in event.model_dump_json()
        assert state.run.started is not None
        assert "\x1b" not in row.objective


@pytest.mark.parametrize("sample", NAMES)
def test_damaged_files_cost_themselves(sample: str, tmp_path: Path) -> None:
    """In each round another fifth of the files, each in another way."""
    root = unpacked(sample, tmp_path)
    files = files_of(root)
    for number in range(ROUNDS):
        hit = random.Random(f"{sample} {number}").sample(files, max(1, len(files) // 5))
        before = {file: file.read_bytes() for file in hit}
        for place, file in enumerate(hit):
            DAMAGES[(number + place) % len(DAMAGES)](file)
        read_all_runs(root)
        for file, content in before.items():
            put_back(file, content)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__.strip("_"))
def test_the_file_that_a_run_is_named_by_may_be_damaged(damage: Damage, tmp_path: Path) -> None:
    """If another file describes the run, that one is used."""
    for sample in ("ref-crash", "internal-cli", "internal-hook"):
        root = unpacked(sample, tmp_path)
        for file in (file for file in files_of(root) if file.name in STATES):
            damage(file)
        read_all_runs(root)


def put_back(file: Path, content: bytes) -> None:
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    elif file.is_symlink() or file.exists():
        file.unlink()
    file.write_bytes(content)


@pytest.mark.parametrize("sample", NAMES)
def test_values_of_any_other_type_cost_themselves(sample: str, tmp_path: Path) -> None:
    """In each round other fields of a state have other values; together they are all of them."""
    root = unpacked(sample, tmp_path)
    for file in (file for file in files_of(root) if file.name in STATES):
        whole = file.read_text()
        every = [*places(json.loads(whole))]
        for number in range(ROUNDS):
            changed = json.loads(whole)
            for index, place in enumerate(every[number::ROUNDS]):
                put(changed, place, WRONG[(index + number) % len(WRONG)])
            file.write_text(json.dumps(changed))
            read_all_runs(root)
        file.write_text(whole)


def places(value: Any, deep: int = 0) -> Iterator[list[Any]]:
    """Places of values; the first two items of a list represent the rest."""
    if isinstance(value, dict) and deep < 4:
        for key, item in value.items():
            yield [key]
            yield from ([key, *rest] for rest in places(item, deep + 1))
    elif isinstance(value, list) and deep < 4:
        for index, item in enumerate(value[:2]):
            yield from ([index, *rest] for rest in places(item, deep + 1))


def put(value: Any, place: list[Any], other: Any) -> None:
    """Set a value if its parent still exists."""
    for key in place[:-1]:
        inside = isinstance(value, dict) and key in value
        inside = inside or (isinstance(value, list) and isinstance(key, int) and key < len(value))
        if not inside:
            return
        value = value[key]
    if isinstance(value, dict):
        value[place[-1]] = other


@pytest.mark.parametrize("sample", NAMES)
def test_the_command_line_tells_a_run_of_which_half_is_damaged(sample: str, tmp_path: Path) -> None:
    root = unpacked(sample, tmp_path)
    for number, file in enumerate(files_of(root)):
        if number % 2 and "state" not in file.name and file.name != "current-loop.json":
            DAMAGES[number % len(DAMAGES)](file)
    done = here("replay", "--headless", "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert kinds[0] == "run_started"
    for command in (("replay", "--headless"), ("report",), ("status",), ("history",)):
        again = here(*command, cwd=root)
        assert again.returncode == 0, again.stderr
