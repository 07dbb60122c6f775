"""An agent's question in the log, plain lines and the report."""

from ralph_tui import events as ev
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.cli.fronts.run_lines import PlainLines
from ralph_tui.state import RunState
from tests.world.asking import PUSH, answer, ask, at_work, permission, permissions_decided


def test_each_is_one_entry_of_the_log_that_says_who_decided_what() -> None:
    state = RunState().apply_all(permissions_decided())
    asked = [entry for entry in state.log.entries if entry.head.word == "ASKED"]
    assert [(entry.head.text, entry.head.level, entry.open) for entry in asked] == [
        ("Bash: git push origin main: allowed once by you", "owner", False),
        (
            "Edit: /srv/shared/config.py …: allowed for the session by you (terminal pts/3)",
            "owner",
            False,
        ),
        ("Bash: rm -rf /srv: refused by you", "owner", False),
        ("Bash: curl example.org: no answer in 5 min: refused", "warn", False),
    ]
    assert [row.text for row in asked[2].follow] == ["never outside the project"]
    assert "allowing it for the session permits: files in /srv/shared" in asked[1].head.detail


def test_while_it_is_open_the_entry_says_what_is_asked() -> None:
    entry = RunState().apply_all(permission()).log.entries[-1]
    assert (entry.head.text, entry.head.level, entry.open) == (
        "Bash: git push origin main",
        "warn",
        True,
    )


def test_plain_lines_say_the_same() -> None:
    lines = PlainLines()
    said = [line for event in permissions_decided() if (line := lines.line(event))]
    reported = [line.partition("asked   ")[2] for line in said if "asked   " in line]
    assert reported[0] == "Bash: git push origin main: allowed once by you"
    assert reported[-1] == "Bash: curl example.org: no answer in 5 min: refused"
    questions = [line for line in said if "question" in line]
    assert (
        "claude asks for Bash: git push origin main; answer with ralph-tui decide ANSWER "
        "(once, session, refuse; refuses at" in questions[0]
    )


def test_the_report_lists_what_was_allowed_and_refused_by_whom() -> None:
    page = report(permissions_decided(), Circumstances())
    _, _, section = page.partition("## Agent requests\n\n")
    lines = section.partition("\n\n")[0].splitlines()
    assert [line.partition(" UTC: ")[2] for line in lines] == [
        "Bash: git push origin main: **allowed once by you**",
        "Edit: /srv/shared/config.py …: **allowed for the session by you (terminal pts/3)** "
        "(`files in /srv/shared`)",
        "Bash: rm -rf /srv: **refused by you: never outside the project**",
        "Bash: curl example.org: **no answer in 5 min: refused**",
    ]
    assert page.count("git push origin main") == 1, "a request stands in one place"
    assert "Permissions: may edit files; asks before anything else" in page
    assert "ASKED" not in page.partition("## Warnings")[2], "it has a section of its own"


def test_what_was_taken_back_and_what_is_open_is_told_as_that() -> None:
    events = permission()
    assert "main: **not answered**" in report(events, Circumstances())
    assert "main: **waiting for an answer**" in report(events, Circumstances(alive=True))
    question = RunState().apply_all(events).needs.question
    assert question is not None
    gone = ev.QuestionWithdrawn(
        seq=events[-1].seq + 1,
        at=events[-1].at,
        question_id=question.question_id,
        reason="the agent withdrew it",
    )
    page = report([*events, gone], Circumstances())
    assert "main: **no answer needed: the agent withdrew it**" in page


def test_the_owners_time_to_think_is_not_the_tools() -> None:
    (waits,) = [row for row in RunState().apply_all(permission()).agent.rows if row.asked_at]
    assert (waits.tool, waits.running) == ("Bash", True)
    run = at_work()
    ask(run, PUSH)
    answer(run, "once", seconds=25)
    run.add(ev.ToolStarted(iteration=2, tool_id="u", tool="Bash", summary="ls"), 1)
    run.add(ev.ToolFinished(iteration=2, tool_id="u", ok=True, duration_s=1), 1)
    rows = [row for row in RunState().apply_all(run.events).agent.rows if row.tool == "Bash"]
    first, second = rows[-2:]
    assert first.asked_at is None
    assert first.duration_s < 2, "the question was open for 25 s of it"
    assert second.duration_s == 1


def test_what_is_asked_again_after_a_no_is_told_once() -> None:
    run = at_work()
    ask(run, PUSH)
    answer(run, "refuse")
    question = run.events[-2]
    assert isinstance(question, ev.QuestionAnswered)
    for times in (1, 2, 3):
        asked = PUSH.model_copy(update={"request_id": f"r1-{times}"})
        run.add(asked)
        run.add(
            ev.AgentRefusedAgain(
                iteration=2,
                request_id=asked.request_id,
                question_id=question.question_id,
                times=times,
            )
        )
    assert not run.world.state.asking.waiting
    words = "in the same session: same answer, without asking you"
    entry = RunState().apply_all(run.events).log.entries[-1]
    assert [row.text for row in entry.follow] == [f"asked again 3 times {words}"]
    lines = PlainLines()
    said = [line for event in run.events if (line := lines.line(event))]
    assert [line for line in said if "asked again" in line] == [said[-1]]
    assert said[-1].endswith(f"asked again {words}")
    page = report(run.events, Circumstances())
    assert f"**refused by you**; asked again 3 times {words}" in page
