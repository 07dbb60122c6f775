"""``ralph-tui config``: a file, what counts, and where it stands."""

import json
import os
import re
from pathlib import Path

import pytest

from ralph_tui.config.files import user_config_file
from tests.e2e.cli import here


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return user_config_file()


def test_a_file_is_written_once_and_counts_when_it_is_changed(git_repo: Path, own: Path) -> None:
    assert here("config", "path", cwd=git_repo).stdout == f"{own}\n"
    done = here("config", "init", cwd=git_repo)
    assert (done.returncode, done.stderr) == (0, "")
    assert oct(own.stat().st_mode & 0o777) == "0o600"
    assert "[keys]" not in own.read_text()
    before = own.read_text()
    again = here("config", "init", cwd=git_repo)
    assert again.returncode == 2
    assert "already exists and was not overwritten" in again.stderr
    assert own.read_text() == before
    own.write_text(before.replace("#max_iterations = 10", "max_iterations = 33"))
    line = 1 + own.read_text().splitlines().index("max_iterations = 33")
    shown = here("config", "show", "--changed", cwd=git_repo).stdout.splitlines()
    assert any(
        each.startswith("limits.max_iterations = 33") and each.endswith(f"config.toml:{line}")
        for each in shown
    )


def test_a_repository_gets_its_own(git_repo: Path, own: Path) -> None:
    below = git_repo / "src"
    below.mkdir()
    assert here("config", "init", "--repository", cwd=below).returncode == 0
    file = git_repo / ".ralph-tui.toml"
    assert file.is_file()
    assert not own.exists()
    assert here("config", "path", "--repository", cwd=below).stdout == f"{file}\n"


def test_outside_of_a_repository_there_is_none(tmp_path: Path, own: Path) -> None:
    done = here("config", "init", "--repository", cwd=tmp_path)
    assert done.returncode == 2
    assert "is not a git repository" in done.stderr


@pytest.mark.parametrize("stands", ["folder", "fifo", "link to nothing"])
def test_nothing_is_ever_written_over(git_repo: Path, stands: str) -> None:
    file = git_repo / ".ralph-tui.toml"
    match stands:
        case "folder":
            file.mkdir()
        case "fifo":
            os.mkfifo(file)
        case _:
            file.symlink_to(git_repo / "elsewhere")
    done = here("config", "init", "--repository", cwd=git_repo)
    assert done.returncode == 2
    assert "already exists" in done.stderr
    assert not (git_repo / "elsewhere").exists()


def test_each_value_says_where_it_comes_from(git_repo: Path, own: Path) -> None:
    own.parent.mkdir(parents=True)
    own.write_text(
        "[agent]\nmodel = 'opus'\n[outreach]\nwebhook = 'https://example.org/s3cr3t-path'\n"
    )
    (git_repo / ".ralph-tui.toml").write_text("\n\ngate.timeout_s = '10m'\n")
    words = ("--max-iterations", "5", "--set", "control.patience=2")
    environ = {"RALPH_TUI_UI__THEME": "light"}
    done = here("config", "show", "--json", *words, cwd=git_repo, **environ)
    output = json.loads(done.stdout)
    expected: dict[str, tuple[object, str]] = {
        "agent.model": ("opus", f"{own}:2"),
        "gate.timeout_s": (600.0, f"{git_repo}/.ralph-tui.toml:3"),
        "limits.max_iterations": (5, "--max-iterations"),
        "control.patience": (2.0, "--set"),
        "ui.theme": ("light", "environment RALPH_TUI_UI__THEME"),
        "limits.budget_usd": (None, "default"),
    }
    for name, (value, place) in expected.items():
        assert output["settings"][name] == {"value": value, "from": place}
    assert output["problems"] == output["warnings"] == []
    lines = here("config", "show", *words, cwd=git_repo, **environ).stdout
    assert 'gate.timeout_s = "10m"' in lines
    assert " .ralph-tui.toml:3" in lines
    assert "https://example.org/[redacted]" in lines
    assert "s3cr3t" not in lines + done.stdout


def test_what_is_wrong_stands_beside_what_is_right(git_repo: Path, own: Path) -> None:
    (git_repo / ".ralph-tui.toml").write_text(
        "[limits]\nmax_iterations = 5\nbudgt_usd = 3\n[gate]\ntimeout_s = 0\n"
        "[permissions]\nmode = 'skip'\n"
    )
    done = here("config", "show", "limits", cwd=git_repo)
    assert done.returncode == 2
    assert "limits.max_iterations          = 5" in done.stdout
    assert "gate" not in done.stdout
    assert "may not set permissions" in done.stderr
    assert ".ralph-tui.toml:3) is not a setting: did you mean limits.budget_usd?" in done.stderr
    assert ".ralph-tui.toml:5) must be at least 1" in done.stderr


def test_what_is_wrong_is_told_by_line_and_counted(git_repo: Path, own: Path) -> None:
    (git_repo / ".ralph-tui.toml").write_text(
        'foo = 1\n[limits]\nmax_iterations = "x"\nbudget_usd = -3\n[agent]\nnme = "x"\n'
        "[ui]\ntheme = 3\n"
    )
    done = here("config", "show", "--set", "gate.timeout_s=0", cwd=git_repo)
    *output, last = done.stderr.splitlines()
    assert [re.findall(r"toml:(\d)\)", each) for each in output[:5]] == [[n] for n in "13468"]
    assert "gate.timeout_s (--set)" in output[5]
    assert last == "ralph-tui: 6 settings are not valid"


def test_an_unknown_name_is_guessed(git_repo: Path, own: Path) -> None:
    done = here("config", "show", "limit", cwd=git_repo)
    assert done.returncode == 2
    assert "did you mean limits?" in done.stderr
