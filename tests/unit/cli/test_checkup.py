"""Each `doctor` check in a prepared environment."""

import ctypes
import fcntl
import json
import os
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.agents import installed
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.search.database import index_folder
from ralph_tui.cli.checkup import CHECKS, Environment, Finding, run_checks
from ralph_tui.cli.checkup.agents import check_agent, check_other_agents
from ralph_tui.cli.checkup.disk import check_disk, check_watches
from ralph_tui.cli.checkup.git import check_git
from ralph_tui.cli.checkup.records import check_records
from ralph_tui.cli.checkup.set_up import check_messages, check_settings
from ralph_tui.cli.checkup.terminal import check_colours, check_terminal
from ralph_tui.cli.checkup.tmux import check_clipboard, check_tmux
from ralph_tui.cli.checkup.words import as_object, format_finding, summary
from ralph_tui.config.sources import examine
from ralph_tui.tui.cockpit.layout import HORIZONTAL, VERTICAL
from tests.waiting import until
from tests.words import retired

SECRET = "sk-ant-what-nobody-may-see"


class Made:
    """Creates environments in one folder."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home, self.bin = folder, home, home / "bin"
        self.bin.mkdir(parents=True)

    def __call__(self, *options: str, seconds: float = 10.0, **facts: Any) -> Environment:
        environ = {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            **facts.pop("environ", {}),
        }
        loaded = examine(self.folder, {}, {}, options)
        return Environment(self.folder, environ, loaded, seconds=seconds, **facts)

    def program(self, name: str, script: str) -> None:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@pytest.fixture
def made(git_repo: Path, tmp_path: Path) -> Made:
    return Made(git_repo, tmp_path / "home")


def report_text(found: Iterable[Finding]) -> str:
    """One line each, without anything a screen must not show."""
    text = "\n".join(line for finding in found for line in format_finding(finding, 0))
    assert retired(text) == []
    assert SECRET not in text
    return text


class TestGit:
    def test_all_is_well(self, made: Made) -> None:
        said = report_text(check_git(made()))
        assert said.startswith("✓ ok      git       git 2.")
        assert said.endswith("repo is a repository")

    def test_no_repository(self, tmp_path: Path) -> None:
        said = report_text(check_git(Made(tmp_path, tmp_path / "home")()))
        assert said.startswith("✗ problem git")
        assert "is not inside a git repository → run `git init` there first" in said

    def test_no_git(self, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(made.bin))
        assert "git was not found on PATH → install git 2.32 or newer" in report_text(
            check_git(made())
        )

    def test_no_commit(self, tmp_path: Path) -> None:
        subprocess.run(["git", "init", "-q", str(tmp_path / "new")], check=True)
        said = report_text(check_git(Made(tmp_path / "new", tmp_path / "home")()))
        assert "· note    git       no commit yet" in said

    def test_an_identity_is_asked_for_where_it_is_needed(self, made: Made) -> None:
        assert "user name" not in report_text(check_git(made()))
        said = report_text(check_git(made("context.commit_wip=true")))
        assert "▲ warning git       context.commit_wip is set" in said

    @pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
    def test_a_repository_of_somebody_else(self, made: Made) -> None:
        for path in (made.folder, made.folder / ".git"):
            os.chown(path, 12345, 12345)
        said = report_text(check_git(made()))
        assert "another user owns it → allow it with `git config --global --add safe.dir" in said


class TestAgents:
    """Agents on PATH, and signs of a login."""

    def test_none(self, made: Made) -> None:
        said = report_text(check_agent(made(environ={"PATH": str(made.bin)})))
        assert said.startswith(
            "✗ problem agent     no known agent is installed; looked for claude, codex,"
        )
        assert "npm install -g @anthropic-ai/claude-code" in said
        assert "--agent-command" in said

    def test_one_that_is_signed_in_is_told_without_its_secret(self, made: Made) -> None:
        made.program("claude", "echo '2.1.328 (Claude Code)'")
        said = report_text(check_agent(made(environ={"ANTHROPIC_API_KEY": SECRET})))
        assert said.startswith("✓ ok      agent     Claude Code 2.1.328 (~/bin/claude)")
        assert "ANTHROPIC_API_KEY is set\n" in said
        assert "claude can ask you, accepts guidance while it works, reports its context" in said

    def test_a_file_of_credentials_is_never_opened(self, made: Made) -> None:
        """A FIFO instead of the file would block every reader."""
        made.program("claude", "echo '2.1.328 (Claude Code)'")
        (made.home / ".claude").mkdir()
        os.mkfifo(made.home / ".claude" / ".credentials.json")
        said, _ = run_checks({"agent": check_agent}, made(seconds=8.0))
        assert "its sign-in is in ~/.claude/.credentials.json" in said.says
        both = report_text(check_agent(made(environ={"ANTHROPIC_API_KEY": SECRET})))
        assert "ANTHROPIC_API_KEY is set and overrides the sign-in in" in both

    def test_no_sign_of_a_sign_in(self, made: Made) -> None:
        made.program("claude", "echo '2.1.328 (Claude Code)'")
        said = report_text(check_agent(made(platform="linux")))
        assert said.startswith("▲ warning agent")
        assert "no sign-in found → run `claude` and then /login" in said
        assert "keychain, which is not checked" in report_text(check_agent(made(platform="darwin")))

    def test_one_that_hangs_is_ended_with_all_it_has_started(
        self, made: Made, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(installed, "PROBE_S", 1.0)
        pids = made.home / "pids"
        made.program("claude", f"sleep 600 & echo $! $$ > {pids}; wait")
        found, abilities = run_checks({"agent": check_agent}, made(seconds=20.0))
        assert (found.level, abilities.level) == ("note", "note")
        assert "did not report its version" in found.says
        assert "install" not in found.fix
        started = [int(pid) for pid in pids.read_text().split()]
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))

    def test_one_that_is_too_old(self, made: Made) -> None:
        made.program("claude", "echo '1.0.3 (Claude Code)'")
        said = report_text(check_agent(made()))
        assert said.startswith("✗ problem agent")
        assert "run `claude update`" in said

    @pytest.mark.parametrize("name", ["command", "acp"])
    def test_a_command(self, made: Made, name: str) -> None:
        as_command = (f"agent.name={name}", "agent.command=my-agent --stdin")
        assert "starts with 'my-agent', which is not on PATH" in report_text(
            check_agent(made(*as_command))
        )
        made.program("my-agent", "cat")
        assert "✓ ok      agent     the command" in report_text(check_agent(made(*as_command)))
        lacking = report_text(check_agent(made(f"agent.name={name}")))
        assert lacking.startswith("✗ problem agent")
        assert "did you mean claude?" in report_text(check_agent(made("agent.name=clade")))

    def test_others(self, made: Made) -> None:
        made.program("codex", "echo codex-cli 0.169.0")
        made.program("gemini", "exit 1")
        made.program("opencode", "echo 1.18.33")
        environ = {"OPENAI_API_KEY": SECRET}
        said = report_text(check_other_agents(made("agent.name=claude", environ=environ)))
        # Codex reads only a key that its config names.
        assert "Codex CLI (codex) 0.169.0 (~/bin/codex); no sign-in found" in said
        assert "→ run `codex login`, or set the key that Codex's config.toml names" in said
        assert "(env_key); then --agent codex selects it" in said
        assert "~/bin/gemini did not report its version within 5 s" in said
        assert "try gemini --version; it may be slow to start" in said
        assert "--agent gemini selects it" not in said
        assert "OpenCode (opencode) 1.18.33 (~/bin/opencode); OPENAI_API_KEY is set" in said
        assert "→ --agent opencode selects it" in said
        assert "opencode can ask you, accepts guidance while it works" in said

    def test_a_slow_one_of_the_others_is_a_note_and_hides_none(self, made: Made) -> None:
        made.program("codex", "sleep 600")
        made.program("opencode", "echo 1.18.33")
        env = made("agent.name=claude", seconds=4.0)
        found = list(run_checks({"other agents": check_other_agents}, env))
        assert "codex timed out after 3.6 s" in report_text(found)
        assert "OpenCode (opencode) 1.18.33" in report_text(found)
        assert not [each for each in found if each.level == "problem"]

    @pytest.mark.parametrize("version", ["codex-cli 0.50.0", "0.1.2505172129"])
    def test_one_that_is_too_old_is_offered_to_nobody(self, made: Made, version: str) -> None:
        made.program("codex", f"echo {version}")
        for said in (
            report_text(check_other_agents(made("agent.name=claude"))),
            report_text(check_agent(made("agent.name=codex"))),
        ):
            assert "is too old for ralph-tui, which needs" in said
            assert "runs it" not in said

    @pytest.mark.parametrize(
        ("name", "version", "how"),
        [
            ("claude", "2.1.330 (Claude Code)", "run `claude` and then /login, or set"),
            ("codex", "codex-cli 0.169.0", "run `codex login`, or set"),
            ("gemini", "0.61.0", "run `gemini` and log in, or set GEMINI_API_KEY"),
            ("opencode", "1.18.33", "run `opencode auth login`, or put"),
        ],
    )
    def test_where_nobody_is_signed_in_its_own_way_is_named(
        self, made: Made, name: str, version: str, how: str
    ) -> None:
        made.program(name, f"echo '{version}'")
        said = report_text(check_agent(made(f"agent.name={name}")))
        assert said.startswith("▲ warning agent")
        assert f"no sign-in found → {how}" in said

    def test_a_key_counts_for_codex_where_its_config_names_it(self, made: Made) -> None:
        made.program("codex", "echo codex-cli 0.169.0")
        config = made.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text('model_provider = "x"\n[model_providers.x]\nenv_key = "X_KEY"\n')
        assert "no sign" in report_text(check_agent(made("agent.name=codex")))
        said = report_text(check_agent(made("agent.name=codex", environ={"X_KEY": SECRET})))
        assert (
            "✓ ok      agent     Codex CLI 0.169.0 (~/bin/codex); X_KEY is set, the variable "
            "that its" in said
        )
        config.write_text("model_provider = [[[")
        assert "no sign" in report_text(
            check_agent(made("agent.name=codex", environ={"X_KEY": SECRET}))
        )

    def test_one_that_is_chosen_and_those_that_take_over(self, made: Made) -> None:
        made.program("codex", "echo codex-cli 0.169.0")
        chosen = ("agent.name=codex", "agent.fallback=gemini")
        env = made(*chosen)
        sign_in = made.home / ".codex" / "auth.json"
        sign_in.parent.mkdir()
        sign_in.write_text("{}")
        said = report_text(check_agent(env))
        assert "✓ ok      agent     Codex CLI 0.169.0 (~/bin/codex); its sign-in is in" in said
        assert "resumes sessions; unknown: its cost" in said
        assert "▲ warning agent" in said
        assert "'gemini'" in said
        assert not report_text(check_other_agents(env))
        assert "(agent.fallback)" in report_text(
            check_agent(made("agent.name=codex", "agent.fallback=x"))
        )


class TestSettings:
    def test_all_that_is_wrong(self, made: Made) -> None:
        (made.folder / ".ralph-tui.toml").write_text("[limit]\n[permissions]\nmode='skip'")
        said = report_text(check_settings(made("control.decay=7")))
        assert ".ralph-tui.toml:1) is not a setting → did you mean limits?" in said
        assert "control.decay (--set) must be at most 1, not '7'" in said
        assert "▲ warning settings" in said

    def test_how_many_are_set(self, made: Made) -> None:
        assert "config init" in report_text(check_settings(made()))
        assert "1 setting set" in report_text(check_settings(made("control.decay=0.7")))

    def test_channels(self, made: Made) -> None:
        assert "doctor --notify explains" in report_text(check_messages(made()))
        address = f"https://hooks.example.org/{SECRET}"
        said = report_text(check_messages(made(f"outreach.webhook={address}")))
        assert said.startswith("✓ ok      messages  sent to webhook")
        off = made(f"outreach.webhook={address}", "outreach.escalate=false")
        assert "no message is sent" in report_text(check_messages(off))
        (lacking,) = run_checks({"messages": check_messages}, made("outreach.tracker=gitea"))
        assert lacking.level == "problem"
        assert lacking.fix


class TestDisk:
    """Disk space, permissions and watches."""

    def test_room(self, made: Made) -> None:
        assert report_text(check_disk(made())).startswith("✓ ok      disk ")

    def test_a_file_in_the_place_of_the_records(self, made: Made) -> None:
        ralph_folder(made.folder).parent.mkdir()
        ralph_folder(made.folder).touch()
        assert report_text(check_disk(made())).startswith("✗ problem disk")

    def test_fewer_watches_than_folders(self, made: Made, tmp_path: Path) -> None:
        limits = tmp_path / "proc" / "sys" / "fs" / "inotify"
        limits.mkdir(parents=True)
        (limits / "max_user_watches").write_text("3\n")
        (limits / "max_user_instances").write_text("128\n")
        env = made(proc=tmp_path / "proc", platform="linux")
        said = report_text(check_watches(env))
        assert said.startswith("▲ warning watches")
        assert "3 watches free; changes appear late → sudo sysctl fs.inotify" in said
        assert report_text(check_watches(made(platform="darwin"))) == ""

    @pytest.mark.skipif(not Path("/proc/sys/fs/inotify").exists(), reason="needs Linux")
    def test_what_is_in_use_is_counted(self, made: Made) -> None:
        system = ctypes.CDLL(None)
        limit = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())

        def free() -> int:
            words = report_text(check_watches(made())).partition(" watches free")[0]
            return int(words.rpartition(" ")[2].replace(",", ""))

        descriptor = system.inotify_init1(0)
        try:
            assert system.inotify_add_watch(descriptor, os.fsencode(made.folder), 2) == 1
            assert free() < limit
        finally:
            os.close(descriptor)


class TestRecords:
    def attempt(self, made: Made) -> Path:
        folder = ralph_folder(made.folder) / "tasks" / "task-001" / "attempts" / "001"
        folder.mkdir(parents=True)
        return folder

    def test_none_yet(self, made: Made) -> None:
        assert "no runs in" in report_text(check_records(made()))

    @pytest.mark.parametrize("alive", [True, False])
    def test_a_lock_that_is_taken(self, made: Made, alive: bool) -> None:  # noqa: FBT001
        lock = ralph_folder(made.folder) / "lock"
        lock.parent.mkdir(parents=True)
        ended = subprocess.Popen(["true"])
        ended.wait()
        owner = {"pid": os.getpid() if alive else ended.pid, "host": os.uname().nodename}
        lock.write_text(json.dumps({**owner, "run": "task-001/002"}))
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            said = report_text(check_records(made()))
        assert f"task-001/002 {'is running here' if alive else 'died'}" in said
        assert "running here" not in report_text(check_records(made()))

    def test_a_damaged_journal(self, made: Made) -> None:
        journal = self.attempt(made) / "events.jsonl"
        journal.write_text('{"seq":1,"kind":"x"}\nnonsense\n')
        said = report_text(check_records(made()))
        assert "▲ warning records" in said
        assert (
            f"events.jsonl:2 cannot be read → ralph-tui replay {journal.parent} shows the" in said
        )

    def test_a_damaged_index(self, made: Made) -> None:
        self.attempt(made).joinpath("events.jsonl").touch()
        index_folder(made.folder).mkdir(parents=True)
        damaged = index_folder(made.folder) / "search.db"
        damaged.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
        said = list(run_checks({"records": check_records}, made()))
        assert any("search.db is damaged; it is rebuilt" in each.says for each in said)
        assert damaged.stat().st_size == 4112


class TestTerminal:
    def test_the_sizes_are_those_of_the_layout(self, made: Made) -> None:
        wide, tall = (HORIZONTAL[-1][0], VERTICAL[-1][0])
        assert "all panes" in report_text(check_terminal(made(columns=wide, rows=tall)))
        normal = HORIZONTAL[2][0]
        assert "two columns of panes" in report_text(
            check_terminal(made(columns=normal, rows=tall))
        )
        assert "two columns; the other" in report_text(
            check_terminal(made(columns=normal, rows=tall - 1))
        )
        least = (HORIZONTAL[1][0], VERTICAL[1][0])
        assert "✓" in report_text(check_terminal(made(columns=least[0], rows=least[1])))
        for columns, rows in ((least[0] - 1, 50), (200, least[1] - 1)):
            said = report_text(check_terminal(made(columns=columns, rows=rows)))
            assert "has room for only one line of status → make it 80x24" in said

    def test_what_is_no_terminal(self, made: Made) -> None:
        assert "is not a terminal" in report_text(check_terminal(made()))
        assert report_text(check_colours(made())) == ""

    @pytest.mark.parametrize(
        ("environ", "said"),
        [
            ({"TERM": "dumb"}, "export TERM=xterm-256color"),
            ({"TERM": ""}, "TERM is not set"),
            ({"LANG": "C"}, "the locale is not UTF-8 (LANG=C): symbols may show as ?"),
            ({"LC_ALL": "POSIX"}, "export LC_ALL=C.UTF-8"),
            ({"LANG": ""}, "LANG=not set"),
        ],
    )
    def test_what_cannot_draw(self, made: Made, environ: dict[str, str], said: str) -> None:
        found = report_text(check_terminal(made(environ=environ, columns=80, rows=24)))
        assert "▲ warning terminal" in found
        assert said in found

    @pytest.mark.parametrize(
        ("environ", "said"),
        [
            ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "none, because NO_COLOR is set"),
            ({"COLORTERM": "truecolor"}, "true colour"),
            ({}, "256 colours"),
            ({"TERM": "vt100"}, "the terminal's own 16 colours"),
        ],
    )
    def test_colours(self, made: Made, environ: dict[str, str], said: str) -> None:
        assert said in report_text(check_colours(made(environ=environ, columns=80, rows=24)))

    @pytest.mark.parametrize(
        ("environ", "said"),
        [
            ({"STY": "1.x"}, "GNU screen does not pass copied text to the terminal"),
            ({"TERM_PROGRAM": "Apple_Terminal"}, "does not accept copied text"),
            ({}, "✓ ok      clipboard"),
        ],
    )
    def test_copies(self, made: Made, environ: dict[str, str], said: str) -> None:
        assert said in report_text(check_clipboard(made(environ=environ, columns=80, rows=24)))

    def test_a_tmux_that_is_gone(self, made: Made) -> None:
        env = made(environ={"TMUX": "/nowhere,1,0"}, columns=80, rows=24)
        assert "tmux does not answer" in report_text(check_tmux(env))


def test_a_check_that_hangs_costs_itself_alone(made: Made) -> None:
    freed = threading.Event()

    def hangs(_: Environment) -> list[Finding]:
        freed.wait(60)
        return []

    try:
        found = list(run_checks({"disk": hangs, "git": check_git}, made(seconds=0.2)))
    finally:
        freed.set()
    assert [each.what for each in found] == ["disk", "git"]
    assert found[0].level == "problem"
    assert "timed out after 0.2 s" in found[0].says


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_check_that_fails_costs_itself_alone(made: Made) -> None:
    def fails(_: Environment) -> list[Finding]:
        raise ZeroDivisionError

    found = list(run_checks({"disk": fails, "settings": check_settings}, made()))
    assert [each.level for each in found] == ["warning", "ok"]


def test_nothing_is_written(made: Made) -> None:
    def tree() -> list[tuple[str, float]]:
        return sorted((str(path), path.lstat().st_mtime) for path in made.folder.rglob("*"))

    before = tree()
    assert list(run_checks(CHECKS, made(columns=80, rows=24)))
    assert tree() == before


class TestWords:
    """The output's wording."""

    def test_a_long_subject_is_apart_from_what_is_said(self) -> None:
        assert format_finding(Finding("note", "other agents", "are slow"), 0)[0].endswith(
            "agents are slow"
        )

    LONG = Finding(
        "warning", "tmux", "it keeps " + "very many words to " * 6 + "itself", "do this " * 9
    )

    def test_a_long_one_wraps_below_its_sentence(self) -> None:
        lines = format_finding(self.LONG, 80)
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith("▲ warning tmux      it keeps")
        assert all(line.startswith(" " * 20) for line in lines[1:])
        assert sum("→" in line for line in lines) == 1

    def test_where_there_is_no_terminal_it_is_one_line(self) -> None:
        assert len(format_finding(self.LONG, 0)) == 1

    def test_foreign_text_reaches_no_terminal(self) -> None:
        (line,) = format_finding(Finding("note", "agent", "a\x1b[31m\nb", "c\x07"), 0)
        assert line.isprintable()

    def test_the_last_line_says_whether_a_run_can_begin(self) -> None:
        well, bad = Finding("warning", "x", "y"), Finding("problem", "x", "y")
        assert summary([well]).startswith("ready: ralph-tui run")
        assert summary([bad]) == "1 problem to solve: see ✗ above"
        assert summary([bad, bad]).startswith("2 problems to solve")
        assert as_object([well, bad])["ready"] is False
        assert as_object([well])["findings"] == [
            {"level": "warning", "what": "x", "says": "y", "fix": ""}
        ]
