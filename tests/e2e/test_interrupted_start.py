"""A signal at any moment of the start ends the program without a traceback; Ctrl+C with 130."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import CLI
from tests.e2e.test_lost_terminal import Window
from tests.processes import Child
from tests.waiting import PATIENCE_S

STARTS = {
    "module": [sys.executable, "-m", "ralph_tui"],
    "script": [str(Path(sys.executable).with_name("ralph-tui"))],
}
MOMENTS = 6
FIRST = b"signal"
"""The first module that the program itself imports; earlier ones are Python's start-up."""
LONG_START = [
    "replay",
    "--headless",
    str(Path(__file__).parents[1] / "fixtures" / "journals" / "v1-command.jsonl"),
]
ENVIRON = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
"""Python says each module as soon as it is imported: the moments that a test can wait for."""


def module_of(line: bytes) -> bytes:
    """The module that an import-time line names; empty for any other line."""
    return line.rpartition(b"|")[2].strip() if line.startswith(b"import time:") else b""


@pytest.fixture(scope="module")
def imports(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Number of modules imported after the first for a replay printed as lines."""
    done = subprocess.run(
        [*STARTS["module"], *LONG_START],
        cwd=tmp_path_factory.mktemp("nothing"),
        env=ENVIRON,
        capture_output=True,
        check=False,
    )
    names = [name for line in done.stderr.splitlines() if (name := module_of(line))]
    return len(names) - names.index(FIRST)


# What is imported behind the first module is the same in both: the moments are shared between them.
@pytest.mark.parametrize(
    ("moment", "start"),
    [(0, "script"), *((moment, [*STARTS][moment % 2]) for moment in range(MOMENTS))],
)
def test_ctrl_c_while_modules_are_imported_is_quiet(
    tmp_path: Path, imports: int, start: str, moment: int
) -> None:
    assert imports > 10 * MOMENTS
    with Child[bytes](
        [*STARTS[start], *LONG_START],
        cwd=tmp_path,
        env=ENVIRON,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if module_of(line) == FIRST:
                break
        for _ in range(moment * imports // MOMENTS):
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = [line for line in process.stderr if not line.startswith(b"import time:")]
    assert rest == []
    assert process.returncode == 130


SCREEN_IS_BEGUN = b"\x1b[?1049h"
"""Textual takes the terminal; only then are the screen's widgets mounted."""
KEPT = Path(__file__).parents[1] / "fixtures" / "journals" / "v1-command.jsonl"
SHOWN = {
    "replay": ["replay", str(KEPT)],
    "run": ["run", "x", "-c", "false", "--agent", "command", "--agent-command", "sleep 500"],
}


@pytest.mark.parametrize(("what", "number"), [("replay", signal.SIGTERM), ("run", signal.SIGINT)])
def test_a_signal_while_the_screen_is_mounted_is_quiet(
    git_repo: Path, what: str, number: signal.Signals
) -> None:
    window = Window(awaited=SCREEN_IS_BEGUN)
    try:
        with Child[bytes](
            [*CLI, *SHOWN[what]],
            cwd=git_repo,
            env={**os.environ, "TERM": "xterm-256color"},
            stdin=window.terminal,
            stdout=window.terminal,
            stderr=window.terminal,
            start_new_session=True,
        ) as process:
            assert window.came.wait(PATIENCE_S)
            process.send_signal(number)
            process.wait(PATIENCE_S)
        shown = window.written.decode(errors="replace")
        assert "Traceback" not in shown
        assert "Error" not in shown
    finally:
        os.close(window.terminal)
        window.close()
    only_looked_on = what == "replay" and number is not signal.SIGINT
    assert process.returncode == (0 if only_looked_on else 130)
