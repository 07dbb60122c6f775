"""Whole runs without a screen, on real repositories with real agents."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from ralph_tui.adapters.records.drafts import read_last_start
from ralph_tui.ports.new_runs import Draft
from tests.e2e.cli import GATE, ONE_MORE, events_of, here, processes_of, project, run, start
from tests.waiting import PATIENCE_S


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def agent(command: str) -> list[str]:
    return ["--agent", "command", "--agent-command", command]


def test_a_run_in_any_repository_with_any_command(git_repo: Path) -> None:
    root = project(git_repo)
    before = git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")
    done = run("run", "Make the checks pass", "-c", GATE, *agent(ONE_MORE), cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "completed: the completion command passed after iteration 4" in done.stdout
    assert "at the start (from" in done.stdout
    after = git(root, "status", "--porcelain")
    assert after.splitlines() == [
        *before[0].splitlines(),
        *(f"?? done-{number}.txt" for number in range(4)),
    ]
    assert git(root, "rev-parse", "HEAD") == before[1]
    # A live run's output can be replayed and reported later.
    replayed = here("replay", "--json", cwd=root)
    events = events_of(replayed.stdout)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["mode"] == "headless"
    status = json.loads(here("status", "--json", cwd=root).stdout)
    assert (status["outcome"], status["completion"]) == ("completed", 100.0)
    line = here("status", "--line", cwd=root).stdout
    assert line.startswith("✓ 100 % 4/10 completed: the completion command passed")
    assert here("status", cwd=root).stdout.startswith("✓ completed: the completion command passed")
    folder = root / ".aiwg/ralph/tasks/task-001/attempts/001/results/iter-001"
    assert "Make the checks pass" in (folder / "prompt.md").read_text()
    assert "step 0" in (folder / "transcript.jsonl").read_text()
    assert json.loads((folder / "verification.json").read_text())["counts"]["passed"] == 1


def test_the_limit_is_an_outcome_and_a_torn_journal_is_replayed_up_to_the_tear(
    git_repo: Path,
) -> None:
    done = here("run", "x", "-c", "false", *agent("true"), "--max-iterations", "1", cwd=git_repo)
    assert done.returncode == 3
    assert "limit reached" in done.stdout
    journal = next(git_repo.rglob("events.jsonl"))
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    replayed = here("replay", "--json", cwd=git_repo)
    assert replayed.returncode == 0
    assert len(events_of(replayed.stdout)) == whole.count(b"\n") - 1
    assert journal.read_bytes() == whole[:-20], "a replay changes nothing"


def test_a_gate_that_cannot_be_found_ends_the_run_before_it_costs(git_repo: Path) -> None:
    done = here("run", "x", "-c", "no-such-gate", *agent("true"), cwd=git_repo)
    assert done.returncode == 1
    assert "no-such-gate" in done.stdout
    assert "iteration 1 of" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_gate_that_hangs_runs_out_of_time(git_repo: Path) -> None:
    done = here(
        "run",
        "x",
        "-c",
        "trap '' TERM; while :; do sleep 1; done",
        *agent("true"),
        "--max-iterations",
        "1",
        "--set",
        "gate.timeout_s=1",
        cwd=git_repo,
    )
    assert done.returncode == 3
    assert "ran out of time" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_run_in_order(git_repo: Path, number: signal.Signals) -> None:
    process = start(
        "run", "x", "-c", "false", *agent("setsid sleep 500 & sleep 500"), "--json", cwd=git_repo
    )
    with process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if '"session_started"' in line:
                break
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(PATIENCE_S) == 130
    events = events_of("".join(lines) + rest)
    assert (events[-1]["kind"], events[-1]["outcome"]) == ("run_finished", "interrupted")
    assert number.name in events[-1]["reason"]
    assert processes_of(events[0]["run_id"]) == []


@pytest.mark.parametrize("brackets", [300, 30_000])
def test_settings_that_are_nested_deeply_are_refused_in_a_sentence(
    git_repo: Path, brackets: int
) -> None:
    """In the three places where a text is read as more than a text."""
    deep = "[" * brackets
    words = ("run", "x", "-c", "true", *agent("true"))
    for more, variable, file in (
        (("--set", f"permissions.allow={deep}"), "", ""),
        ((), deep, ""),
        ((), "", f"limits.max_iterations = {deep}"),
        ((), "", "limits.max_iterations." + "a." * brackets + "a = 1"),
    ):
        (git_repo / ".ralph-tui.toml").write_text(file)
        done = run(*words, *more, cwd=git_repo, RALPH_TUI_PERMISSIONS__ALLOW=variable)
        assert done.returncode == 2, done.stdout + done.stderr
        assert done.stderr.startswith("ralph-tui: ")
        assert len(done.stderr.splitlines()) == 1


def test_a_run_that_is_stopped_while_it_asks_says_so(git_repo: Path) -> None:
    """A script can see that a question is open; after an answer the run counts as interrupted."""
    asking = ("--criterion", "It is finished", *agent("echo '<promise>COMPLETE</promise>'"))
    with start("run", "x", *asking, "--json", cwd=git_repo) as process:
        assert process.stdout is not None
        lines = iter(process.stdout)
        asked = next(line for line in lines if '"question_asked"' in line)
        assert json.loads(asked)["topic"] == "criterion"
        process.send_signal(signal.SIGTERM)
        last = json.loads([*lines][-1])
        assert process.wait(PATIENCE_S) == 5
    assert (last["kind"], last["outcome"]) == ("run_finished", "interrupted")
    assert "open when the run ended" in here("status", cwd=git_repo).stdout


def test_a_second_run_in_the_same_worktree_names_the_owner(git_repo: Path) -> None:
    process = start("run", "x", "-c", "false", *agent("sleep 500"), "--json", cwd=git_repo)
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            if '"session_started"' in line:
                break
        second = here("run", "y", "-c", "true", *agent("true"), cwd=git_repo)
        assert second.returncode == 2
        assert f"task-001/001 (process {process.pid} on" in second.stderr
        assert "Traceback" not in second.stderr
        assert here("status", "--line", cwd=git_repo).stdout[:2] == "○ ", (
            "it lives, and nothing was measured yet"
        )
        process.send_signal(signal.SIGINT)
        process.stdout.read()


def test_an_agent_that_cleans_everything_up_does_not_lose_the_record(git_repo: Path) -> None:
    """``git clean -fdx`` takes the records' folder away; the journal comes back."""
    done = here(
        "run",
        "x",
        "-c",
        "false",
        *agent("git clean -fdxq; sleep 3"),
        "--json",
        "--max-iterations",
        "2",
        cwd=git_repo,
    )
    assert done.returncode == 3, done.stderr
    replayed = events_of(here("replay", "--json", cwd=git_repo).stdout)
    assert replayed == events_of(done.stdout)
    assert "journal_restored" in [event["kind"] for event in replayed]


def test_secrets_reach_neither_disk_nor_screen(git_repo: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    done = here(
        "run",
        f"use {secret}",
        "-c",
        f"echo gate {secret}; false",
        "--max-iterations",
        "1",
        *agent(f"echo agent {secret}; echo err {secret} >&2; cat"),
        cwd=git_repo,
        MY_API_TOKEN="hunter2hunter2",
    )
    assert done.returncode == 3, done.stderr
    assert secret not in done.stdout + done.stderr
    records = git_repo / ".aiwg"
    held = [p for p in records.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert held == []


BAD_INPUT = [
    ((), "OBJECTIVE"),
    (("x",), "-c"),
    (("", "-c", "true"), "the objective is empty"),
    (("x", "-c", " "), "-c"),
    (("x", "-c", "true"), "ralph-tui demo"),
    (("x", "-c", "true", "--agent", "zork"), "command"),
    (("x", "-c", "true", "--agent", "command"), "--agent-command"),
    (("x", "-c", "true", "--agent", "demo"), "ralph-tui demo"),
    (("x", "-c", "true", *agent("true"), "--max-iterations", "-1"), "--max-iterations"),
    (("x", "-c", "true", *agent("true"), "--max-iterations", "many"), "--max-iterations"),
    (("x", "-c", "true", *agent("true"), "--budget", "-5"), "--budget"),
    (("x", "-c", "true", *agent("true"), "--timeout", "nan"), "--timeout"),
    (("x", "-c", "true", *agent("true"), "--plan", "none.md"), "none.md"),
    (("x", "-c", "true", *agent("true"), "--plan", "../x.md"), "outside"),
    (("x", "-c", "true", *agent("true"), "--zork"), "--zork"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT)
def test_bad_input_is_one_sentence(git_repo: Path, arguments: tuple[str, ...], words: str) -> None:
    done = here("run", *arguments, cwd=git_repo)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    sentences = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
    assert len(sentences) == 1, "ways on, where there are several, are indented below it"
    assert not (git_repo / ".aiwg").exists(), "nothing was written"


def test_a_folder_that_is_no_repository_is_said(tmp_path: Path) -> None:
    done = here("run", "x", "-c", "true", *agent("true"), cwd=tmp_path)
    assert done.returncode == 2
    assert "git" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_agent_command_that_does_not_exist_fails_at_once(git_repo: Path) -> None:
    done = here("run", "x", "-c", "false", *agent("no-such-agent"), cwd=git_repo)
    assert done.returncode == 2
    assert not done.stdout
    assert "starts with 'no-such-agent', which is not on PATH; install it" in done.stderr
    late = here("run", "x", "-c", "false", *agent("cd . && no-such-agent"), cwd=git_repo)
    assert late.returncode == 1
    assert "no-such-agent" in late.stdout
    assert "iteration 2 of" not in late.stdout


def test_status_says_why_the_agent_failed(git_repo: Path) -> None:
    failing = agent("cat >/dev/null; echo no key >&2; exit 3")
    here("run", "x", "-c", "false", *failing, "--max-iterations", "1", cwd=git_repo)
    said = here("status", cwd=git_repo).stdout
    assert "agent       failed: The agent's command exited with code 3: no key\n" in said


def test_an_unwritable_folder_is_said(git_repo: Path) -> None:
    (git_repo / ".aiwg").write_text("in the way")
    refused = here("run", "x", "-c", "true", *agent("true"), cwd=git_repo)
    assert refused.returncode == 1
    assert "writable" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "empty"), (b"<html>\n", "not a line"), (b"{}\n", "not a line")]
)
def test_a_journal_that_is_none_is_said(tmp_path: Path, content: bytes, words: str) -> None:
    journal = tmp_path / "events.jsonl"
    journal.write_bytes(content)
    for command in ("replay", "status"):
        done = here(command, str(journal), cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert journal.read_bytes() == content


def test_a_record_deleted_right_before_the_end_is_there_all_the_same(git_repo: Path) -> None:
    agent_command = agent("cat >/dev/null; touch done; rm -rf .aiwg")
    done = here("run", "x", "-c", "test -e done", *agent_command, cwd=git_repo)
    assert done.returncode == 0
    assert here("status", "--line", cwd=git_repo).stdout.startswith("✓ 100 %")


def test_a_gate_green_at_the_start_measures_no_progress(git_repo: Path) -> None:
    done = here("run", "x", "-c", "true", "--until-promise", *agent("true"),
                "--max-iterations", "1", "--json", cwd=git_repo)  # fmt: skip
    readings = [e for e in events_of(done.stdout) if e["kind"] == "reading_taken"]
    assert [reading["completion"] for reading in readings] == [0.0, 0.0]
    lines = here("replay", cwd=git_repo).stdout
    assert "command passed, before any work" in lines


def test_what_you_started_last_is_recorded_for_the_form(git_repo: Path) -> None:
    work = "touch done"
    here("run", "x", "-c", "test -e done", "--agent-command", work, "--headless", cwd=git_repo)
    own = {"agent.name": "command", "agent.command": work}
    assert read_last_start(git_repo) == Draft(command="test -e done", settings=own)
