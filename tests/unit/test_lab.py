"""The lab's command: its JSON, its table, and what it says about bad input."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tui.cli import lab
from ralph_tui.errors import UsageError

FIELDS = [
    "iteration",
    "completion",
    "proportional",
    "integral",
    "integral_mean",
    "derivative",
    "velocity",
    "volatility",
    "profile",
    "kp",
    "ki",
    "kd",
    "output",
    "band",
    "alarms",
    "detections",
    "intervention",
]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of whoever runs the tests do not reach them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def call(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_parser(parser.add_subparsers())
    args = parser.parse_args(["lab", *arguments])
    code: int = args.run(args)
    return code


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert call(*arguments, "--json") == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_json_is_a_list_with_one_object_per_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "--progress", "30,30,31,30,31,30")
    assert [list(row) for row in found] == [FIELDS] * 6
    assert found[3]["alarms"] == ["STUCK"]
    assert found[3]["detections"] == ["stuck"]
    assert [row["intervention"] for row in found] == [None] * 3 + ["REDIRECT", None, "PAUSE"]
    assert found[2]["profile"] == "focused"
    assert found[0]["completion"] == 0.3


def test_values_after_100_and_beyond_the_budget_are_computed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = rows(capsys, "--progress", "50,100,40,40,40", "--max-iterations", "3")
    assert [row["iteration"] for row in found] == [1, 2, 3, 4, 5]
    assert found[1]["intervention"] is None
    assert found[4]["alarms"] == ["REGRESSING", "BUDGET_EXCEEDED"]


def test_options_reach_the_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    swings = "--progress=40,50,40,50,40"
    assert rows(capsys, swings)[-1]["alarms"] == ["OSCILLATING"]
    assert rows(capsys, swings, "--tests", "10")[-1]["alarms"] == []
    assert rows(capsys, "--progress", "50", "--baseline", "50")[0]["derivative"] == 0
    flat = "--progress=50,50,50,50"
    assert rows(capsys, flat, "--set", "control.patience=2")[-1]["alarms"] == []
    assert rows(capsys, flat, "--set", "oversight.enabled=false")[-1]["intervention"] is None
    off = rows(capsys, flat, "--set", "control.enabled=false")[-1]
    assert (off["alarms"], off["kp"], off["intervention"]) == ([], 0.5, "REDIRECT")
    assert rows(capsys, flat, "--set", "control.decay=0.5")[1]["integral"] == 0.75


def test_the_repositorys_settings_hold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".ralph-tui.toml").write_text("[control]\npatience = 2\n")
    assert rows(capsys, "--progress=50,50,50,50")[-1]["alarms"] == []


def test_the_table_is_narrow_and_ends_with_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--progress", "30,30,31,30,31,30,10,60,20,60,20,60,20") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[4].endswith("REDIRECT stuck")
    assert len(lines[4]) <= 80
    said = " ".join(lines[-2:])
    assert said.startswith("Best 60 % at iteration 8, not complete after 13 of 10 iterations")
    assert "REDIRECT at 4, PAUSE at 6" in said


@pytest.mark.parametrize(
    ("progress", "verdict"),
    [
        (
            "10,20,30,40,50,60,70,80,90,100",
            "Complete at iteration 10 of 10; the overseer does not step in.",
        ),
        (
            "0,0,0,0,0,0,0,0,0,0",
            "Best 0 % at iteration 1, not complete after 10 of 10 iterations; the overseer steps "
            "in: REDIRECT at 3, PAUSE at 5, PAUSE at 9, ABORT at 10.",
        ),
    ],
)
def test_the_verdict(capsys: pytest.CaptureFixture[str], progress: str, verdict: str) -> None:
    call("--progress", progress)
    table, _, said = capsys.readouterr().out.partition("\n\n")
    assert len(table.splitlines()) == 11
    assert " ".join(said.split()) == verdict


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--progress"),
        (["--progress", ""], "--progress"),
        (["--progress", "1,,2"], "nothing"),
        (["--progress", "1,two"], "two"),
        (["--progress", "nan"], "nan"),
        (["--progress", "inf"], "inf"),
        (["--progress", "100.1"], "100.1"),
        (["--progress=-1"], "-1"),
        (["--progress", "1\x1b[31m"], "1"),
        (["--progress", "1", "--baseline", "101"], "--baseline"),
        (["--progress", "1", "--max-iterations", "0"], "--max-iterations"),
        (["--progress", "1", "--max-iterations", "1.5"], "--max-iterations"),
        (["--progress", "1", "--tests", "-1"], "--tests"),
        (["--progress", "1", "--tests", "9" * 5000], "--tests"),
        (["--progress", "1", "--set", "control.nothing=1"], "control.nothing"),
        (["--progress", "1", "--set", "control.decay"], "control.decay"),
        (["--progress", "1", "--set", "control.decay=2"], "control.decay"),
        (["--progress", "1", "--set", "control.window_size=0"], "control.window_size"),
        (["--progress", "1", "--set", "control.integral_term=other"], "accumulated"),
        (["--progress", "1", "--set", "oversight.enabled=maybe"], "oversight.enabled"),
        (["--progress", "1", "--set", "oversight.other=1"], "oversight.other"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments: list[str], named: str) -> None:
    with pytest.raises(UsageError) as caught:
        call(*arguments)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_registering_the_command_imports_nothing_heavy() -> None:
    code = (
        "import argparse, sys; from ralph_tui.cli import lab; "
        "lab.add_parser(argparse.ArgumentParser().add_subparsers()); "
        "print(sorted({'pydantic', 'textual', 'ralph_tui.lab'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
