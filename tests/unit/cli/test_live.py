"""Status of a run and its open question on other terminals, and local refusals."""

import argparse
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.lock import Lock, Owner, acquire
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.verdict import verdict
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli import answering
from ralph_tui.cli.commands import abort, decide
from ralph_tui.cli.live import LiveRun, find_live
from ralph_tui.cli.question_words import question_text
from ralph_tui.cli.status_words import LINE_LIMIT, next_step, status_line, status_text
from ralph_tui.events.waiting import Option, Rollback
from ralph_tui.state import RunState
from ralph_tui.text.format import ending
from ralph_tui.text.terms import OUTCOMES
from tests.lines import plain_line
from tests.rows import each_row

NOW = datetime.now(UTC)
START = ev.RunStarted(
    run_id="id-1",
    root="/r",
    objective="Fix it",
    agent="fake",
    max_iterations=10,
    session_timeout_s=60,
    task="task-001",
    attempt="001",
)
END = ev.RunFinished(outcome="completed", reason="", iterations=1, completion=100)
QUESTION = ev.QuestionAsked(
    iteration=4,
    question_id="q1",
    topic="redirect",
    text="Three steps without progress.",
    evidence=["47 % three times", "the same file edited 12 times"],
    proposal="Stop editing parser.py.\nRead the failing test first.",
    gains="damped, kp 0.40 instead of 0.60",
    rollback=Rollback(
        snapshot=5, iteration=2, completion=62, files=3, added=4, removed=90, paths=["a.py", "b.py"]
    ),
    options=[
        Option(key="y", answer="approve", verb="approve the instructions"),
        Option(key="e", answer="approve", verb="edit them", takes="instructions"),
        Option(key="g", answer="guide", verb="say something", takes="words"),
        Option(key="+", answer="extend", verb="go on for longer", takes="more"),
        Option(key="b", answer="roll_back", verb="roll back"),
        Option(key="x", answer="abort", verb="abort the run"),
    ],
    default="approve",
    deadline=NOW + timedelta(seconds=100),
)


def folded(*events: ev.Event) -> Any:
    """A live run's status as read from its file."""
    state = RunState()
    for seq, event in enumerate(
        [START, ev.IterationStarted(iteration=4, max_iterations=10), *events]
    ):
        state.apply(event.model_copy(update={"seq": seq + 1, "at": NOW}))
    status = json.loads(json.dumps(summarize(state, datetime.now(UTC))))
    assert isinstance(status, dict)
    return status | {"alive": True}


def asked() -> ev.QuestionAsked:
    """The current question, 90 seconds before its deadline."""
    return QUESTION.model_copy(update={"deadline": datetime.now(UTC) + timedelta(seconds=99)})


def words(*arguments: str) -> argparse.Namespace:
    """A command line of ``decide``."""
    parser = argparse.ArgumentParser()
    decide.add_arguments(parser)
    return parser.parse_args(arguments)


def fields(*arguments: str) -> dict[str, object]:
    return answering._command_fields(folded(asked())["question"], words(*arguments))


class TestQuestion:
    """Details that help to decide."""

    def test_it_is_told_in_full(self) -> None:
        text = question_text(folded(asked())["question"])
        for part in (
            "Three steps without progress.\n  · 47 % three times\n",
            "  Stop editing parser.py.\n  Read the failing test first.\n",
            "controller: damped, kp 0.40 instead of 0.60",
            "snapshot 5 (iteration 2, 62 %): 3 files +4 −90\n  a.py\n  b.py\n  and 1 more\n",
            "  approve                               the instructions\n",
            "  approve TEXT                          the same, with TEXT instead",
            "  extend --iterations N | --budget USD  go on for longer\n",
            "\n\nif you do not answer: approves in 1m 3",
        ):
            assert part in text

    def test_without_a_countdown_that_is_said(self) -> None:
        held = QUESTION.model_copy(update={"deadline": None})
        assert question_text(folded(held)["question"]).endswith("with no timeout")
        late = QUESTION.model_copy(update={"deadline": NOW - timedelta(days=1)})
        assert question_text(folded(late)["question"]).endswith("approves now")

    def test_a_tampered_status_file_cannot_draw_on_the_terminal(self) -> None:
        bad = "\x1b[2J\x1b]0;x\x07ok\u202e"
        question = folded(asked())["question"]
        for name in ("text", "proposal", "gains", "default"):
            question[name] = bad
        question["evidence"] = [bad]
        question["rollback"]["paths"] = [bad]
        for option in question["options"]:
            option["answer"] = option["verb"] = bad
        status = folded() | {"question": question}
        for text in (question_text(question), status_text(status), status_line(status)):
            assert not {"\x1b", "\x07", "\u202e"} & set(text)

    def test_the_status_shows_it_until_it_is_answered(self) -> None:
        open_now = folded(asked())
        says = "! needs you (approves in 1m 3"
        assert status_text(open_now).startswith(says)
        assert "s): Send the agent new instructions? Three steps" in status_text(open_now)
        assert "answers     approve, guide, extend, restore, abort\n" in status_text(open_now)
        assert "decide      ralph-tui decide\n" in status_text(open_now), "as it can be typed"
        assert status_line(open_now).startswith("! — 4/10 needs you (approves in 1m 3")
        closed = folded(QUESTION, ev.QuestionAnswered(question_id="q1", answer="approve"))
        assert "decide" not in status_text(closed)
        dead = open_now | {"alive": False, "phase": "died"}
        assert "decide" not in status_text(dead)

    def test_the_line_stays_short(self) -> None:
        status = folded() | {"verdict": "a sentence that is long " * 20}
        assert len(status_line(status)) == LINE_LIMIT


class TestWishes:
    """Pending requests to a live run."""

    def test_they_are_told_while_the_agent_works(self) -> None:
        status = folded(
            ev.PauseRequested(by="you"),
            ev.GuidanceQueued(guidance_id="g1", text="mind the lexer"),
            ev.GuidanceQueued(guidance_id="g2", text="and the parser"),
        )
        assert "thinking" in status["phase"]
        text = status_text(status)
        assert text.startswith("▮ pausing: this iteration ends first\n")
        assert "\nguidance    2 queued for the next prompt\n" in text
        assert status_line(status) == ("▮ — 4/10 pausing: this iteration ends first · guidance: 2")
        waits = folded(ev.PauseRequested(by="you"), asked())
        shown = status_text(waits)
        assert "then it pauses" in shown.splitlines()[0], "the question hides no wish"
        assert "\nnow         ! waits for your answer\n" in shown

    def test_there_are_none(self) -> None:
        asked = folded(ev.PauseRequested(by="you"), ev.GuidanceQueued(guidance_id="g1", text="x"))
        for status in (
            folded(),
            folded(ev.GuidanceQueued(guidance_id="g1", text="x"),
                   ev.GuidanceDelivered(guidance_id="g1", into="prompt")),
            asked | {"alive": False, "phase": "died"},
            folded(ev.PauseRequested(by="you"), END),
        ):  # fmt: skip
            for text in (status_text(status), status_line(status)):
                assert "pausing" not in text
                assert "guidance" not in text


@each_row(
    ("outcome", "reason", "words"),
    [
        ("aborted", "aborted by a script; the work stays", "aborted by a script; the work stays"),
        ("aborted", "the budget is used up", "aborted: the budget is used up"),
        ("limit_reached", "limit reached twice", "limit reached twice"),
        ("completed", "completedness is all", "completed: completedness is all"),
        ("completed", "", "completed"),
        ("aborted", "aborted", "aborted"),
        ("interrupted", "stopped by SIGTERM", "stopped by SIGTERM"),
        (
            "interrupted",
            "stopped after iteration 5, as requested",
            "stopped after iteration 5, as requested",
        ),
    ],
)
def test_an_end_says_its_outcome_once(outcome: str, reason: str, words: str) -> None:
    assert ending(outcome, reason) == words
    glyph = OUTCOMES[outcome].glyph
    finished = ev.RunFinished.model_validate(
        {"outcome": outcome, "reason": reason, "iterations": 1, "completion": 0, "duration_s": 1}
    )
    assert status_text(folded(finished)).startswith(f"{glyph} {words}\n")
    assert f" {words} · 1 iteration" in str(plain_line(finished))


def test_a_run_that_you_aborted_has_no_word_of_the_overseer_and_no_context() -> None:
    used = ev.UsageReported(iteration=4, context_tokens=150_000, context_window=200_000)
    ordered = ev.InterventionMade(
        iteration=4, level="ABORT", about="owner", reason="aborted by you"
    )
    end = ev.RunFinished(
        outcome="aborted", reason="aborted by you", iterations=4, completion=0, best=0,
        best_iteration=0, duration_s=1,
    )  # fmt: skip
    assert "\ncontext " in status_text(folded(used))
    text = status_text(folded(used, ordered, end))
    assert text.startswith("⊗ aborted by you\n")
    assert not any(word in text for word in ("overseer", "ABORT", "context"))


@each_row("outcome", OUTCOMES)
def test_an_end_has_the_same_glyph_on_the_screen_and_in_the_status(outcome: str) -> None:
    end = ev.RunFinished.model_validate(
        {"outcome": outcome, "reason": "", "iterations": 1, "completion": 0, "duration_s": 1}
    )
    shown = verdict(RunState().apply_all([START, end]), NOW)
    assert status_line(folded(end)).startswith(f"{shown.glyph} ")


@each_row(
    ("state", "shown"),
    [
        ({"phase": "verifying"}, "\nnow         ◐ verifying\n"),
        ({"phase": "paused"}, "\nnow         ▮ paused\n"),
        ({"phase": "of_a_newer_version"}, "\nnow         ● of a newer version\n"),
        ({"phase": "died", "alive": False, "reason": "it is gone"}, "◇ died: it is gone\n"),
    ],
)
def test_a_state_is_told_as_the_glossary_has_it(state: dict[str, Any], shown: str) -> None:
    assert shown in status_text(folded() | state)


class TestAnswer:
    """What ``decide`` sends or refuses to send."""

    @each_row(
        ("arguments", "expected"),
        [
            (("approve",), ("approve", "", 0, 0.0)),
            (("Approve", "Do this."), ("approve", "Do this.", 0, 0.0)),
            (("ROLL-BACK",), ("roll_back", "", 0, 0.0)),
            (("guide", "a\x1b[2Jb "), ("guide", "ab", 0, 0.0)),
            (("extend", "--iterations", "3"), ("extend", "", 3, 0.0)),
            (("extend", "--budget", "2.5"), ("extend", "", 0, 2.5)),
        ],
    )
    def test_it_names_its_question(
        self, arguments: tuple[str, ...], expected: tuple[object, ...]
    ) -> None:
        names = ("answer", "text", "iterations", "budget_usd")
        assert fields(*arguments) == dict(zip(names, expected, strict=True)) | {"question_id": "q1"}

    @each_row(
        ("arguments", "sentence"),
        [
            (("no",), r"'no' is not a valid answer.* approve\|guide\|extend\|restore\|abort"),
            (("guide",), "needs text"),
            (("guide", " "), "empty"),
            (("extend",), "needs --iterations"),
            (("abort", "because"), "takes no text"),
            (("approve", "--iterations", "2"), "takes neither"),
            (("extend", "--iterations", "1001"), "1000"),
            (("extend", "--budget", "inf"), "million"),
            (("extend", "--budget", "-1"), "million"),
            (("guide", "x" * 100_001), "100,000"),
        ],
    )
    def test_what_makes_no_sense_is_said(self, arguments: tuple[str, ...], sentence: str) -> None:
        with pytest.raises(UsageError, match=sentence):
            fields(*arguments)

    @each_row("option", ["--iterations=3", "--budget=2.5", "--budget=nan"])
    def test_a_grant_without_an_answer_is_refused(self, option: str) -> None:
        with pytest.raises(UsageError, match="use ralph-tui decide extend"):
            fields(option)

    @pytest.mark.parametrize(
        ("event", "arguments", "advice"),
        [
            (ev.Paused(), (), "no open question; it is paused; continue with ralph-tui unpause"),
            (
                ev.Paused(),
                ("yes",),
                "no open question; it is paused; continue with ralph-tui unpause",
            ),
            (
                ev.Paused(),
                ("--run", "a b"),
                "it is paused; continue with ralph-tui unpause --run 'a b'",
            ),
            (ev.Unpaused(), (), "no open question; see ralph-tui status$"),
        ],
    )
    def test_without_a_question_it_says_what_to_do(
        self,
        monkeypatch: pytest.MonkeyPatch,
        event: ev.Event,
        arguments: tuple[str, ...],
        advice: str,
    ) -> None:
        run = LiveRun(RecordedRun(Path("/r/attempts/events.jsonl")), Owner(), folded(event))
        monkeypatch.setattr(decide, "find_live", lambda _: run)
        with pytest.raises(RalphError, match=advice):
            decide.run(words(*arguments))

    def test_the_confirmation_says_what_was_chosen(self) -> None:
        question = folded(asked())["question"]
        assert answering._describe_effect(question, words("approve")) == "approve the instructions"
        assert answering._describe_effect(question, words("approve", "x")) == "edit them"


class TestRollBack:
    """``abort --roll-back`` restores the best snapshot."""

    def living(self, *events: ev.Event) -> LiveRun:
        return LiveRun(RecordedRun(Path("/r/events.jsonl")), Owner(), folded(*events))

    def test_it_names_snapshot_and_reading(self) -> None:
        run = self.living(
            ev.SnapshotTaken(iteration=4, number=7, ref="r", commit="c", tree="t"),
            ev.CheckpointCaptured(iteration=4, number=1, trigger="end", snapshot=7),
            ev.ReadingTaken(iteration=4, completion=62, source="tests"),
        )
        what, sent = abort._best_snapshot(run)
        assert sent == {"roll_back_to": 7}
        assert "iteration 4 (62 %, snapshot 7)" in what

    def test_without_one_nothing_is_aborted(self) -> None:
        with pytest.raises(RalphError, match="without --roll-back"):
            abort._best_snapshot(self.living())


class TestFinding:
    """Selection of a run, and whether it is reachable."""

    @pytest.fixture
    def root(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        (tmp_path / ".aiwg/ralph").mkdir(parents=True)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    @pytest.fixture
    def lock(self, root: Path) -> Iterator[Lock]:
        lock = acquire(root / ".aiwg/ralph/lock", "task-001/001", "id-1", "now")
        yield lock
        lock.release()

    def record(self, root: Path, **changed: object) -> Path:
        folder = root / ".aiwg/ralph/tasks/task-001/attempts/001"
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text("{}\n")
        (folder / "status.json").write_text(json.dumps(folded() | changed))
        return folder

    def test_the_lock_names_the_socket(self, lock: Lock) -> None:
        lock.rename("task-001/001", "/run/x.sock")
        assert Owner.read(lock.path).socket == "/run/x.sock"
        assert Owner.read(lock.path) == lock.owner

    def test_a_lock_file_without_a_socket_is_read(self, lock: Lock) -> None:
        older = {"pid": 1, "host": "h", "started": "s", "run": "r", "run_id": "i"}
        lock.path.write_text(json.dumps(older))
        assert Owner.read(lock.path) == Owner(1, "h", "s", "r", "i", "")

    def test_the_run_of_this_worktree(self, root: Path, lock: Lock) -> None:
        folder = self.record(root)
        for name in (None, "task-001", "task-001/001", str(folder), str(root)):
            assert find_live(name).run.journal.resolve() == (folder / "events.jsonl").resolve()

    @pytest.mark.parametrize("name", [None, "task-001"])
    def test_none(self, root: Path, name: str | None) -> None:
        self.record(root)
        with pytest.raises(UsageError, match=r"ralph-tui run.*ralph-tui resume"):
            find_live(name)

    def test_one_that_is_over_or_another(self, root: Path, lock: Lock) -> None:
        folder = self.record(root, outcome="limit_reached")
        with pytest.raises(UsageError, match=r"has ended \(limit reached\)"):
            find_live(None)
        (folder / "status.json").write_text(json.dumps(folded() | {"run_id": "id-0"}))
        with pytest.raises(UsageError, match="has ended"):
            find_live("task-001")

    def test_one_that_just_starts(self, root: Path, lock: Lock) -> None:
        with pytest.raises(UsageError, match="is starting"):
            find_live(None)
        lock.rename("")
        with pytest.raises(UsageError, match="is starting"):
            find_live(None)

    @each_row(
        ("owner", "sentence"),
        [
            (Owner(host="elsewhere", socket="/x"), "running on elsewhere"),
            (Owner(host=socket.gethostname()), "no command socket"),
            (Owner(host=socket.gethostname(), socket="/none/here.sock"), "is gone"),
            (Owner(host=socket.gethostname(), socket="/" + "x" * 200), "cannot reach"),
        ],
    )
    def test_one_that_cannot_be_reached(self, owner: Owner, sentence: str) -> None:
        run = LiveRun(RecordedRun(Path("/r/attempts/events.jsonl")), owner, folded())
        with pytest.raises(RalphError, match=sentence):
            run.request("pause")


def gone(*events: ev.Event) -> Any:
    """The status of a run without a process."""
    return {**folded(START, *events), "alive": False}


def test_a_status_of_a_run_that_is_over_names_the_next_step_and_the_question_it_left() -> None:
    end = ev.RunFinished(
        outcome="interrupted", reason="stopped by you", iterations=4, completion=47, best=62
    )
    text = status_text(gone(QUESTION, end))
    assert "question    open when the run ended: Three steps without progress." in text
    assert "\nnext        ralph-tui resume task-001/001" in f"\n{text}"
    died = status_text(gone(QUESTION))
    assert "question    open when the run ended: Three steps without progress." in died
    answered = ev.QuestionAnswered(question_id="q1", answer="approve")
    assert "open when" not in status_text(gone(QUESTION, answered, end))
    assert "next " not in status_text(gone(end.model_copy(update={"outcome": "completed"})))
    limit = gone(end.model_copy(update={"outcome": "limit_reached"}))
    assert "--max-iterations" in next_step(limit, "")
    assert "next " not in status_text(folded(START, QUESTION))


def test_a_run_whose_iterations_are_used_up_is_resumed_with_more_however_it_ended() -> None:
    reading = ev.ReadingTaken(iteration=1, completion=47, source="tests")
    end = ev.RunFinished(
        outcome="aborted", reason="no progress", iterations=1, completion=47, best=47
    )
    one = ev.IterationStarted(iteration=1, max_iterations=1)
    status = gone(one, reading, end) | {"max_iterations": 1}
    assert next_step(status, "") == "ralph-tui resume --max-iterations 6", "as it can be typed"
    damaged = status | {"kept": 9}
    assert next_step(damaged, "a/1") == "ralph-tui resume a/1 --from 9 --max-iterations 6"
    assert next_step(status | {"kept": 0}, "a/1") == "", "nothing of it can be read"
    more = status | {"max_iterations": 2}
    assert next_step(more, "") == "ralph-tui resume"
    spent = more | {"outcome": "limit_reached", "budget_usd": 2.5}
    assert next_step(spent, "") == "ralph-tui resume --budget 5"


def test_tokens_that_no_agent_told_are_no_zero() -> None:
    text = status_text(folded())
    assert "0 tokens" not in text
    assert "tokens unknown" in text


def test_what_a_person_accepted_is_not_said_to_come_from_the_agent() -> None:
    reading = ev.ReadingTaken(iteration=4, completion=100, source="agent", note="accepted by you")
    text = status_text(folded(reading))
    assert "completion  100 % (accepted by you), best 100 %" in text
    assert "agent)" not in text
    switched = reading.model_copy(update={"source": "tests", "note": "source is now tests"})
    assert "100 % (command passed)" in status_text(folded(switched))
    assert "(accepted by you)" in (plain_line(reading) or "")
