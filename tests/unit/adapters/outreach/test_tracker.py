"""One tracker message: its request, its wording, and the handling of every answer."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from ralph_tui.adapters.outreach.channel import ChannelContext
from ralph_tui.adapters.outreach.dialects import DIALECTS
from ralph_tui.adapters.outreach.http_service import (
    LARGEST_ANSWER,
    HttpService,
    Timeouts,
    UndeliveredError,
)
from ralph_tui.adapters.outreach.message import (
    Message,
    Readings,
    comment_of,
    issue_body,
    message_of,
    payload,
)
from ralph_tui.adapters.outreach.outbox import IssueNumbers
from ralph_tui.adapters.outreach.tracker import LABELS, Issue, Tracker
from ralph_tui.config.settings import OutreachSettings
from ralph_tui.events import EscalationRaised, RunStarted
from ralph_tui.events.oversight import Detected, EscalationLevel
from tests.rows import each_row
from tests.trackers import REPOSITORY, TOKEN, Answering, Reply, Request, TrackerService, served
from tests.waiting import until

PATIENT = Timeouts(connect_s=30, silence_s=30, total_s=30)
SOON = Timeouts(connect_s=30, silence_s=0.2, total_s=30)
"""For a service that never answers: others may take longer on a busy machine."""
RUN = RunStarted(
    run_id="run-1",
    task="task-001",
    attempt="002",
    root="/home/somebody/calculator",
    objective="Fix *all* tests",
    agent="demo",
    max_iterations=10,
    session_timeout_s=60,
    host="box",
)


def message(
    number: int = 1, level: EscalationLevel = "critical", reason: str = "no progress"
) -> Message:
    raised = EscalationRaised(
        iteration=5,
        escalation_id=f"esc-{number}",
        level=level,
        about="stuck",
        reason=reason,
        recommendations=["three other approaches first"],
        severity="high",
        detections=[Detected(name="stuck", severity="high", reason="No gain @all.")],
        strategy="pivot",
        blockers=["no network"],
    )
    readings = Readings(completion=40, best=45, best_iteration=3, cost_usd=1.5)
    return message_of(raised, RUN, readings, datetime(2026, 1, 2, 3, 4, tzinfo=UTC))


@pytest.fixture(params=["gitea", "github"])
def service(request: pytest.FixtureRequest) -> Iterator[TrackerService]:
    """One of each; after every test no violation of its API is left."""
    kind: Literal["gitea", "github"] = request.param
    tracker = TrackerService(kind)
    with served(tracker):
        yield tracker
    assert tracker.violations == []


def channel(
    service: TrackerService,
    folder: Path,
    token: str | None = TOKEN,
    url: str = "",
    timeouts: Timeouts = PATIENT,
) -> Tracker:
    url = url or service.url
    numbers = IssueNumbers(folder, url)
    dialect = DIALECTS[service.kind]
    return Tracker(dialect, url, REPOSITORY, token, "MY_TOKEN", numbers, timeouts)


def failure(channel: Tracker, sent: Message) -> UndeliveredError:
    with pytest.raises(UndeliveredError) as caught:
        channel.deliver(sent)
    assert TOKEN not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def refusing(path: str, method: str, status: int) -> Answering:
    def answer(request: Request) -> Reply | None:
        wanted = request.method == method and request.path.endswith(path)
        return Reply(status, {"message": "no"}) if wanted else None

    return answer


@pytest.mark.parametrize("level", LABELS)
def test_an_issue_has_title_body_and_labels_which_are_made_where_they_are_missing(
    service: TrackerService, tmp_path: Path, level: EscalationLevel
) -> None:
    where = channel(service, tmp_path).deliver(message(level=level))
    (issue,) = service.issues
    assert where == issue["html_url"]
    assert issue["title"] == f"[Ralph External] {level.upper()}: stuck in task-001/002"
    assert {label["name"] for label in issue["labels"]} == set(LABELS[level])
    for words in ("no progress", "5 of 10", "40 %", "45 % after iteration 3", "$1.50"):
        assert words in issue["body"]
    ended = level in ("info", "emergency")
    what = "ralph-tui resume" if ended else "ralph-tui decide"
    for words in ("three other approaches first", what, "box", "calculator"):
        assert words in issue["body"]
    assert "/home/somebody" not in issue["body"]
    names = [request.body["name"] for request in service.asked("POST", "/labels")]
    assert sorted(names) == sorted(LABELS[level])


def test_labels_are_found_on_later_pages_and_looked_for_once(
    service: TrackerService, tmp_path: Path
) -> None:
    service.add_labels(*(f"label-{number}" for number in range(120)), *LABELS["critical"])
    tracker = channel(service, tmp_path)
    tracker.deliver(message())
    assert len(service.asked("GET", "/labels")) == 3
    assert service.asked("POST", "/labels") == []
    tracker.deliver(replace_run(message(2), "run-2"))
    assert len(service.asked("GET", "/labels")) == 3
    assert len(service.issues) == 2
    assert len(service.issues[1]["labels"]) == 3


def replace_run(sent: Message, run_id: str) -> Message:
    return sent.model_copy(update={"run_id": run_id, "key": f"{run_id}/{sent.escalation_id}"})


def test_a_second_message_of_a_run_is_a_comment_even_after_a_restart(
    service: TrackerService, tmp_path: Path
) -> None:
    channel(service, tmp_path).deliver(message(1))
    where = channel(service, tmp_path).deliver(message(2, "emergency", "given up"))
    assert "comment" in where
    assert len(service.issues) == 1
    ((number, words),) = service.comments
    assert number == 1
    assert "EMERGENCY: stuck" in words
    assert "given up" in words


def names(issue: dict[str, Any]) -> set[str]:
    return {label["name"] for label in issue["labels"]}


def test_labels_follow_the_highest_level_so_far(service: TrackerService, tmp_path: Path) -> None:
    tracker = channel(service, tmp_path)
    tracker.deliver(message(1, "warning"))
    (issue,) = service.issues
    service.add_labels("theirs")
    issue["labels"].append(service.labels[-1])
    tracker.deliver(message(2, "critical"))
    assert names(issue) == {*LABELS["critical"], "theirs"}
    tracker.deliver(message(3, "info"))
    assert names(issue) == {*LABELS["critical"], "theirs"}
    channel(service, tmp_path).deliver(message(4, "emergency"))
    assert names(issue) == {"ralph-external", "emergency", "blocking", "theirs"}
    assert len(service.comments) == 3


@pytest.mark.parametrize("status", [403, 404, 503])
def test_labels_that_cannot_be_raised_send_no_second_comment(
    service: TrackerService, tmp_path: Path, status: int
) -> None:
    tracker = channel(service, tmp_path)
    tracker.deliver(message(1, "warning"))
    service.special = refusing("/1/labels", "POST", status)
    assert "comment" in tracker.deliver(message(2, "emergency"))
    assert names(service.issues[0]) == set(LABELS["warning"])
    assert len(service.comments) == 1


def test_the_settings_name_the_labels(service: TrackerService, tmp_path: Path) -> None:
    settings = OutreachSettings(
        tracker=service.kind,
        tracker_url=service.url,
        repository=REPOSITORY,
        token_variable="MY_TOKEN",
        labels_info=("fyi",),
        labels_warning=("look",),
        labels_critical=("Night Shift",),
        labels_emergency=(),
    )
    tracker = Tracker.from_settings(ChannelContext(settings, {"MY_TOKEN": TOKEN}, tmp_path))
    assert tracker is not None
    tracker.deliver(message(0, "info"))
    assert names(service.issues[0]) == {"ralph-external", "fyi"}
    tracker.deliver(message(1, "warning"))
    assert names(service.issues[0]) == {"ralph-external", "look"}
    tracker.deliver(message(2, "critical"))
    assert names(service.issues[0]) == {"ralph-external", "Night Shift"}
    tracker.deliver(message(3, "emergency"))
    assert names(service.issues[0]) == {"ralph-external"}
    assert tracker.issue_of("run-1") == 1


def test_body_and_payload_hold_level_priority_and_context() -> None:
    sent = message(level="emergency")
    body = issue_body(sent)
    facts = json.loads(body.partition("```json\n")[2].partition("\n```")[0])
    detection = {"name": "stuck", "severity": "high", "reason": "No gain @\u200ball."}
    assert facts == {
        "level": "emergency",
        "priority": "urgent",
        "detection": "stuck",
        "iteration": 5,
        "severity": "high",
        "detections": [detection],
        "strategy": "pivot",
        "blockers": ["no network"],
    }
    levels: list[EscalationLevel] = ["info", "warning", "critical", "emergency"]
    priorities = [payload(message(level=level))["priority"] for level in levels]
    assert priorities == ["low", "medium", "high", "urgent"]
    for level, priority in zip(levels, priorities, strict=True):
        named = f'"level": "{level}",\n  "priority": "{priority}",'
        assert named in issue_body(message(level=level))
    assert payload(sent)["strategy"] == "pivot"


def test_an_issue_that_is_gone_is_replaced_by_a_new_one(
    service: TrackerService, tmp_path: Path
) -> None:
    tracker = channel(service, tmp_path)
    tracker.deliver(message(1))
    service.special = refusing("/comments", "POST", 404)
    tracker.deliver(message(2))
    assert len(service.issues) == 2
    assert IssueNumbers(tmp_path, service.url).get("run-1") == 2


@pytest.mark.parametrize("status", [403, 404, 422])
def test_where_labels_cannot_be_made_the_issue_goes_without(
    service: TrackerService, tmp_path: Path, status: int
) -> None:
    service.special = refusing("/labels", "POST", status)
    where = channel(service, tmp_path).deliver(message())
    assert where.endswith("without labels, because the token may not set them")
    assert service.issues[0]["labels"] == []


@pytest.mark.parametrize("status", [403, 404, 422])
def test_where_labels_cannot_be_assigned_the_issue_goes_without(
    service: TrackerService, tmp_path: Path, status: int
) -> None:
    def answer(request: Request) -> Reply | None:
        labelled = request.path.endswith("/issues") and (request.body or {}).get("labels")
        return Reply(status, {"message": "no"}) if labelled else None

    service.special = answer
    where = channel(service, tmp_path).deliver(message())
    assert where.endswith("without labels, because the token may not set them")
    assert len(service.issues) == 1


def test_labels_that_the_tracker_drops_silently_are_told_of(tmp_path: Path) -> None:
    service = TrackerService("github")

    def answer(request: Request) -> Reply | None:
        if request.method == "POST" and request.path.endswith("/issues"):
            request.body.pop("labels")
        return None

    service.special = answer
    with served(service):
        assert "without labels" in channel(service, tmp_path).deliver(message())


@pytest.mark.parametrize(
    ("status", "then", "advice"),
    [
        (401, "mend", "MY_TOKEN"),
        (403, "mend", "MY_TOKEN"),
        (404, "mend", "outreach.repository"),
        (410, "mend", "archived"),
        (301, "mend", "outreach.tracker_url"),
        (200, "mend", "outreach.tracker_url"),
        (422, "drop", "does not accept"),
        (429, "retry", "wait"),
        (500, "retry", "server error"),
        (503, "retry", "server error"),
    ],
)
def test_every_refusal_says_what_to_do(
    service: TrackerService, tmp_path: Path, status: int, then: str, advice: str
) -> None:
    service.special = refusing("/issues", "POST", status)
    problem = failure(channel(service, tmp_path), message())
    assert problem.then == then
    assert advice in str(problem)


@pytest.mark.parametrize("token", [None, "", "  \n", "two words", "gr\u00fcn"])
def test_without_a_usable_token_nothing_is_sent(
    service: TrackerService, tmp_path: Path, token: str | None
) -> None:
    problem = failure(channel(service, tmp_path, token), message())
    assert problem.then == "mend"
    assert "MY_TOKEN" in str(problem)
    assert service.requests == []


def test_a_token_that_is_refused_is_told_without_the_token(
    service: TrackerService, tmp_path: Path
) -> None:
    service.special = lambda r: Reply(401, {"message": f"bad {r.headers['authorization']}"})
    wrong = "ffffffffffffffffffffffffffffffffffffffff"
    problem = failure(channel(service, tmp_path, wrong), message())
    assert problem.then == "mend"
    assert wrong not in str(problem)


def test_a_token_goes_to_no_other_host(service: TrackerService, tmp_path: Path) -> None:
    elsewhere = TrackerService(service.kind)
    with served(elsewhere):
        service.special = lambda _: Reply(307, None, {"Location": f"{elsewhere.url}/api"})
        assert failure(channel(service, tmp_path), message()).then == "mend"
    assert elsewhere.requests == []


def test_a_tracker_that_is_not_there_is_tried_again(
    service: TrackerService, tmp_path: Path
) -> None:
    gone = TrackerService(service.kind)
    with served(gone):
        url = gone.url
    problem = failure(channel(service, tmp_path, url=url), message())
    assert problem.then == "retry"
    assert "cannot be reached" in str(problem)


def test_a_silent_tracker_is_given_up_on(service: TrackerService, tmp_path: Path) -> None:
    service.special = lambda _: Reply(0)
    problem = failure(channel(service, tmp_path, timeouts=SOON), message())
    assert problem.then == "retry"
    assert "did not answer within 0.2 s" in str(problem)


@pytest.mark.parametrize("found", ["at once", "late"])
def test_headers_that_drip_for_ever_are_given_up_on(
    monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    over, look_up = threading.Event(), socket.getaddrinfo

    def late(*named: Any, **options: Any) -> Any:
        until(lambda: not any(isinstance(one, threading.Timer) for one in threading.enumerate()))
        return look_up(*named, **options)

    if found == "late":  # its address, when the time limit has passed
        monkeypatch.setattr(socket, "getaddrinfo", late)

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not over.wait(0.02):
                connection.sendall(b"X-More: 1\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        service = HttpService(
            "the tracker", timeouts=Timeouts(connect_s=30, silence_s=30, total_s=0.3)
        )
        with pytest.raises(UndeliveredError, match="takes longer than") as caught:
            service.call("GET", f"http://127.0.0.1:{listener.getsockname()[1]}/")
        assert caught.value.then == "retry"
        over.set()
        thread.join()


def test_an_answer_without_end_is_not_read_to_its_end(
    service: TrackerService, tmp_path: Path
) -> None:
    huge = b'{"number": 7, "pad": "' + b"x" * (2 * LARGEST_ANSWER) + b'"}'

    def answer(request: Request) -> Reply | None:
        return Reply(201, raw=huge) if request.path.endswith("/issues") else None

    service.special = answer
    where = channel(service, tmp_path).deliver(message())
    assert where == "an issue without a number from the tracker"


@pytest.mark.parametrize("raw", [b"<html>", b"[" * 100_000, b'"text"', b"", b"\xff\xfe", b"null"])
def test_garbage_for_labels_means_no_labels(
    service: TrackerService, tmp_path: Path, raw: bytes
) -> None:
    def answer(request: Request) -> Reply | None:
        return Reply(200, raw=raw) if request.path.endswith("/labels") else None

    service.special = answer
    assert "without labels" in channel(service, tmp_path).deliver(message())


def test_an_issue_that_was_made_unnoticed_is_found_again(
    service: TrackerService, tmp_path: Path
) -> None:
    channel(service, tmp_path / "one").deliver(message())
    where = channel(service, tmp_path / "two").deliver(message(), again=True)
    assert where == service.issues[0]["html_url"]
    assert len(service.issues) == 1
    channel(service, tmp_path / "two").deliver(message(2))
    assert len(service.comments) == 1


def test_a_repeated_message_that_never_arrived_is_sent(
    service: TrackerService, tmp_path: Path
) -> None:
    channel(service, tmp_path / "one").deliver(message(1))
    other = replace_run(message(2), "run-2")
    channel(service, tmp_path / "two").deliver(other, again=True)
    assert len(service.issues) == 2


def test_a_test_message_leaves_a_closed_issue(service: TrackerService, tmp_path: Path) -> None:
    words = channel(service, tmp_path).probe(message(level="info"))
    assert "closed again" in words
    assert service.issues[0]["state"] == "closed"


def test_foreign_words_address_nobody_and_draw_nothing(
    service: TrackerService, tmp_path: Path
) -> None:
    nasty = "@everyone ![x](http://evil/p.png) <img src=x> `code`\n# headline\x1b[31m"
    channel(service, tmp_path).deliver(message(reason=nasty))
    body = service.issues[0]["body"]
    assert "@everyone" not in body
    assert "](" not in body
    assert "<img" not in body
    assert "\n# " not in body
    assert "\x1b" not in body


def test_rate_limits_say_how_long_to_wait(service: TrackerService, tmp_path: Path) -> None:
    service.special = lambda _: Reply(429, {}, {"Retry-After": "77"})
    assert failure(channel(service, tmp_path), message()).after_s == 77
    service.special = lambda _: Reply(403, {}, {"Retry-After": "5"})
    problem = failure(channel(service, tmp_path), message())
    assert (problem.then, problem.after_s) == ("retry", 5)
    date = {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}
    service.special = lambda _: Reply(503, {}, date)
    assert failure(channel(service, tmp_path), message()).after_s == 3600
    service.special = lambda _: Reply(429, {}, {"Retry-After": "soon"})
    assert failure(channel(service, tmp_path), message()).after_s is None
    spent = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}
    service.special = lambda _: Reply(403, {}, spent)
    assert failure(channel(service, tmp_path), message()).after_s == 3600


def test_gitea_takes_its_address_with_and_without_the_interface(tmp_path: Path) -> None:
    service = TrackerService("gitea")
    with served(service):
        channel(service, tmp_path, url=f"{service.url}/api/v1").deliver(message())
    assert service.violations == []
    assert len(service.issues) == 1


@each_row(
    ("method", "path", "query", "body"),
    [
        ("DELETE", "/issues", {}, None),
        ("POST", "/issues/1", {}, {"title": "x"}),
        ("GET", "/labels", {"size": "50"}, None),
        ("GET", "/labels", {"page": "first"}, None),
        ("GET", "/issues", {"state": "any"}, None),
        ("POST", "/issues", {}, {"body": "no title"}),
        ("POST", "/issues", {}, {"title": "x", "colour": "red"}),
        ("POST", "/issues", {}, {"title": "x", "labels": "warning"}),
        ("POST", "/issues", {}, None),
        ("POST", "/issues/one/comments", {}, {"body": "x"}),
    ],
)
def test_the_service_notices_what_the_interface_does_not_have(
    method: str, path: str, query: dict[str, str], body: object
) -> None:
    for kind in ("gitea", "github"):
        service = TrackerService(kind)
        where = f"{service.base}/repos/{REPOSITORY}{path}"
        headers = {"user-agent": "x", "content-type": "application/json"}
        assert service.answer(Request(method, where, query, headers, body)).status == 400
        assert service.violations != []


def test_a_comment_goes_to_the_runs_issue_and_nowhere_where_it_has_none(
    service: TrackerService, tmp_path: Path
) -> None:
    tracker = channel(service, tmp_path)
    words = comment_of("rollover-5-1", "iteration 5: @ann *bold*", 5, RUN, message().raised)
    assert tracker.deliver(words) == ""
    assert (service.issues, service.comments) == ([], [])
    tracker.deliver(message())
    assert "comment" in tracker.deliver(words)
    ((_, body),) = service.comments
    assert body.startswith("iteration 5: @\u200bann \\*bold\\*")
    assert words.marker in body
    assert len(service.issues) == 1
    service.special = refusing("/comments", "POST", 404)
    assert tracker.deliver(words, again=True) == "", "the issue is gone: none is made for it"
    assert len(service.issues) == 1


def test_open_issues_of_a_label_are_listed_page_by_page_and_pull_requests_left_out(
    service: TrackerService, tmp_path: Path
) -> None:
    def issue(number: int, label: str, **more: object) -> dict[str, Any]:
        text = {"title": f"t{number}\x1b[2J", "body": "b" if number % 2 else None}
        return {"number": number, "state": "open", "labels": [{"name": label}], **text, **more}

    service.issues = [issue(number, "Night") for number in range(1, 13)]
    service.issues.append(issue(13, "day"))
    service.issues.append(issue(14, "night", pull_request={"url": "x"}))

    found = list(channel(service, tmp_path).open_issues("night"))

    assert [one.number for one in found] == [*range(12, 0, -1)]
    assert {one.body for one in found} == {"", "b"}
    assert not any("\x1b" in one.title for one in found)


def test_issues_that_cannot_be_listed_say_why(service: TrackerService, tmp_path: Path) -> None:
    service.special = refusing("/issues", "GET", 404)
    with pytest.raises(UndeliveredError, match="shows no repository team/project"):
        list(channel(service, tmp_path).open_issues("night"))


def test_one_issue_is_read_by_its_number(service: TrackerService, tmp_path: Path) -> None:
    service.issues = [{"number": 1, "state": "open", "title": "One\x1b[2J", "body": None}]
    tracker = channel(service, tmp_path)
    assert tracker.issue(1) == Issue(1, "One", "")
    with pytest.raises(UndeliveredError, match="no such issue to this token"):
        tracker.issue(2)
    service.special = refusing("/issues/1", "GET", 403)
    with pytest.raises(UndeliveredError, match=f"may not read issues in {REPOSITORY}"):
        tracker.issue(1)
    service.special = refusing("/issues/1", "GET", 422)
    with pytest.raises(UndeliveredError, match=r"does not list issues \(HTTP 422\)"):
        tracker.issue(1)
    service.special = lambda _: Reply(200, ["no", "object"])
    with pytest.raises(UndeliveredError, match="is not a tracker; check"):
        tracker.issue(1)


@each_row(
    ("level", "command"),
    [("critical", "`ralph-tui fleet decide lexer`"), ("emergency", "`ralph-tui fleet status`")],
)
def test_a_message_about_a_fleets_loop_names_the_fleets_command(
    level: EscalationLevel, command: str
) -> None:
    raised = EscalationRaised(
        escalation_id="e", level=level, about="stuck", iteration=4, reason="no rise"
    )
    at = datetime(2026, 1, 2, tzinfo=UTC)
    made = message_of(raised, RUN, Readings(), at, "fleet-001/lexer")
    reported = str(payload(made)["text"])
    assert "in fleet-001/lexer" in reported
    assert command in reported
    assert "`ralph-tui decide`" not in reported
    assert "`ralph-tui resume`" not in reported
