"""Notifications end to end: real processes, a loopback service, settings from `--set`."""

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench.secret_forms import caught, forms
from tests.e2e import cli
from tests.trackers import REPOSITORY, TOKEN, Reply, Service, TrackerService, served
from tests.waiting import PATIENCE_S, until

SECRET = "T0AB/hook-secret-4711"


@pytest.fixture
def hook() -> Iterator[Service]:
    service = Service()
    with served(service):
        yield service


@pytest.fixture
def gitea() -> Iterator[TrackerService]:
    service = TrackerService("gitea")
    with served(service):
        yield service
    assert service.violations == []


def to_hook(service: Service) -> tuple[str, ...]:
    return ("--set", f"outreach.webhook={service.url}/{SECRET}")


def to_tracker(service: TrackerService) -> tuple[str, ...]:
    options = ("tracker=gitea", f"tracker_url={service.url}", f"repository={REPOSITORY}")
    return tuple(word for option in options for word in ("--set", f"outreach.{option}"))


def doctor(*options: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return cli.here("doctor", "--notify", *options, cwd=cwd, **environ)


def no_secret_in(folder: Path, *texts: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            texts += (path.read_bytes().decode("utf-8", "replace"),)
    for text in texts:
        assert SECRET not in text
        assert TOKEN not in text


def test_doctor_sends_a_test_over_every_channel(
    git_repo: Path, hook: Service, gitea: TrackerService
) -> None:
    options = (*to_hook(hook), *to_tracker(gitea))
    done = doctor(*options, cwd=git_repo, GITEA_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == f"webhook  {hook.url} ... ok: {hook.url} accepted it (HTTP 204)"
    assert second.startswith(f"gitea    {gitea.url} {REPOSITORY} ... ok: ")
    assert gitea.issues[0]["title"] == "[Ralph External] TEST by ralph-tui doctor"
    assert gitea.issues[0]["state"] == "closed"
    assert str(gitea.issues[0]["body"]).startswith("Test message from ralph\\-tui doctor. ")
    assert "The run has ended" not in str(gitea.issues[0]["body"])
    assert hook.requests[0].body["event"] == "test"
    assert hook.requests[0].body["text"] == (
        "[Ralph External] TEST by ralph-tui doctor\n"
        "Test message from ralph-tui doctor. No action is needed."
    )
    no_secret_in(git_repo, done.stdout, done.stderr)
    assert not (git_repo / ".aiwg").exists()


def test_doctor_names_what_is_wrong_with_each(
    git_repo: Path, hook: Service, gitea: TrackerService
) -> None:
    hook.special = lambda _: Reply(500)
    done = doctor(*to_hook(hook), *to_tracker(gitea), cwd=git_repo)
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert "failed: " in first
    assert "HTTP 500" in first
    assert "set the environment variable GITEA_TOKEN" in second
    refused = doctor(*to_tracker(gitea), cwd=git_repo, GITEA_TOKEN=TOKEN[::-1])
    assert "refused the token; set a valid one in GITEA_TOKEN" in refused.stdout
    assert TOKEN[::-1] not in refused.stdout + refused.stderr


def test_doctor_says_how_to_set_a_channel_up(git_repo: Path) -> None:
    done = doctor(cwd=git_repo)
    assert done.returncode == 0
    assert "[outreach]" in done.stdout
    assert "config.toml" in done.stdout


def test_a_run_with_half_a_tracker_is_refused_before_it_begins(git_repo: Path) -> None:
    done = cli.here(
        *("run", "x", "-c", "true", "--headless", "--set", "outreach.tracker=github"),
        *("--agent", "command", "--agent-command", "cat"),
        cwd=git_repo,
    )
    assert done.returncode == 2
    assert "outreach.repository" in done.stderr
    assert not (git_repo / ".aiwg").exists()


def stuck(
    *options: str, cwd: Path, iterations: int = 12, **environ: str
) -> subprocess.CompletedProcess[str]:
    """A run whose agent is stuck: redirected, paused, then aborted as no one answers."""
    cli.project(cwd)
    return cli.here(
        *("run", "Make the checks pass", "-c", cli.GATE, "--headless", "--json"),
        *("--agent", "command", "--agent-command", "cat >/dev/null; date +%N >>notes.txt"),
        *("--max-iterations", str(iterations), "--set", "oversight.pause_timeout_s=1", *options),
        cwd=cwd,
        **environ,
    )


def raised_in(output: str) -> list[str]:
    return [
        event["escalation_id"]
        for event in cli.events_of(output)
        if event["kind"] == "escalation_raised"
    ]


def queued_in(folder: Path) -> list[Path]:
    return list((folder / ".aiwg/ralph/outbox").glob("*-*.json"))


def test_a_pause_reaches_webhook_and_tracker_and_no_secret_reaches_the_record(
    git_repo: Path, hook: Service, gitea: TrackerService
) -> None:
    options = (*to_hook(hook), *to_tracker(gitea))
    done = stuck(*options, cwd=git_repo, GITEA_TOKEN=TOKEN)
    assert done.returncode == 4, done.stderr
    raised = raised_in(done.stdout)
    pause, end = hook.requests
    assert [pause.body["escalation_id"], end.body["escalation_id"]] == raised
    assert pause.body["level"] == "critical"
    assert pause.body["about"] == "stuck"
    assert pause.body["readings"]["completion"] == 0
    (issue,) = gitea.issues
    assert issue["title"] == "[Ralph External] CRITICAL: stuck in task-001/001"
    assert len(gitea.comments) == 1
    assert {label["name"] for label in issue["labels"]} == {
        "ralph-external",
        "emergency",
        "blocking",
    }
    assert [pause.body["priority"], end.body["priority"]] == ["high", "urgent"]
    assert pause.body["severity"] == "high"
    events = cli.events_of(done.stdout)
    delivered = [event for event in events if event["kind"] == "escalation_delivered"]
    assert {event["channel"] for event in delivered} == {"webhook", "gitea"}
    assert all(event["ok"] for event in delivered)
    assert {event["issue"] for event in delivered} == {None, 1}
    assert events[0]["config"]["outreach.webhook"] == hook.url
    assert queued_in(git_repo) == []
    no_secret_in(git_repo, done.stdout, done.stderr)


def test_with_escalate_off_nothing_is_sent(git_repo: Path, hook: Service) -> None:
    done = stuck(*to_hook(hook), "--set", "outreach.escalate=false", cwd=git_repo)
    assert done.returncode == 4, done.stderr
    assert raised_in(done.stdout)
    assert hook.requests == []
    set_up = cli.events_of(done.stdout)[0]["config"]["outreach.webhook"]
    assert set_up == hook.url, "the channel stays set up"


def test_what_a_silent_webhook_did_not_take_reaches_it_in_the_next_run(
    git_repo: Path, hook: Service
) -> None:
    hook.special = lambda _: Reply(0)
    done = stuck(*to_hook(hook), cwd=git_repo, iterations=1)
    assert done.returncode == 4, done.stderr
    raised = raised_in(done.stdout)
    assert "1 message could not be delivered; the next run here will try again" in done.stderr
    assert len(queued_in(git_repo)) == len(raised) == 1
    no_secret_in(git_repo, done.stdout, done.stderr)
    hook.silence.set()
    hook.requests.clear()
    hook.special = lambda _: None
    again = cli.here(
        *("run", "x", "-c", cli.GATE, "--headless", "--agent", "command", *to_hook(hook)),
        *("--agent-command", "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt"),
        cwd=git_repo,
    )
    assert again.returncode == 0, again.stderr
    assert [request.body["escalation_id"] for request in hook.requests] == raised
    assert queued_in(git_repo) == []


PLANTED = {form.name: form for form in forms() if "key in JSON" not in form.name}
BY_DOOR = {
    "objective": "GitHub personal",
    "output": "redis-cli -a",
    "error": "token cut by returns",
    "blocker": "Stripe live",
    "gate": "password in German",
    "file": "Slack bot",
    "guidance": "curl -u",
}
"""Secrets planted at each source of a run's text."""


def hidden_in(text: str) -> None:
    for door, name in BY_DOOR.items():
        assert caught(PLANTED[name], text), f"{door}: {name}"


def decided(*words: str, cwd: Path) -> bool:
    return cli.here("decide", *words, cwd=cwd).returncode == 0


def test_no_secret_of_a_run_leaves_it(
    git_repo: Path,
    tmp_path: Path,
    hook: Service,
    gitea: TrackerService,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a webhook, an issue or a comment, and none waits in the outbox for that."""
    planted = {door: PLANTED[name].text for door, name in BY_DOOR.items()}
    for door, text in planted.items():
        (tmp_path / door).write_text(text)
    report = {"completion": 10, "summary": "s", "blockers": [planted["blocker"]]}
    (tmp_path / "report").write_text(json.dumps({"ralph": report}) + "\n")
    agent = (
        f"cat >/dev/null; cd {tmp_path}; cat output report error; cat error >&2; "
        f"touch '{git_repo}/{PLANTED['Slack bot'].secret}'; date +%N >>{git_repo}/notes"
    )
    hook.special = lambda _: Reply(500)
    monkeypatch.setenv("GITEA_TOKEN", TOKEN)
    process = cli.start(
        *("run", f"Mend it: {planted['objective']}", "-c", f"cat {tmp_path}/gate; exit 1"),
        *("--agent", "command", "--agent-command", agent, "--headless", "--json"),
        *("--max-iterations", "12", "--set", "progress=agent", *to_hook(hook), *to_tracker(gitea)),
        cwd=git_repo,
    )
    answers = iter([("guide", planted["guidance"]), ("abort", "--yes")])
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["kind"] == "question_asked" and event["topic"] == "pause":
                words = next(answers)
                until(partial(decided, *words, cwd=git_repo))
        assert process.wait(PATIENCE_S) == 4
    assert len(gitea.issues) == 1
    assert hook.requests
    waiting = queued_in(git_repo)
    assert waiting, "the webhook refused them"
    for request in (*hook.requests, *gitea.requests):
        hidden_in(json.dumps(request.body, ensure_ascii=False))
        hidden_in(request.path)
    for path in waiting:
        hidden_in(path.read_text())
    assert "[redacted]" in json.dumps(hook.requests[-1].body)


def test_no_trouble_of_a_channel_changes_a_run(git_repo: Path, gitea: TrackerService) -> None:
    """One is not there, the other refuses the token."""
    gone = Service()
    with served(gone):
        options = (*to_hook(gone), *to_tracker(gitea))
    done = stuck(*options, cwd=git_repo, GITEA_TOKEN=TOKEN[::-1])
    assert done.returncode == 4, done.stderr
    events = cli.events_of(done.stdout)
    assert events[-1]["kind"] == "run_finished"
    reported = [event for event in events if event["kind"] == "escalation_delivered"]
    assert [(event["ok"], event["queued"]) for event in reported] == [(False, True)] * 2
    assert {event["channel"] for event in reported} == {"webhook", "gitea"}
    assert gitea.issues == []
    no_secret_in(git_repo, done.stdout, done.stderr)
    assert TOKEN[::-1] not in done.stdout + done.stderr
