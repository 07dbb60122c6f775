"""The completion command under the keeper: its results and its limits."""

import itertools
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO, cast

import pytest

from ralph_tui.adapters.processes import bounded_work, capture
from ralph_tui.adapters.workspace import verification
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import NoRoomError
from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.text.secrets.lines import LineFilter
from tests.paths import FIXTURES, ROOT
from tests.waiting import until

HOSTILE = FIXTURES / "processes" / "hostile.py"


def gate(command: str, cwd: Path, timeout_s: float = 30.0) -> ShellGate:
    return ShellGate(command, cwd=cwd, run_id="run-1", timeout_s=timeout_s)


def test_green_and_red(tmp_path: Path) -> None:
    log = tmp_path / "log"
    green = gate("echo fine; echo worry >&2", tmp_path).run(log)
    assert (green.ok, green.exit_code, green.error, green.counts) == (True, 0, "", None)
    assert green.tail == "fine\nworry"
    assert log.read_bytes() == b"fine\nworry\n"
    assert green.duration_s > 0
    red = gate("exit 3", tmp_path).run(log)
    assert (red.ok, red.exit_code, red.error, red.tail) == (False, 3, "", "")
    assert log.read_bytes() == b""
    died = gate("kill -9 $$", tmp_path).run(log)
    assert (died.ok, died.exit_code, died.timed_out, died.cancelled) == (False, 137, False, False)


def test_it_runs_in_the_worktree_with_the_users_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRUIT", "plum")
    result = gate("pwd; echo $FRUIT $RALPH_RUN_ID; [ -t 0 ] || cat", tmp_path).run(tmp_path / "log")
    assert result.tail == f"{tmp_path.resolve()}\nplum run-1"


def test_counts_of_a_real_runner(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import unittest\n"
        "class T(unittest.TestCase):\n"
        "    def test_a(self): pass\n"
        "    def test_b(self): self.fail()\n"
    )
    result = gate(f"{sys.executable} -m unittest", tmp_path).run(tmp_path / "log")
    assert result.counts is not None
    assert (result.counts.passed, result.counts.failed, result.exit_code) == (1, 1, 1)


def test_a_command_that_is_not_there_or_may_not_run(tmp_path: Path) -> None:
    log = tmp_path / "log"
    absent = gate("no-such-runner --all", tmp_path).run(log)
    assert not absent.ok
    assert absent.exit_code == 127
    assert absent.error == (
        "The completion command `no-such-runner --all` was not found (exit 127); "
        "install the program and continue, or start a new run with another command."
    )
    assert "no-such-runner" in absent.tail
    (tmp_path / "check").touch(mode=0o644)
    denied = gate("./check", tmp_path).run(log)
    assert denied.exit_code == 126
    assert denied.error.startswith("The completion command `./check` is not executable")


def test_an_exit_of_127_after_counted_tests_is_no_missing_command(tmp_path: Path) -> None:
    command = "echo '===== 3 passed in 0.10s ====='; exit 127"

    def count(lines: Iterable[str]) -> Counts | None:
        return Counts("pytest", 3) if any("3 passed" in line for line in lines) else None

    measured = ShellGate(command, cwd=tmp_path, run_id="r", timeout_s=30, count_tests=count)
    result = measured.run(tmp_path / "log")
    assert (result.ok, result.exit_code, result.error) == (False, 127, "")


def test_a_worktree_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    result = gate("true", tmp_path / "gone").run(tmp_path / "log")
    assert (result.ok, result.exit_code) == (False, None)
    assert "does not exist" in result.error


def test_time_runs_out_for_a_command_that_ignores_term(tmp_path: Path) -> None:
    command = "trap '' TERM INT; echo begun; while :; do sleep 0.1; done"
    result = gate(command, tmp_path, timeout_s=0.3).run(tmp_path / "log")
    assert (result.ok, result.exit_code) == (False, None)
    assert (result.timed_out, result.cancelled) == (True, False)
    assert result.tail == "begun"


def test_time_runs_out_for_a_command_that_closed_its_output(tmp_path: Path) -> None:
    result = gate("exec >&- 2>&-; sleep 100", tmp_path, timeout_s=0.2).run(tmp_path / "log")
    assert result.timed_out


def test_time_runs_out_amid_endless_output(tmp_path: Path) -> None:
    result = gate("yes", tmp_path, timeout_s=0.2).run(tmp_path / "log")
    assert result.timed_out
    assert result.counts is None


def test_cancel_ends_a_running_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    running = gate("echo begun; exec sleep 100", tmp_path)

    def cancel() -> None:
        until(lambda: log.exists() and bool(log.read_bytes()))
        running.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    result = running.run(log)
    canceller.join()
    assert (result.ok, result.exit_code) == (False, None)
    assert (result.timed_out, result.cancelled) == (False, True)


def test_cancel_before_the_start_counts_for_that_run_alone(tmp_path: Path) -> None:
    twice = gate("sleep 0.2; echo done", tmp_path)
    twice.cancel()
    assert twice.run(tmp_path / "log").cancelled
    again = twice.run(tmp_path / "log")
    assert (again.ok, again.cancelled, again.tail) == (True, False, "done")


NEARLY = "import sys; [sys.stdout.write('password = ' * 1000) for _ in range(%d)]; %s"


def test_nearly_secrets_without_end_take_a_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_work, "RESERVE_S", 0.3)
    monkeypatch.setattr(bounded_work, "SHARE", 0.02)
    code = NEARLY % (10_000, "print('\\nran\\n3 passed in 0.12s')")
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"
    result = gate(command, tmp_path, timeout_s=60).run(tmp_path / "log")
    assert (result.ok, result.exit_code, result.timed_out) == (True, 0, False)
    kept = (tmp_path / "log").read_bytes()
    assert len(kept) < 20_000_000
    assert b" bytes of output are left out here: " in kept
    assert "3 passed in 0.12s\n[the log leaves out " in result.tail
    assert result.tail.endswith(" bytes: too much output to check in time]")
    assert result.counts is not None
    assert result.counts.passed == 3


def test_cancel_amid_nearly_secrets_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the cancel, little more than the buffered output is scanned."""
    log = tmp_path / "log"
    cancelled = threading.Event()
    looked_through: list[int] = []

    class Counted(LineFilter):
        def block(self, text: str) -> str:
            if cancelled.is_set():
                looked_through.append(len(text))
            return super().block(text)

    monkeypatch.setattr(capture, "LineFilter", Counted)
    code = NEARLY % (1_000_000, "")
    running = gate(f"exec {shlex.quote(sys.executable)} -c {shlex.quote(code)}", tmp_path)

    def cancel() -> None:
        until(lambda: log.exists() and log.stat().st_size > 100_000)
        running.cancel()
        cancelled.set()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    result = running.run(log)
    canceller.join()
    assert result.cancelled
    assert sum(looked_through) <= 4 * capture.HOLD_LIMIT
    assert b" bytes of output are left out here: " in log.read_bytes()


def test_what_the_command_leaves_running_is_stopped(tmp_path: Path) -> None:
    command = f"{sys.executable} {HOSTILE} {tmp_path} leaves"
    result = gate(command, tmp_path).run(tmp_path / "log")
    assert result.exit_code == 7
    probe = subprocess.run(
        [sys.executable, "-c", f"import fcntl; fcntl.flock(open({str(tmp_path / 'life')!r}), 6)"],
        check=False,
    )
    assert probe.returncode == 0


def test_secrets_reach_neither_log_nor_tail(tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 10
    command = f"printf 'sk-a1B2a1B2a1B2'; printf '{secret[15:]} %s\\n' end"
    result = gate(command, tmp_path).run(tmp_path / "log")
    assert result.tail == "[redacted] end"
    assert (tmp_path / "log").read_text() == "[redacted] end\n"


def test_the_tail_is_short_and_without_control_sequences(tmp_path: Path) -> None:
    command = "seq 1 5000; printf '\\033[31mred\\033[0m \\303\\251\\n\\n\\n'"
    result = gate(command, tmp_path).run(tmp_path / "log")
    assert verification.TAIL_CHARACTERS - 5 <= len(result.tail) <= verification.TAIL_CHARACTERS
    assert result.tail.startswith("4203\n"), "its first line is whole"
    assert result.tail.endswith("4999\n5000\nred é")
    assert b"\x1b[31mred" in (tmp_path / "log").read_bytes()


def full(path: Path) -> BinaryIO:
    """The log, opened on a full disk."""
    return cast("BinaryIO", Path("/dev/full").open("wb", buffering=0))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_costs_the_log_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "open_emptied", full)
    (tmp_path / "test_it.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    )
    result = gate(f"{sys.executable} -m unittest", tmp_path).run(tmp_path / "log")
    assert (result.ok, result.error) == (True, "")
    assert result.counts is not None
    assert result.counts.passed == 1
    assert result.tail.endswith(
        "[the log is not complete: No space left on device; free some space]"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_command_that_fails_on_a_full_disk_has_measured_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "open_emptied", full)
    with pytest.raises(NoRoomError, match=r"log .*/log cannot be written"):
        gate("echo 3 failed; false", tmp_path).run(tmp_path / "log")
    monkeypatch.undo()
    assert gate("false", tmp_path).run(tmp_path / "log").exit_code == 1


def test_of_too_many_lines_the_end_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "MAX_LINES", 1000)
    seen: list[str] = []

    def count(lines: Iterable[str]) -> Counts | None:
        seen.extend(lines)
        return Counts("pytest", 3)

    many = ShellGate(
        "seq 1 400000; echo 3 passed", cwd=tmp_path, run_id="r", timeout_s=30, count_tests=count
    )
    result = many.run(tmp_path / "log")
    assert result.counts is not None
    assert seen[-1].strip() == "3 passed"
    assert 1000 < len(seen) < 200_000


def test_counts_beyond_belief_are_told_and_not_taken(tmp_path: Path) -> None:
    result = gate("echo '=== 20000000 passed in 0.10s ==='", tmp_path).run(tmp_path / "log")
    assert result.counts is None
    assert "reports 20,000,000 tests, which is not plausible" in result.doubt


def test_an_output_of_tags_that_are_never_closed_leaves_little(tmp_path: Path) -> None:
    log = tmp_path / "log"
    many = "yes '<testsuite><testcase name=\"x\">' | head -n 200000"
    result = gate(f"echo \"<?xml version='1.0'?>\"; {many}", tmp_path).run(log)
    assert result.counts is None or result.counts.total == 0
    assert len(repr(result)) < 100_000
    assert log.stat().st_size < 3_000_000


def test_a_killed_keeper_is_said(tmp_path: Path) -> None:
    log = tmp_path / "log"
    killed = gate("echo begun; exec sleep 100", tmp_path)

    def kill_keeper() -> None:
        until(lambda: log.exists() and bool(log.read_bytes()))
        assert killed._child is not None
        os.kill(killed._child.keeper_pid, 9)

    killer = threading.Thread(target=kill_keeper)
    killer.start()
    result = killed.run(log)
    killer.join()
    assert (result.ok, result.exit_code, result.timed_out) == (False, None, False)
    assert result.error.startswith("The keeper of `echo begun; exec sleep 100` was killed")


MEASURE = """
import json, resource, sys
from pathlib import Path
from ralph_tui.adapters.workspace.verification import ShellGate
line = "tests/unit/test_something.py::test_name[param-1] PASSED  [ 42%]"
command = f"yes '{line}' | head -c 15000000; echo; echo '===== 3 passed in 0.12s ====='"
gate = ShellGate(command, cwd=Path.cwd(), run_id="r", timeout_s=9e9, count_tests=lambda _: None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = gate.run(Path("log"))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"kb": after - before, "ok": result.ok}))
"""


def test_15_megabytes_of_output_stay_out_of_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    measured = json.loads(done.stdout)
    assert measured["ok"]
    assert (tmp_path / "log").stat().st_size < 2 * capture.KEPT_LIMIT + 100
    assert measured["kb"] < 11_000
    (tmp_path / "log").unlink()


def test_what_was_written_before_the_end_is_read_however_long_that_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "print('a line\\n' * 20_000); print('===== 3 passed in 0.12s =====')"
    slow = ShellGate(
        f"{sys.executable} -c {shlex.quote(code)}", cwd=tmp_path, run_id="r", timeout_s=9e9
    )

    class Late(capture.CappedLog):
        def write(self, data: bytes) -> None:
            child = slow._child
            assert child is not None
            until(lambda: child.poll() is not None)
            super().write(data)

    hours = itertools.count()
    monkeypatch.setattr(verification, "CappedLog", Late)
    clock = SimpleNamespace(monotonic=lambda: 3600.0 * next(hours))
    monkeypatch.setattr(verification, "time", clock)
    result = slow.run(tmp_path / "log")
    assert result.counts is not None
    assert result.counts.passed == 3


def test_open_tags_leave_little_and_count_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "KEPT_LIMIT", 200_000)
    code = "print('<testsuite n=1>\\n' * 40_000); print('the end')"
    log = tmp_path / "log"
    result = gate(f"{sys.executable} -c {shlex.quote(code)}; exit 1", tmp_path).run(log)
    assert (result.exit_code, result.counts) == (1, None)
    kept = log.read_bytes()
    assert len(kept) < 2 * capture.KEPT_LIMIT + 100
    assert kept.startswith(b"<testsuite n")
    assert b" bytes of output are left out here]" in kept
    assert kept.endswith(b"the end\n")


def test_what_no_runner_can_have_counted_is_doubted(tmp_path: Path) -> None:
    claim = "===== 999999999999 passed in 0.12s ====="
    result = gate(f"echo '{claim}'", tmp_path).run(tmp_path / "log")
    assert (result.ok, result.counts) == (True, None)
    assert "reports 999,999,999,999 tests" in result.doubt
    believed = gate("echo '== 900000 passed in 9.12s =='", tmp_path).run(tmp_path / "log")
    assert (believed.doubt, believed.counts and believed.counts.passed) == ("", 900_000)
