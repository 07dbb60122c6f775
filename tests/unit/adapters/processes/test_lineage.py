"""Process ancestry, also while ancestors end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.processes import lineage as lineage_module
from ralph_tui.adapters.processes.keeper import Entry, read_entry
from ralph_tui.adapters.processes.lineage import lineage, name_of, terminal_of

ROUNDS = """
import os, signal
from ralph_tui.adapters.processes.keeper import adopt_orphans
from ralph_tui.adapters.processes.lineage import lineage
adopt_orphans()
for _ in range(40):
    reader, writer = os.pipe()
    parent = os.fork()
    if not parent:
        child = os.fork()
        if child:
            os.write(writer, child.to_bytes(4, "big"))
            os._exit(0)
        while True:
            signal.pause()
    child = int.from_bytes(os.read(reader, 4), "big")
    # Its parent ends just now: whatever is seen, the line leads here.
    lines = [lineage(child) for _ in range(5)]
    assert all(os.getpid() in [entry.pid for entry in line] for line in lines if line), lines
    assert any(lines)
    os.kill(child, 9)
    os.waitpid(parent, 0)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
assert lineage(child) == ()
print("done")
"""


def test_it_leads_from_a_process_to_the_first_one() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        line = lineage(child.pid)
        assert [entry.pid for entry in line[:2]] == [child.pid, os.getpid()]
        assert line[-1].parent == 0
    assert lineage(child.pid) == ()


def test_nobody_drops_out_of_it_by_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ROUNDS], capture_output=True, text=True, check=False
    )
    assert done.stdout == "done\n", done.stderr


def test_a_line_that_changes_while_it_is_looked_at_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An ancestor has ended, and its pid belongs to another process."""
    looks: list[str] = []

    def look(pid: str) -> Entry | None:
        looks.append(pid)
        first = int(pid) == os.getpid() and looks.count(pid) == 1
        entry = read_entry(pid)
        if first and entry is not None:
            entry.parent = 1
        return entry

    monkeypatch.setattr(lineage_module, "read_entry", look)
    assert os.getppid() in [entry.pid for entry in lineage(os.getpid())]


def test_a_process_signs_with_its_controlling_terminal() -> None:
    look = (
        "import os, pty, sys\n"
        "from ralph_tui.adapters.processes.lineage import name_of, terminal_of\n"
        "pid, terminal = pty.fork()\n"
        "if not pid:\n"
        "    me = os.getpid()\n"
        "    print(os.ttyname(0)[5:], name_of(me)[13:], terminal_of(me).is_foreground)\n"
        "    os._exit(0)\n"
        "text = b''\n"
        "while not text.endswith(b'\\n'):\n"
        "    text += os.read(terminal, 1000)\n"
        "print(text.decode().strip())\n"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    name, signed, is_foreground = done.stdout.split()
    assert name == signed
    assert Path("/dev", name).parent.name == "pts"
    assert is_foreground == "True"


def test_without_one_it_signs_with_its_number() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as child:
        assert terminal_of(child.pid) is None
        assert name_of(child.pid) == f"a script (process {child.pid})"
