"""A message until its delivery: retries, the queue on disk, reports to the user.

Time is simulated and the queue is advanced by hand, so no test waits.
"""

import json
import os
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.outreach import EscalationHandler
from ralph_tui.adapters.outreach.delivery_queue import FIRST_PAUSE, LONGEST_PAUSE, DeliveryQueue
from ralph_tui.adapters.outreach.dialects import DIALECTS
from ralph_tui.adapters.outreach.http_service import Timeouts, UndeliveredError
from ralph_tui.adapters.outreach.message import Message, Readings, message_of
from ralph_tui.adapters.outreach.outbox import MAX_FILES, IssueNumbers, Outbox
from ralph_tui.adapters.outreach.tracker import Tracker
from ralph_tui.adapters.outreach.webhook import Webhook
from ralph_tui.events import EscalationDelivered, EscalationRaised, RunStarted
from ralph_tui.events.base import Event
from tests.rows import each_row
from tests.trackers import REPOSITORY, TOKEN, Reply, Service, TrackerService, served
from tests.waiting import until
from tests.world import FakeClock

PATIENT = Timeouts(connect_s=30, silence_s=30, total_s=30)
SOON = Timeouts(connect_s=30, silence_s=0.2, total_s=30)
"""For a service that never answers: others may take longer on a busy machine."""
SECRET = "T0AB/hook-secret-4711"


class Bench:
    """One queue to a webhook, without its thread."""

    def __init__(self, folder: Path, url: str, timeouts: Timeouts = PATIENT) -> None:
        self.clock = FakeClock()
        self.delivered: list[EscalationDelivered] = []
        self.outbox = Outbox(folder, "webhook")
        channel = Webhook(f"{url}/{SECRET}", timeouts)
        self.queue = DeliveryQueue(channel, self.outbox, self.hear, self.clock, lambda: 0.0)
        self.queue._entries = self.outbox.waiting(self.clock.now())
        self.queue._start = lambda: None  # type: ignore[method-assign]

    def hear(self, event: Event) -> None:
        assert isinstance(event, EscalationDelivered)
        self.delivered.append(event)

    def pass_time(self, seconds: float) -> None:
        """Advance the clock and process everything due."""
        end = self.clock.seconds + seconds
        while (pause := self.queue.deliver_due()) is not None and self.clock.seconds + pause <= end:
            self.clock.seconds += pause
        self.clock.seconds = end


@pytest.fixture
def hook() -> Iterator[Service]:
    service = Service()
    with served(service):
        yield service


def run(run_id: str = "run-1") -> RunStarted:
    return RunStarted(
        run_id=run_id,
        task="task-001",
        attempt="001",
        root="/tmp/x",
        objective="Fix it",
        agent="demo",
        max_iterations=10,
        session_timeout_s=60,
    )


def raised(number: int = 1, reason: str = "no progress") -> EscalationRaised:
    return EscalationRaised(
        iteration=3, escalation_id=f"esc-{number}", level="critical", about="stuck", reason=reason
    )


def message(number: int = 1, at: datetime | None = None) -> Message:
    return message_of(raised(number), run(), Readings(), at or FakeClock().now())


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-*.json"))


def test_a_webhook_gets_the_facts_as_json_with_a_key_of_their_own(
    hook: Service, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, hook.url)
    bench.queue.add(message())
    assert files(tmp_path) != []
    assert bench.queue.deliver_due() is None
    (request,) = hook.requests
    assert request.path == f"/{SECRET}"
    assert request.body["level"] == "critical"
    assert request.body["iteration"] == 3
    assert "no progress" in request.body["text"]
    assert request.headers["idempotency-key"] == request.body["id"] == "run-1/esc-1"
    assert files(tmp_path) == []
    (reported,) = bench.delivered
    assert (reported.ok, reported.channel, reported.escalation_id) == (True, "webhook", "esc-1")


def test_a_fault_is_told_once_and_retried_until_it_is_over(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda _: Reply(500)
    bench = Bench(tmp_path, hook.url)
    bench.queue.add(message(1))
    bench.queue.add(message(2))
    bench.pass_time(3600)
    assert len(hook.requests) > 5
    assert [(reported.ok, reported.queued) for reported in bench.delivered] == [(False, True)]
    hook.special = lambda _: None
    bench.pass_time(LONGEST_PAUSE)
    assert [reported.ok for reported in bench.delivered] == [False, True, True]
    assert [r.body["id"] for r in hook.requests[-2:]] == ["run-1/esc-1", "run-1/esc-2"]
    assert files(tmp_path) == []


def test_pauses_grow_and_a_server_may_ask_for_longer_ones(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda _: Reply(500)
    bench = Bench(tmp_path, hook.url)
    bench.queue.add(message())
    pauses = []
    for _ in range(9):
        pause = bench.queue.deliver_due()
        assert pause is not None
        pauses.append(pause)
        bench.clock.seconds += pause
    assert pauses[0] == FIRST_PAUSE
    assert pauses[1] == 2 * FIRST_PAUSE
    assert pauses[-1] == LONGEST_PAUSE
    hook.special = lambda _: Reply(429, None, {"Retry-After": "1234"})
    pause = bench.queue.deliver_due()
    assert pause == 1234


@given(st.floats(0, 1), st.integers(0, 50))
def test_jitter_only_lengthens_a_pause(jitter: float, failures: int) -> None:
    class Broken:
        name = "webhook"
        place = "nowhere"
        comments = False

        def deliver(self, message: Message, *, again: bool = False) -> str:
            raise UndeliveredError("broken", "retry")

        def issue_of(self, run_id: str) -> int | None:
            return None

        def probe(self, message: Message) -> str:
            raise AssertionError

    class Nowhere(Outbox):
        def _write(self, entry: object) -> None:
            return

    queue = DeliveryQueue(
        Broken(),
        Nowhere(Path("/nonexistent"), "webhook"),
        lambda _: None,
        FakeClock(),
        lambda: jitter,
    )
    queue._start = lambda: None  # type: ignore[method-assign]
    queue._failures = failures
    queue.add(message())
    pause = queue.deliver_due()
    plain = min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE)
    assert pause is not None
    assert plain <= pause <= 1.5 * plain


@pytest.mark.parametrize("status", [401, 403, 404, 410, 302])
def test_a_wrong_set_up_is_told_once_and_left_for_the_next_run(
    hook: Service, tmp_path: Path, status: int
) -> None:
    hook.special = lambda _: Reply(status)
    bench = Bench(tmp_path, hook.url)
    bench.queue.add(message(1))
    bench.queue.add(message(2))
    bench.pass_time(3600)
    assert len(hook.requests) == 1
    (reported,) = bench.delivered
    assert (reported.ok, reported.queued) == (False, True)
    assert "outreach.webhook" in reported.text
    assert len(files(tmp_path)) == 2
    hook.special = lambda _: None
    later = Bench(tmp_path, hook.url)
    later.pass_time(1)
    assert [reported.ok for reported in later.delivered] == [True, True]
    assert "left over from task-001/001" in later.delivered[0].text


def test_a_message_that_is_not_accepted_holds_up_no_other(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda r: Reply(422) if r.body["id"].endswith("esc-1") else None
    bench = Bench(tmp_path, hook.url)
    bench.queue.add(message(1))
    bench.queue.add(message(2))
    bench.pass_time(1)
    assert [(reported.ok, reported.queued) for reported in bench.delivered] == [
        (False, False),
        (True, False),
    ]
    assert files(tmp_path) == []


def test_a_webhook_that_never_answers_is_tried_again(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda _: Reply(0)
    bench = Bench(tmp_path, hook.url, SOON)
    bench.queue.add(message())
    assert bench.queue.deliver_due() == FIRST_PAUSE
    assert "did not answer" in bench.delivered[0].text
    assert bench.delivered[0].queued


def test_a_long_answer_of_a_webhook_does_no_harm(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda _: Reply(200, raw=b"x" * 5_000_000)
    bench = Bench(tmp_path, hook.url)
    bench.queue.add(message())
    bench.queue.deliver_due()
    assert bench.delivered[0].ok


def test_the_queue_survives_a_restart_in_its_order(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda _: Reply(503)
    bench = Bench(tmp_path, hook.url)
    for number in (1, 2, 3):
        bench.queue.add(message(number, bench.clock.now() + timedelta(seconds=number)))
    bench.pass_time(10)
    hook.special = lambda _: None
    hook.requests.clear()
    later = Bench(tmp_path, hook.url)
    later.pass_time(1)
    assert [r.body["id"][-1] for r in hook.requests] == ["1", "2", "3"]
    assert Bench(tmp_path, hook.url).queue.undelivered == 0


def test_what_is_too_old_or_too_much_goes(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, "webhook")
    start = FakeClock().now()
    for number in range(MAX_FILES + 5):
        outbox.put(message(number, start + timedelta(minutes=number)))
    waiting = outbox.waiting(start)
    assert len(waiting) == MAX_FILES
    assert waiting[0].message.escalation_id == "esc-5"
    assert len(outbox.waiting(start + timedelta(days=7, minutes=6, seconds=1))) == MAX_FILES - 2
    assert len(files(tmp_path)) == MAX_FILES - 2


@each_row("content", [b"", b"{", b"[]", b'{"message": 5}', b"\xff", b"[" * 5000, b"x" * 300_000])
def test_garbage_in_the_queue_is_passed_over(tmp_path: Path, content: bytes) -> None:
    outbox = Outbox(tmp_path, "webhook")
    outbox.put(message())
    (tmp_path / "0-garbage-webhook.json").write_bytes(content)
    os.mkfifo(tmp_path / "1-pipe-webhook.json")
    (tmp_path / "2-folder-webhook.json").mkdir()
    (tmp_path / "issues.json").write_bytes(content)
    assert len(outbox.waiting(FakeClock().now())) == 1
    assert IssueNumbers(tmp_path, "x").get("run-1") is None


def test_words_that_somebody_put_into_the_queue_are_foreign(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, "webhook")
    entry = outbox.put(message())
    assert entry.path is not None
    data = json.loads(entry.path.read_text())
    data["message"]["reason"] = "\x1b[31mred sk-abcdefghijklmnopqrstuvwx " + "x" * 10_000
    entry.path.write_text(json.dumps(data))
    (read,) = outbox.waiting(FakeClock().now())
    assert "\x1b" not in read.message.reason
    assert "sk-abc" not in read.message.reason
    assert len(read.message.reason) <= 4000


@each_row(
    ("name", "value"),
    [
        ("key", "two\nlines"),
        ("key", "gr\u00fcn"),
        ("raised", "2026-01-01T00:00:00"),
        ("readings", {"completion": float("nan")}),
        ("level", "loud"),
        ("recommendations", ["x"] * 1000),
    ],
)
def test_what_a_request_could_not_carry_is_no_message(
    tmp_path: Path, name: str, value: object
) -> None:
    outbox = Outbox(tmp_path, "webhook")
    entry = outbox.put(message())
    assert entry.path is not None
    data = json.loads(entry.path.read_text())
    data["message"][name] = value
    entry.path.write_text(json.dumps(data))
    assert not outbox.waiting(FakeClock().now())


def test_a_folder_that_cannot_be_written_only_costs_the_queue(
    hook: Service, tmp_path: Path
) -> None:
    (tmp_path / "outbox").write_text("a file is in the way")
    bench = Bench(tmp_path / "outbox", hook.url)
    bench.queue.add(message())
    bench.queue.deliver_due()
    assert bench.delivered[0].ok


def test_after_a_crash_between_sending_and_removing_no_second_issue_is_made(tmp_path: Path) -> None:
    service = TrackerService("gitea")
    with served(service):
        reported: list[Event] = []

        def queue(folder: Path) -> DeliveryQueue:
            # The number of the issue is lost, too: it is written after the answer.
            numbers = IssueNumbers(folder, service.url)
            made = Tracker(DIALECTS["gitea"], service.url, REPOSITORY, TOKEN, "T", numbers, PATIENT)
            outbox = Outbox(tmp_path, "gitea")
            one = DeliveryQueue(made, outbox, reported.append, FakeClock(), lambda: 0.0)
            one._entries = outbox.waiting(FakeClock().now())
            one._start = lambda: None  # type: ignore[method-assign]
            return one

        first = queue(tmp_path / "a")
        first._outbox.remove = lambda entry: None  # type: ignore[method-assign]
        first.add(message())
        first.deliver_due()
        assert len(files(tmp_path)) == 1
        second = queue(tmp_path / "b")
        second.deliver_due()
        assert len(service.issues) == 1
        assert files(tmp_path) == []
    assert service.violations == []


def test_the_handler_returns_at_once_and_every_channel_delivers_by_itself(
    hook: Service, tmp_path: Path
) -> None:
    hook.special = lambda _: Reply(0)
    tracker = TrackerService("github")
    reported: list[Event] = []
    with served(tracker):
        numbers = IssueNumbers(tmp_path, "x")
        dialect = DIALECTS["github"]
        handler = EscalationHandler(
            [
                Webhook(f"{hook.url}/{SECRET}"),
                Tracker(dialect, tracker.url, REPOSITORY, TOKEN, "T", numbers),
            ],
            tmp_path,
            reported.append,
            FakeClock(),
        )
        handler.send(raised(1), run())
        handler.send(raised(2), run())
        until(lambda: len(reported) == 2)
        assert len(tracker.issues) == 1
        assert len(tracker.comments) == 1
        assert handler.close(0.05) == 2
    assert tracker.violations == []
    hook.silence.set()


def test_a_restarted_handler_delivers_what_was_left(hook: Service, tmp_path: Path) -> None:
    hook.special = lambda _: Reply(503)
    reported: list[Event] = []
    before = EscalationHandler([Webhook(hook.url)], tmp_path, reported.append, FakeClock())
    before.send(raised(), run())
    until(lambda: reported)
    assert before.close(5) == 1
    hook.special = lambda _: None
    after = EscalationHandler([Webhook(hook.url)], tmp_path, reported.append, FakeClock())
    after.resume()
    until(lambda: len(reported) == 2)
    assert after.close(5) == 0
    assert files(tmp_path) == []


def test_the_end_of_a_run_still_delivers_what_it_has_just_raised(
    hook: Service, tmp_path: Path
) -> None:
    handler = EscalationHandler([Webhook(hook.url)], tmp_path, lambda _: None, FakeClock())
    handler.send(raised(), run())
    assert handler.close(5) == 0
    assert len(hook.requests) == 1


def test_without_channels_nothing_is_written_and_nothing_started(tmp_path: Path) -> None:
    threads = threading.active_count()
    handler = EscalationHandler([], tmp_path / "outbox", lambda _: None, FakeClock())
    handler.resume()
    handler.send(raised(), run())
    assert handler.close(0) == 0
    assert threading.active_count() == threads
    assert not (tmp_path / "outbox").exists()


def test_no_secret_is_in_a_file_or_a_sentence(
    hook: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    key = "sk-" + "a" * 30
    for status in (500, 404, 422, 302, 204):
        hook.special = lambda r, status=status: Reply(  # type: ignore[misc]
            status, {"message": r.path}, {"Location": f"http://127.0.0.1/{SECRET}"}
        )
        bench = Bench(tmp_path, hook.url)
        bench.queue.add(
            message_of(raised(1, f"it says {key}"), run(), Readings(), FakeClock().now())
        )
        bench.pass_time(10)
        everything = " ".join(reported.model_dump_json() for reported in bench.delivered)
        everything += "".join(path.read_text() for path in tmp_path.rglob("*.json"))
        assert everything
        assert SECRET not in everything
        assert key not in everything
    assert SECRET not in caplog.text


def test_a_comment_is_for_issues_alone(tmp_path: Path) -> None:
    delivered: list[tuple[str, str]] = []

    class Kept:
        place = "nowhere"

        def __init__(self, name: str, *, comments: bool) -> None:
            self.name, self.comments = name, comments

        def deliver(self, message: Message, *, again: bool = False) -> str:
            delivered.append((self.name, message.reason))
            return ""

        def issue_of(self, run_id: str) -> int | None:
            return None

        def probe(self, message: Message) -> str:
            raise AssertionError

    reported: list[Event] = []
    channels = [Kept("webhook", comments=False), Kept("gitea", comments=True)]
    handler = EscalationHandler(channels, tmp_path, reported.append, FakeClock())
    handler.comment("rollover-1-1", "iteration 1: ...", 1, run())
    assert handler.close(10) == 0
    assert delivered == [("gitea", "iteration 1: ...")]
    assert reported == [], "without an issue there is nothing to report"
