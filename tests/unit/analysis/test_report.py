"""A run's report, and that nothing in it can mark up, link or escape."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.analysis.report.chart import completion_chart
from ralph_tui.analysis.report.markdown import TEXT_LIMIT, code, escaped, quoted, table
from ralph_tui.analysis.report.material import waited
from ralph_tui.cli.status_words import status_text
from ralph_tui.events.intelligence import ValidationIssue
from ralph_tui.events.memory import Retrieved
from ralph_tui.events.run import Outcome
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.layers.sensor.tampering import named_files
from ralph_tui.state import RunState
from tests.fixtures.journals.make import FOLDER, samples
from tests.rows import each_row
from tests.world.decisions import DECISIONS

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
HERE = Circumstances("somewhere")
MARKDOWN = MarkdownIt("commonmark").enable("table")
START = ev.RunStarted(
    run_id="r", root="/r", objective="mend it", agent="fake", max_iterations=9, session_timeout_s=1
)


def journal(*events: ev.Event, start: ev.Event = START) -> list[ev.Event]:
    return [
        event.model_copy(update={"seq": n, "at": NOW + timedelta(minutes=n)})
        for n, event in enumerate((start, *events))
    ]


def page(*events: ev.Event, circumstances: Circumstances = HERE) -> str:
    return report(journal(*events), circumstances)


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n\n")[2].partition("\n\n## ")[0]


def finished(iteration: int, completion: float, **fields: Any) -> list[ev.Event]:
    return [
        ev.IterationStarted(iteration=iteration, max_iterations=9),
        ev.ReadingTaken(iteration=iteration, completion=completion, source="tests"),
        ev.IterationFinished(
            iteration=iteration, status="incomplete", completion=completion, **fields
        ),
    ]


# -- what it tells ---------------------------------------------------------------------------------


def test_the_time_of_a_run_that_goes_on_is_that_of_now() -> None:
    work = [ev.IterationStarted(iteration=1, max_iterations=9)]
    later = NOW + timedelta(minutes=40)
    text = page(*work, circumstances=Circumstances(alive=True, now=later))
    assert "- Time: 40m, 2026-11-20 14:00 UTC to 2026-11-20 14:40 UTC\n" in text
    assert "as of 2026-11-20 14:40 UTC" in text
    assert "- Time: 1m, " in page(*work)


@each_row(("budget", "says"), [
    (None, ""),
    (0.5, "; the budget of $0.50 covers only reported costs"),
])  # fmt: skip
def test_a_budget_holds_nothing_of_a_cost_that_nobody_tells(
    budget: float | None, says: str
) -> None:
    start = START.model_copy(update={"budget_usd": budget})
    events = journal(ev.SessionStarted(iteration=1, agent="fake", session_id="a"), start=start)
    assert f"- Cost: unknown{says}\n" in report(events, HERE)
    status = summarize(RunState().apply_all(events)) | {"alive": True}
    assert f"unknown, tokens unknown{says}\n" in status_text(status)


def test_a_whole_run() -> None:
    events = read_journal(FOLDER / "v1-stuck.jsonl").events
    text = report(events, Circumstances("a/folder", held=10))
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        *("# Report on task-001/001", "## Changed files", "## Tests", "## The run"),
        *("## What happened", "## Blockers reported by the agent"),
        *("## Learnings reported by the agent", "## Completion", "## Iterations"),
        *("## Checkpoints", "## Records"),
    ]
    assert text.splitlines()[2] == "**Completed:** the completion command passed after iteration 9"
    assert "> Fix the failing tests of the calculator\n" in text
    assert "- Completion command: `python3 -B -m unittest`" in text
    assert "- Git at the start: branch `main` at `" in text
    line = "- Completion: 100 % (from tests, 25 of 25); 48 % at the start; best 100 % after "
    assert f"{line}iteration 9\n" in text
    rows = section(text, "Iterations").splitlines()
    assert len(rows) == 2 + 9
    assert rows[2].startswith("| 1 | incomplete | ")
    assert rows[-1].startswith("| 9 | completed | 100 % | +12 |")
    assert rows[-1].endswith(" 2 +4 −3 | passed 25/25 |")
    acts = section(text, "What happened")
    assert "- iteration 5: **REDIRECT** stuck: " in acts
    assert "  - no one to ask: approved\n  - instructions sent: " in acts
    assert "\n  - 2 iterations later: +16 points\n  - ended after iteration 6" in acts
    chart = section(text, "Completion")
    assert "★ best" in chart
    assert "R redirect" in chart
    assert "In `a/folder`:" in section(text, "Records")
    assert "10 snapshots of the files, on `refs/ralph/" in text


def test_a_run_that_was_just_started() -> None:
    text = page(circumstances=Circumstances(alive=True))
    assert "**Still running:** iteration 0 of 9, as of 2026-11-20 14:00 UTC" in text
    assert "- Completion: never measured" in text
    assert "- Cost" not in text
    assert "- Tokens" not in text
    assert "## Completion" not in text
    assert "## Iterations" not in text


def test_how_it_stands_without_an_end() -> None:
    events = journal(*finished(1, 50), ev.IterationStarted(iteration=2, max_iterations=9))
    text = report(events, replace(HERE, problems=["events.jsonl:7 cannot be read"]))
    died = "**Died:** no end was recorded. The record stops in iteration 2 of 9, at 2026-"
    assert died in text
    assert "\n\nevents.jsonl:7 cannot be read\n" in text
    assert "| 2 | not finished | — | — | — |" in text
    crashed = page(ev.RunCrashed(error="ValueError: no", traceback="..."))
    assert "**Failed because of a bug in ralph-tui:** ValueError: no" in crashed


def test_limits_that_were_changed_are_told_beside_those_of_the_start() -> None:
    assert "- Started: attended, with at most 9 iterations\n" in page()
    assert "Limits since" not in page()
    text = page(ev.LimitsChanged(max_iterations=10, budget_usd=5.0, by="resume"))
    assert "- Started: attended, with at most 9 iterations\n" in text
    assert "- Limits since: 10 iterations and $5.00\n" in text


def test_an_estimated_cost_is_marked_where_it_is_one() -> None:
    spent = {"cost_usd": 0.5, "tokens": 1000}
    text = page(
        ev.UsageReported(iteration=1, cost_usd=0.4, cost_estimated=True),
        ev.SessionFinished(iteration=1, outcome="success", cost_usd=0.5),
        *finished(1, 10, **spent),
        ev.UsageReported(iteration=2, cost_usd=0.5, cost_estimated=True),
        *finished(2, 20, **spent),
        *finished(3, 20),
    )
    first, second, third, *note = section(text, "Iterations").splitlines()[2:]
    assert "| $0.50 | 1,000 |" in first
    assert "| ≈ $0.50 | 1,000 |" in second
    assert "| — | — |" in third
    assert note == ["", "≈: an estimate."]
    assert "- Cost: ≈ $1.00" in text


def test_who_pays_a_cost_stands_beside_it() -> None:
    described = ev.SessionDescribed(iteration=1, model="m", billing="nothing is billed")
    spent = ev.SessionFinished(iteration=1, outcome="success", cost_usd=0.5)
    text = page(described, spent, *finished(1, 10, cost_usd=0.5))
    assert "- Cost: $0.50 (nothing is billed)\n" in text


def test_a_cost_that_nobody_reports_is_unknown() -> None:
    started = ev.SessionStarted(iteration=1, session_id="a", agent="command")
    silent = ev.SessionFinished(iteration=1, outcome="success")
    assert "- Cost: unknown\n" in page(started, silent, *finished(1, 10))
    assert "- Cost" not in page(), "no agent has worked"


def test_each_agent_has_its_own_model_and_nobody_elses_mode_or_cost() -> None:
    claude = ev.SessionStarted(iteration=1, session_id="a", agent="claude")
    codex = ev.SessionStarted(iteration=1, session_id="b", agent="codex")
    shown = ev.SessionDescribed(
        iteration=1, model="gpt-5.5", permission_mode="dangerFullAccess, never"
    )
    events = (
        claude,
        ev.SessionDescribed(iteration=1, model="opus", permission_mode="bypassPermissions"),
        ev.SessionFinished(iteration=1, outcome="limited", limit="usage_limit", cost_usd=0.25),
        ev.AgentChanged(iteration=1, before="claude", agent="codex", cause="usage_limit"),
        codex,
        shown,
        ev.SessionFinished(iteration=1, outcome="success", tokens=9),
        *finished(1, 10),
    )
    start = START.model_copy(update={"agent": "claude", "permissions": "skip"})
    text = report(journal(*events, start=start), HERE)
    assert "- Agent: claude (opus), codex (gpt-5.5)\n" in text
    assert "- Permissions: unrestricted\n" in text
    assert "$0.25, without the cost of codex, which is not reported\n" in text


def changed(iteration: int, *paths: str, added: int = 2, removed: int = 1) -> ev.Event:
    total = CategoryTotal(category="source", files=len(paths), added=added, removed=removed)
    changes = [FileChange(path=path, status="modified", category="source") for path in paths]
    return ev.FilesChanged(iteration=iteration, live=False, totals=[total], changes=changes)


def test_the_files_are_those_a_reviewer_gets() -> None:
    events = (
        *(*finished(1, 10), changed(1, "a.py", added=38, removed=0)),
        *(*finished(2, 20), changed(2, "a.py", added=0, removed=36)),
    )
    net = [FileChange(path="a.py", status="modified", category="source", added=2)]
    whole = section(page(*events, circumstances=replace(HERE, changes=net)), "Changed files")
    assert "| source | 1 | +2 | −0 |" in whole
    assert "- `a.py`: modified, +2 −0" in whole
    unknown = section(page(*events), "Changed files")
    assert unknown.startswith("The net difference is unknown: ")
    assert unknown.endswith("- `a.py`")
    for text in (whole, unknown):
        assert "38" not in text, "undone work does not count"
    undone = section(page(*events, circumstances=replace(HERE, changes=[])), "Changed files")
    assert undone == "No files differ from the start."


def test_changed_tests_and_configuration_come_first_by_name() -> None:
    start = START.model_copy(update={"command": "./check.sh -q"})
    events = journal(
        *(*finished(1, 10), changed(1, "a.py", "tests/test_a.py", "check.sh")),
        ev.Noticed(level="warn", source="sensor", text="Test files changed: tests/test_a.py."),
        ev.Noticed(level="warn", source="sensor", text="24 tests were counted, 25 before: look."),
        *(*finished(2, 20), changed(2, "tests/test_a.py", "tests/test_b.py")),
        start=start,
    )
    net = [
        FileChange(path=path, status="modified", category="test")
        for path in ("a.py", "tests/test_a.py", "check.sh")
    ]
    text = report(events, replace(HERE, changes=net))
    assert section(text, "Check first").splitlines() == [
        "- **Tests changed:** `tests/test_a.py` (iterations 1, 2), "
        "`tests/test_b.py` (iteration 2, since undone)",
        "- **Files named by the completion command changed:** `check.sh` (iteration 1)",
        "- after iteration 1: 24 tests were counted, 25 before: look.",
    ]
    assert text.index("## Check first") < text.index("## Changed files")
    assert "## Warnings" not in text, "nothing is reported twice"


def test_the_tests_are_told_by_name_before_and_after() -> None:
    def gate(iteration: int, failing: list[str], failed: int, passed: int) -> ev.Event:
        return ev.GateFinished(
            iteration=iteration, ok=False, exit_code=1, duration_s=1, runner="pytest",
            passed=passed, failed=failed, errors=0, skipped=0, failing=failing,
        )  # fmt: skip

    known = page(gate(0, ["z", "b", "a"], 3, 7), *finished(1, 80), gate(1, ["b", "`c|d`"], 2, 8))
    assert section(known, "Tests").splitlines() == [
        "7 of 10 tests passed at the start, 8 of 10 tests passed at the last measurement.",
        "",
        "- **fixed** (2):",
        "  - `a`",
        "  - `z`",
        "- **newly failing** (1):",
        "  - `` `c|d` ``",
        "- **still failing** (1):",
        "  - `b`",
    ]
    unnamed = page(gate(0, ["a"], 3, 7), *finished(1, 80), gate(1, ["b"], 2, 8))
    said = section(unnamed, "Tests")
    assert "fixed" not in said
    assert "newly" not in said
    assert "- **failing before, not named now** (1):\n  - `a`" in said
    assert "- 1 more failed and were not named" not in said
    assert "- 1 more failed and was not named" in said
    assert "- 2 more failed at the start and were not named" in said
    nameless = section(page(gate(0, [], 6, 4), *finished(1, 40), gate(1, [], 5, 5)), "Tests")
    assert "- 5 failed; the output does not name them" in nameless
    assert "- 6 failed at the start; the output did not name them" in nameless
    assert "more failed" not in nameless
    assert "## Tests" not in page(*finished(1, 80))


def test_tests_that_are_gone_are_not_called_fixed() -> None:
    def gate(iteration: int, failing: list[str], passed: int) -> ev.Event:
        return ev.GateFinished(
            iteration=iteration, ok=not failing, exit_code=int(bool(failing)), duration_s=1,
            runner="pytest", passed=passed, failed=len(failing), failing=failing,
        )  # fmt: skip

    reading = ev.ReadingTaken(
        iteration=1, completion=80, source="tests", passed=8, total=8, expected=10, gone=["a"]
    )
    run = [gate(0, ["a", "b", "c"], 7), ev.IterationStarted(iteration=1, max_iterations=9)]
    text = section(page(*run, gate(1, [], 8), reading), "Tests")
    assert text.splitlines() == [
        "7 of 10 tests passed at the start, 8 of 8 tests passed at the last measurement.",
        "",
        "- **failing before, not named now** (2):",
        "  - `b`",
        "  - `c`",
        "- **gone** (1):",
        "  - `a`",
        "- 1 more test is gone and not named",
    ]
    named = reading.model_copy(update={"gone": ["a", "b"]})
    text = section(page(*run, gate(1, [], 8), named), "Tests")
    assert "- **fixed** (1):\n  - `c`\n- **gone** (2):\n  - `a`\n  - `b`" in text


def test_an_iteration_that_was_not_measured_gained_nothing_that_is_known() -> None:
    kept = ev.ReadingTaken(iteration=2, completion=40, source="tests", held=True, expected=10)
    text = page(*finished(1, 40), *finished(2, 40), kept)
    rows = [row for row in text.splitlines() if row.startswith(("| 1 |", "| 2 |"))]
    assert rows[1].startswith("| 2 | incomplete | 40 % (not measured, value kept) | — |")
    assert "not measured" not in rows[0]


def test_a_broken_build_has_fixed_nothing() -> None:
    def gate(iteration: int, failing: list[str], passed: int, **more: object) -> ev.Event:
        fields = {
            "iteration": iteration, "ok": False, "exit_code": 1, "duration_s": 1, "passed": passed,
            "runner": "pytest", "failed": len(failing), "failing": failing, **more,
        }  # fmt: skip
        return ev.GateFinished.model_validate(fields)

    broken = ev.ReadingTaken(
        iteration=2, completion=0, source="tests", passed=0, total=1, expected=10, broken="bad `x`"
    )
    text = section(
        page(
            gate(0, ["a", "b"], 8),
            ev.IterationStarted(iteration=1, max_iterations=9),
            gate(1, ["b"], 9),
            ev.IterationStarted(iteration=2, max_iterations=9),
            gate(2, ["calc"], 0, broken="bad `x`"),
            broken,
        ),
        "Tests",
    )
    assert text.splitlines() == [
        "At the end, the build has been broken since iteration 2: bad \\`x\\`.",
        "",
        "8 of 10 tests passed at the start, 9 of 10 tests passed after iteration 1.",
        "",
        "- **fixed** (1):",
        "  - `a`",
        "- **still failing** (1):",
        "  - `b`",
    ]


@each_row(
    ("agent", "permissions", "said"),
    [
        ("claude", "edits", "may edit files"),
        ("claude", "skip", "unrestricted"),
        ("command", "unrestricted", "unrestricted: a shell command may do anything"),
        ("command", "edits", "unrestricted: a shell command may do anything"),
        ("claude", "manyTools", "manyTools"),
    ],
)
def test_permissions_are_what_they_really_were(agent: str, permissions: str, said: str) -> None:
    start = START.model_copy(update={"agent": agent, "permissions": permissions})
    assert f"- Permissions: {said}\n" in report(journal(start=start), HERE)


def test_every_warning_is_told_and_none_twice() -> None:
    text = page(
        ev.Noticed(level="warn", source="workspace", text="1 file less"),
        *finished(1, 50),
        ev.Noticed(level="warn", source="sensor", text="Test files changed: tests/test_a.py."),
        ev.Noticed(level="log", source="sensor", text="nothing of note"),
        ev.AlarmRaised(
            iteration=1, alarm="STUCK", severity="warning", reason="no rise", interventions=[]
        ),
        ev.WaitStarted(iteration=1, cause="overload", reason="busy"),
        ev.ToolDenied(iteration=1, tool="Bash", message="no", permit="Bash(rm:*)"),
        ev.SessionFinished(iteration=1, outcome="error", reason="it broke"),
        ev.SessionFinished(iteration=1, outcome="error", reason="it broke"),
        ev.RunFinished(outcome="failed", reason="it broke", iterations=1, completion=50, best=50),
    )
    assert section(text, "Warnings").splitlines() == [
        "- before iteration 1: **WARN** 1 file less",
        '- iteration 1: **DENIED** Bash: permit it with permissions.allow = \\["Bash(rm:\\*)"\\]',
        "- iteration 1, 2 times: **AGENT** it broke",
    ]


def test_what_is_said_again_later_names_the_first_iteration_and_the_last() -> None:
    events: list[ev.Event] = []
    for k in (1, 2, 4):
        events.append(ev.IterationStarted(iteration=k, max_iterations=9))
        events.append(ev.SessionFinished(iteration=k, outcome="error", reason="it broke"))
    said = section(page(*events), "Warnings")
    assert said == "- iterations 1 to 4, 3 times: **AGENT** it broke"


def test_blockers_are_told_with_the_iterations_that_named_them() -> None:
    text = page(
        *(
            ev.AgentReported(iteration=k, blockers=blockers)
            for k, blockers in enumerate((["no network"], ["no network", "no key"]), 1)
        )
    )
    assert section(text, "Blockers reported by the agent").splitlines() == [
        "- no network (iterations 1, 2)",
        "- no key (iteration 2)",
    ]


def test_strategies_are_told_as_stretches_and_issues_with_their_iterations() -> None:
    def planned(k: int, approach: str, focus: str) -> ev.StrategyPlanned:
        return ev.StrategyPlanned.model_validate(
            {"iteration": k, "approach": approach, "focus": focus, "reasoning": "So *it* is."}
        )

    def found(k: int, text: str) -> ev.ValidationDone:
        issue = ValidationIssue(severity="high", name="unproven_promise", text=text)
        return ev.ValidationDone(iteration=k, when="after", issues=[issue])

    calm = [planned(1, "persist", "continue"), planned(2, "persist", "finish")]
    assert "## Approaches" not in page(*calm), "continuing as before is not news"
    text = page(
        *calm,
        planned(3, "pivot", "reframe"),
        planned(4, "pivot", "reframe"),
        planned(5, "pivot", "review"),
        found(1, "First."),
        found(4, "Last."),
    )
    assert section(text, "Approaches").splitlines() == [
        "- iterations 1 to 2: continue: So \\*it\\* is.",
        "- iterations 3 to 4: another approach: So \\*it\\* is.",
        "- iteration 5: another approach: So \\*it\\* is.",
    ]
    assert section(text, "Validation issues") == "- iterations 1 to 4, 2 times: Last."


def test_the_last_iteration_is_no_validation_issue() -> None:
    issue = ValidationIssue(severity="critical", name="near_limit", text="Iteration 4 of 4.")
    text = page(ev.ValidationDone(iteration=4, when="before", issues=[issue]))
    assert "## Validation issues" not in text


def test_a_criterion_that_was_accepted_says_by_whom() -> None:
    text = page(
        ev.IterationStarted(iteration=1, max_iterations=9),
        ev.ReadingTaken(iteration=1, completion=100, source="agent", note="accepted by you"),
    )
    assert "- Completion: 100 % (accepted by you)" in text
    assert "from agent" not in text


def test_guidance_waits_rollbacks_and_learnings() -> None:
    learned = {"learnings": ["the lexer counts from 0"]}
    text = page(
        *finished(1, 10),
        ev.GuidanceQueued(guidance_id="g", text="mind the\nlexer"),
        ev.GuidanceDelivered(guidance_id="g", into="prompt"),
        ev.WaitStarted(iteration=2, cause="usage_limit", reason="5-hour limit"),
        ev.WaitEnded(iteration=2, waited_s=90),
        ev.WaitStarted(iteration=2, cause="disk_full"),
        ev.AgentReported(iteration=1, **learned),
        ev.AgentReported(iteration=2, **learned),
        ev.RunResumed(mode="headless", found="iteration 2, 38 m in"),
        ev.WorktreeRestored(iteration=1, snapshot=3, present=7, tree="t", files=2, kept=["x"]),
    )
    assert section(text, "Guidance") == "- mind the lexer (delivered with a prompt)"
    events = journal(ev.GuidanceQueued(guidance_id="g", text="mind the lexer"))
    assert section(report(events, HERE, full=False), "Guidance") == "- mind the lexer (queued)"
    over = journal(
        ev.GuidanceQueued(guidance_id="g", text="mind the lexer"),
        ev.RunFinished(outcome="aborted", reason="", iterations=1, completion=0),
    )
    said = section(report(over, HERE, full=False), "Guidance")
    assert said == "- mind the lexer (never sent to the agent)"
    always = page(ev.StandingInstructionChanged(text="use small steps"))
    assert section(always, "Guidance") == "- in every prompt: use small steps"
    removed = page(ev.StandingInstructionChanged(text="x"), ev.StandingInstructionChanged())
    assert "## Guidance" not in removed
    assert section(text, "Waits").splitlines() == [
        "- iteration 2, usage limit, 1m 30s, ended by the timer: 5-hour limit",
        "- iteration 2, disk full, still waiting",
    ]
    assert section(text, "Learnings reported by the agent") == (
        "- the lexer counts from 0 (iteration 1)"
    )
    assert section(text, "Resumed") == ("- 2026-11-20 14:11 UTC, headless: iteration 2, 38 m in")
    assert section(text, "Restored") == (
        "- iteration 1, 2026-11-20 14:12 UTC: 2 files restored to snapshot 3, by you; "
        "previous files are in snapshot 7; 1 left alone"
    )


def test_plan_learnings_and_reflections_where_they_are() -> None:
    retrieved = Retrieved(
        learning_id="learn-0123456789ab",
        type="strategy",
        task_type="test-fix",
        text="Run <b>one</b> test first.",
        confidence=0.9,
        why="It fits.",
        in_prompt=True,
    )
    text = page(
        ev.PlanMade(
            approach="Fix the lexer first",
            steps=["read it", "mend it"],
            estimated_iterations=4,
            estimate_from=6,
            cites=["task-001/001 #1"],
            related=["task-003"],
        ),
        ev.LearningsRetrieved(iteration=1, task_type="test-fix", learnings=[retrieved]),
        *finished(1, 10),
        ev.LearningCredited(iteration=1, learning_id=retrieved.learning_id, success=True),
        ev.ReflectionWritten(
            attempt=1,
            observation="it fell",
            analysis="",
            learning="Look at the fixture",
            action_items=["strip it"],
            triggered_by="failure",
            reflection_type="error-analysis",
        ),
    )
    assert section(text, "Plan") == (
        "Fix the lexer first\n\n1. read it\n2. mend it\n\n"
        "Estimated: about 4 iterations, from 6 runs.\n\n"
        "Based on task-001/001 #1.\n\nSimilar tasks: task-003."
    )
    assert section(text, "Learnings from earlier runs") == (
        "- Run \\<b\\>one\\</b\\> test first. (in the prompts of 1; helped in 1 of 1 counted use)"
    )
    assert section(text, "Reflections").splitlines() == ["- Look at the fixture", "  - strip it"]
    assert "`plan.md`" in text
    assert "reflections.jsonl" in text
    plain = page(*finished(1, 10))
    for title in ("## Plan", "## Learnings", "## Reflections", "plan.md"):
        assert title not in plain


def reflected(learning: str, analysis: str, *items: str, kind: str = "success-pattern") -> ev.Event:
    return ev.ReflectionWritten.model_validate(
        {
            "attempt": 1,
            "observation": "It took 6 iterations and 6s.",
            "analysis": analysis,
            "learning": learning,
            "action_items": list(items),
            "triggered_by": "success",
            "reflection_type": kind,
        }
    )


def test_what_the_attempt_teaches_is_what_is_particular_to_it() -> None:
    text = page(
        *finished(1, 10),
        ev.PlanMade(
            approach="Work in iterations, each measured, until the completion command passes."
        ),
        reflected(
            "Begin with the lexer.", "Iteration 1 brought 10 points.", "Expect about 1 iteration."
        ),
        reflected("Every iteration brought something.", "Nothing stood in its way."),
    )
    assert section(text, "Reflections").splitlines() == [
        "- Begin with the lexer.",
        "  - Iteration 1 brought 10 points.",
        "  - Expect about 1 iteration.",
        "- Every iteration brought something.",
    ]
    assert "## Plan" not in text, "a sentence of every plan is not news"


def asked(question: str, topic: str = "redirect") -> ev.QuestionAsked:
    return ev.QuestionAsked.model_validate(
        {"iteration": 1, "question_id": question, "topic": topic, "text": "?", "options": []}
    )


def test_a_question_stands_with_its_answer_among_what_happened() -> None:
    text = page(
        *finished(1, 10),
        asked("one", "criterion"),
        ev.QuestionAnswered(question_id="one", answer="decline", by="you"),
    )
    acts = section(text, "What happened").splitlines()
    assert acts == ["- iteration 1: **QUESTION** ?", "  - declined by you"]
    assert "## Warnings" not in text


def session(iteration: int, seconds: float) -> ev.Event:
    return ev.SessionFinished(iteration=iteration, outcome="success", duration_s=seconds)


def test_waiting_is_told_apart_from_the_sessions() -> None:
    # Each event comes a minute after the one before it.
    text = page(
        ev.IterationStarted(iteration=1, max_iterations=9),
        session(1, 50),
        ev.ReadingTaken(iteration=1, completion=10, source="tests"),
        asked("one"),
        ev.Paused(),
        ev.WaitStarted(iteration=1, cause="usage_limit"),
        ev.QuestionAnswered(question_id="one", answer="approve"),
        ev.WaitEnded(iteration=1, waited_s=120),
        ev.Unpaused(),
        ev.IterationFinished(iteration=1, status="incomplete", completion=10, duration_s=480),
        ev.IterationStarted(iteration=2, max_iterations=9),
        session(2, 60),
        *finished(2, 20)[1:],
        asked("two", "silence"),
        ev.QuestionWithdrawn(question_id="two", reason="it spoke"),
        ev.Paused(),
        ev.RunFinished(
            outcome="interrupted", reason="by you", iterations=2, completion=20, duration_s=18 * 60
        ),
    )
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in section(text, "Iterations").splitlines()
    ]
    reported = [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]
    assert [(row["sessions"], row["waited"]) for row in reported] == [("50s", "5m"), ("1m", "1m")]
    assert "\n- Time: 18m, including 6m of waiting, 2026-" in text
    alone = page(*finished(1, 10, duration_s=60))
    assert "waiting" not in alone
    assert "waited" not in alone


def test_an_open_wait_lasts_until_now() -> None:
    begun = journal(ev.IterationStarted(iteration=1, max_iterations=9), ev.Paused())
    assert waited(begun) == {1: 0}
    assert waited(begun, begun[-1].at + timedelta(minutes=5)) == {1: 300}


def test_a_wait_cut_off_by_a_kill_lasted_until_the_last_sign_of_life() -> None:
    begun = journal(ev.IterationStarted(iteration=1, max_iterations=9), ev.Paused())
    resumed_at = begun[-1].at + timedelta(seconds=100)
    assert waited([*begun, ev.RunResumed(away_s=60, at=resumed_at)]) == {1: 40}
    assert waited([*begun, ev.RunResumed(away_s=150, at=resumed_at)]) == {1: 0}


def test_instructions_keep_their_lines() -> None:
    text = page(
        *finished(1, 10),
        ev.InterventionMade(iteration=1, level="REDIRECT", about="stuck", reason="No rise."),
        ev.RedirectDecided(
            iteration=1,
            about="stuck",
            approved=True,
            instructions="First:\n\n- the *lexer*\n# then",
        ),
        ev.IterationStarted(iteration=2, max_iterations=9),
    )
    assert section(text, "What happened").splitlines() == [
        "- iteration 1: **REDIRECT** stuck: No rise.",
        "  - instructions sent:",
        "    > First:\\",
        "    > \\- the \\*lexer\\*\\",
        "    > \\# then",
    ]


def restored(iteration: int, snapshot: int) -> list[ev.Event]:
    taken = ev.SnapshotTaken(
        iteration=iteration, number=9, ref="x", commit="c", tree=f"t{snapshot}"
    )
    back = ev.WorktreeRestored(
        iteration=iteration, snapshot=snapshot, present=9, tree=f"t{snapshot}", files=1
    )
    return [back, taken]


def kept(iteration: int, number: int) -> list[ev.Event]:
    tree = f"t{number}"
    return [
        ev.SnapshotTaken(iteration=iteration, number=number, ref="x", commit="c", tree=tree),
        ev.CheckpointCaptured(iteration=iteration, number=number, trigger="end", snapshot=number),
    ]


def test_after_a_restore_the_gain_counts_from_the_files_that_were_found() -> None:
    text = page(*finished(1, 76), *kept(1, 1), *finished(2, 48), *restored(2, 1), *finished(3, 88))
    rows = section(text, "Iterations").splitlines()[2:]
    assert [row.split(" | ")[2:4] for row in rows] == [
        ["76 %", "—"], ["48 %", "−28"], ["88 % (from 76 %, restored)", "+12"],
    ]  # fmt: skip


def test_a_gain_is_unknown_if_files_changed_before_it_while_nothing_ran() -> None:
    changed = ev.FilesChangedAway(iteration=1, files=1)
    text = page(*finished(1, 50), changed, *finished(2, 25), *finished(3, 50))
    rows = section(text, "Iterations").splitlines()[2:]
    assert [row.split(" | ")[2:4] for row in rows] == [
        ["50 %", "—"],
        ["25 %", "—"],
        ["50 %", "+25"],
    ]
    known = page(*finished(1, 50), *kept(1, 1), changed, *restored(1, 1), *finished(2, 25))
    assert "−25" in section(known, "Iterations")


def test_a_reviewer_is_told_that_the_files_are_not_those_of_the_end() -> None:
    changes = [FileChange(path="a.py", status="modified", added=2, removed=0, category="source")]
    run = [*kept(1, 1), *finished(1, 76), *kept(2, 2), *finished(2, 100)]
    here = replace(HERE, changes=changes)
    before = report(journal(*run), here, full=False)
    assert "restored" not in before
    assert "Between the start and the last snapshot:" in before
    ended = journal(
        *run, ev.RunFinished(outcome="completed", completion=100, iterations=2, reason="x")
    )
    assert "Between the start and the end:" in report(ended, here, full=False)
    after = report(journal(*run, *restored(2, 1)), here, full=False)
    assert (
        "Then 1 file was restored to snapshot 1 by you; nothing has been measured since." in after
    )
    assert "Between the start and the restored files:" in after
    undone = report(journal(*run, *restored(2, 1), *restored(2, 2)), here, full=False)
    assert "restored" not in undone


@each_row(
    ("held", "line"),
    [
        (None, r"3 snapshots of the files, as recorded, on `refs/ralph/r/\*`; there is no repo"),
        (0, r"none of 3 snapshots of the files remain on `refs/ralph/r/\*` \(pruned"),
        (1, r"1 of 3 snapshots of the files, on `refs/ralph/r/\*`; 2 gone \(pruned"),
        (3, r"3 snapshots of the files, on `refs/ralph/r/\*`\n"),
    ],
)
def test_snapshots_are_those_that_are_there(held: int | None, line: str) -> None:
    taken = [
        ev.SnapshotTaken(iteration=1, number=n, ref="x", commit="c", tree="t") for n in (1, 2, 3)
    ]
    text = page(*finished(1, 10), *taken, circumstances=replace(HERE, held=held))
    assert re.search(f"^- {line}", text, re.MULTILINE)


def test_a_note_of_a_checkpoint_is_one_line() -> None:
    def captured(note: str, snapshot: int | None = 7) -> ev.Event:
        return ev.CheckpointCaptured(
            iteration=1, number=2, trigger="key", snapshot=snapshot, note=note
        )

    text = page(*finished(1, 10), captured(""), captured("before\nit *all*"), captured("x" * 999))
    first, second = section(text, "Checkpoints").splitlines()[-2:]
    assert first == "- iteration 1, 2026-11-20 14:05 UTC, snapshot 7: before it \\*all\\*"
    assert second.endswith("x…")
    assert len(second) < 260
    assert "no snapshot: mine" in page(*finished(1, 10), captured("mine", None))
    assert section(page(*finished(1, 10), captured("")), "Checkpoints").count("\n") == 2


def test_an_end_says_its_outcome_once() -> None:
    def ended(outcome: Outcome, reason: str) -> str:
        end = ev.RunFinished(
            outcome=outcome, reason=reason, iterations=1, completion=0, duration_s=1
        )
        return page(end)

    assert "**Aborted:** by a script; the work stays\n" in ended(
        "aborted", "aborted by a script; the work stays"
    )
    assert "**Limit reached:** the budget is used up\n" in ended(
        "limit_reached", "the budget is used up"
    )


# -- the chart -------------------------------------------------------------------------------------


def test_the_chart() -> None:
    drawn = completion_chart({0: 0, 1: 50, 2: 99.9, 4: 100}, {"best": {4: "★"}, "none": {}})
    assert drawn.splitlines() == [
        "100 ┤       ▇▇    ██",
        "    │       ██    ██",
        " 75 ┤       ██    ██",
        "    │       ██    ██",
        " 50 ┤    ██ ██    ██",
        "    │    ██ ██    ██",
        " 25 ┤    ██ ██    ██",
        "    │ ▁▁ ██ ██    ██",
        "  0 └───────────────",
        "       0  1  2  3  4",
        "                   ★  best",
    ]
    assert completion_chart({}, {}) == ""


def test_a_chart_of_very_many_iterations_takes_no_time() -> None:
    lines = completion_chart({0: 5, 10**12: float("inf")}, {"best": {10**12: "★"}}).splitlines()
    assert lines[-1].endswith("iterations, with the last measurement")
    assert max(map(len, lines)) < 90


@given(st.dictionaries(st.integers(0, 400), st.floats(0, 100), min_size=1))
def test_a_chart_always_fits(readings: dict[int, float]) -> None:
    lines = completion_chart(readings, {"best": {max(readings): "★"}}).splitlines()
    assert max(map(len, lines)) <= 6 + 60 + len("  best")
    assert len(lines) in (11, 12)
    full = any(points >= 100 for points in readings.values())
    assert full or "█" not in lines[0]


# -- foreign text ----------------------------------------------------------------------------------

HOSTILE = [
    "# heading", "a\n# heading", "a\n===", "a\n---", "***", "- item", "1. item", "> quote",
    "```\n# out\n```", "~~~\nout", "    indented", "[link](http://evil.example)", "![i](x.png)",
    "<script>alert(1)</script>", "<!-- gone", "a | b | c", "&lt;b&gt;", "`code` ``two``", "\\",
    "a\\",     "[ref]: http://evil.example", "[ref]", "<http://evil.example>", "http://evil.example",
    "www.evil.example", "me@evil.example", "@@you", "`@`", "$x$", "__bold__ _it_ snake_case",
    "", " ", "\t", "\x1b[31mred", "a  \nb", "+ plus", "[x] done", "</details>", "-->", "|", "`",
    "~~s~~",
]  # fmt: skip
foreign = st.one_of(
    st.sampled_from(HOSTILE),
    st.text("ab1 #*_-+=[]()<>!|`~\\&@:/.\n\t$", max_size=30),
    st.lists(st.sampled_from(HOSTILE), max_size=3).map("\n".join),
)
LINKS = {"link_open", "image", "html_inline", "html_block", "heading_open"}
MARKS = {
    "em_open",
    "strong_open",
    "s_open",
    "hr",
    "fence",
    "code_block",
    "code_inline",
    "list_item",
}


def tokens(markdown: str) -> list[Token]:
    flat: list[Token] = []
    for token in MARKDOWN.parse(markdown):
        flat += [token, *(token.children or [])]
    return flat


def words(markdown: str) -> str:
    found = (t.content for t in tokens(markdown) if t.type in ("text", "code_inline"))
    return "".join("".join(found).split())


@given(foreign)
@example("`@`")
@example("@``@")
def test_escaped_text_reads_as_it_is(text: str) -> None:
    shown = escaped(text)
    assert "\n" not in shown
    found = tokens(f"- {shown}\n")
    allowed = {*("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
               *("paragraph_open", "paragraph_close", "inline", "text", "code_inline")}  # fmt: skip
    assert {token.type for token in found} <= allowed
    assert sum(token.type == "list_item_open" for token in found) == 1
    assert {set(t.content) == {"@"} for t in found if t.type == "code_inline"} <= {True}
    expected = text.replace("\x1b[31m", "")
    assert words(f"- {shown}") == ("".join(expected.split()) or "—")
    assert "://" not in shown
    assert "www." not in shown.lower()


@given(foreign)
def test_quoted_text_stays_in_its_quote(text: str) -> None:
    found = [token.type for token in tokens(f"{quoted(text)}\n\nafter\n")]
    assert not LINKS & set(found)
    assert found.count("blockquote_open") == 1
    assert found.count("paragraph_open") == 2


@given(foreign)
def test_code_is_one_span_with_every_character(text: str) -> None:
    found = tokens(f"before {code(text)} after\n")
    shown = [token.content for token in found if token.type == "code_inline"]
    assert len(shown) == (1 if text.replace("\x1b[31m", "").strip() else 0)
    assert {token.type for token in found} <= {
        *("paragraph_open", "paragraph_close", "inline", "text", "code_inline")
    }


@given(st.lists(foreign, min_size=3, max_size=3))
def test_a_table_keeps_its_cells(texts: list[str]) -> None:
    found = tokens(table(("a", "b", "c"), [[escaped(text) for text in texts]]))
    assert sum(token.type == "td_open" for token in found) == 3
    assert sum(token.type == "tr_open" for token in found) == 2


def test_long_text_is_cut() -> None:
    assert len(escaped("x" * 9000)) == TEXT_LIMIT
    assert escaped("x" * 9000).endswith("…")


def poisoned(text: str) -> list[ev.Event]:
    """One event of each kind, with `text` in every free-text field."""

    def fill(value: Any) -> Any:
        match value:
            case str() if value.startswith("a "):
                return text
            case list():
                return [fill(item) for item in value]
            case dict():
                return {key: fill(item) for key, item in value.items()}
            case _:
                return value

    number = count(1)
    return [
        type(event).model_validate(fill(event.model_dump()) | {"seq": next(number), "at": NOW})
        for event in samples()
    ]


@each_row(
    "text",
    [
        "a\n# heading", "a\n---", "- item", "```\n# out\n```", "    indented",
        "[link](http://evil.example)", "![i](x.png)", "<script>alert(1)</script>", "a | b | c",
        "`code` ``two``", "\x1b[31mred", "__bold__ _it_ snake_case", "word",
    ],
)  # fmt: skip
def test_no_field_of_any_event_gets_through(text: str) -> None:
    written = report(poisoned(text), Circumstances(text, problems=[text]))
    # A path that is a word of the completion command is distinguished.
    word = "word" if text in named_files(text) else "two words"
    benign = report(poisoned(word), Circumstances(word, problems=[word]))
    assert not (LINKS - {"heading_open"}) & {token.type for token in tokens(written)}

    shapes = {"heading_open", "fence", "tr_open", "td_open", "blockquote_open", "hr"}
    shapes |= {"code_block", "strong_open", "em_open", "list_item_open"}

    def shape(markdown: str) -> list[str]:
        return [token.type for token in tokens(markdown) if token.type in shapes]

    assert shape(written) == shape(benign)
    assert "\x1b" not in written


def test_secrets_do_not_come_back() -> None:
    secret = "sk-" + "a1b2c3d4" * 4
    assert secret not in report(poisoned(secret), Circumstances(secret, problems=[secret]))


def test_a_reviewer_gets_result_tests_changes_answers_and_cost() -> None:
    changes = (FileChange(path="tests/test_a.py", status="modified", category="test", added=3),)
    page = report(DECISIONS["redirect"](), Circumstances(changes=changes), full=False)
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    wanted = ["Tests", "Check first", "Changed files", "Asked and answered", "Result and cost"]
    assert [one for one in wanted if one in titles] == [one for one in titles if one in wanted]
    assert {"Tests", "Check first", "Changed files", "Result and cost"} <= set(titles)
    assert not {"Iterations", "Completion", "Approaches", "Checkpoints", "Records"} & set(titles)
    assert "--full" in page.splitlines()[-1]
    assert len(page.splitlines()) < 60


def test_an_open_question_is_listed_without_an_answer() -> None:
    for alive, words in ((True, "waiting for an answer"), (False, "not answered")):
        for full, title in ((False, "Asked and answered"), (True, "What happened")):
            text = report(DECISIONS["pause"](), Circumstances(alive=alive), full=full)
            asked = section(text, title).splitlines()
            number = next(n for n, line in enumerate(asked) if "**PAUSE**" in line)
            assert asked[number + 1] == f"  - {words}"
            assert section(text, title).count(words) == 1


def test_the_chart_marks_every_intervention_of_an_iteration() -> None:
    events = DECISIONS["pause"]()
    abort = ev.InterventionMade(iteration=6, level="ABORT", about="stuck", reason="x")
    stamp = {"seq": events[-1].seq + 1, "at": events[-1].at}
    chart = section(report([*events, abort.model_copy(update=stamp)], HERE), "Completion")
    rows = {line.split()[-1]: line.split()[0] for line in chart.splitlines()}
    assert (rows["pause"], rows["abort"], rows["redirect"]) == ("P", "A", "R")


@each_row(
    ("mode", "said"),
    [("acceptEdits", "may edit files"), ("default", "asks before changes and commands")],
)
def test_a_watched_loop_shows_the_permissions_of_its_own_journal(mode: str, said: str) -> None:
    start = START.model_copy(
        update={"watched": True, "agent": "claude", "permissions": "unrestricted"}
    )
    described = ev.SessionDescribed(iteration=1, permission_mode=mode)
    text = report(
        journal(ev.IterationStarted(iteration=1, max_iterations=9), described, start=start), HERE
    )
    facts = [line for line in text.splitlines() if line.startswith(("- Permissions", "- Started"))]
    assert facts == [
        f"- Permissions: {said}",
        "- Started: by its user, watched by hooks, with at most 9 iterations",
    ]
