"""Each rule of the assessment of an iteration, from evidence alone."""

from dataclasses import replace

from ralph_tui.events import AgentReported, FilesChanged, GateFinished, SessionFinished
from ralph_tui.events.base import EPOCH
from ralph_tui.events.intelligence import Blocker, Statement
from ralph_tui.events.workspace import Category, CategoryTotal, ChangeStatus, FileChange
from ralph_tui.layers.intelligence import Evidence, InnerLoop, Traces, assess
from ralph_tui.layers.intelligence.accomplishments import NAMED, compare
from ralph_tui.layers.intelligence.assessment import estimate_progress, same_blocker, work_phase
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.state import AgentRow
from tests.rows import each_row


def gate(passed: int, *failing: str, unnamed: int = 0, **fields: object) -> GateFinished:
    data = {
        "iteration": 1,
        "ok": not failing,
        "passed": passed,
        "failed": len(failing) + unnamed,
        "failing": failing,
    }
    return GateFinished.model_validate(data | fields)


def files(*paths: str, status: ChangeStatus = "modified", more: int = 0) -> FilesChanged:
    category: Category = "source"
    changes = [FileChange(path=path, status=status, category=category) for path in paths]
    totals = [CategoryTotal(category=category, files=len(paths) + more)] if paths else []
    return FilesChanged(iteration=1, live=False, totals=totals, changes=changes)


def report(**fields: object) -> AgentReported:
    return AgentReported.model_validate({"iteration": 1, **fields})


def call(tool: str, result: str = "3 lines", *, ok: bool = False, text: str = "x.py") -> AgentRow:
    return AgentRow(1, EPOCH, 1, "tool", text, tool=tool, ok=ok, result=result)


def texts(found: list[Statement] | list[Blocker]) -> list[str]:
    return [each.text for each in found]


# -- estimate and phase ----------------------------------------------------------------------


@each_row(
    ("accomplished", "changed", "tests", "blockers", "points"),
    [
        (0, 0, None, 0, 0),
        (2, 0, None, 0, 20),
        (9, 0, None, 0, 30),
        (0, 3, None, 0, 15),
        (0, 50, None, 0, 25),
        (0, 0, (7, 0), 0, 30),
        (0, 0, (0, 0), 0, 0),
        (0, 0, (2, 1), 0, 13),
        (0, 0, (0, 5), 0, 0),
        (9, 9, (9, 0), 0, 85),
        (9, 9, (9, 0), 3, 55),
        (0, 0, None, 4, 0),
    ],
)
def test_the_estimate(
    accomplished: int, changed: int, tests: tuple[int, int] | None, blockers: int, points: int
) -> None:
    made = estimate_progress(
        accomplishments=accomplished, files=changed, tests=tests, blockers=blockers
    )
    assert made == points


@each_row(
    ("progress", "tests_pass", "accomplished", "phase"),
    [
        (40, False, 0, "early"),
        (41, False, 0, "mid"),
        (80, False, 9, "mid"),
        (81, False, 9, "late"),
        (10, True, 3, "early"),
        (10, True, 4, "complete"),
        (85, True, 4, "complete"),
    ],
)
def test_the_phase(progress: float, tests_pass: bool, accomplished: int, phase: str) -> None:  # noqa: FBT001
    assert work_phase(progress, tests_pass=tests_pass, accomplished=accomplished) == phase


def test_progress_is_computed_before_the_phase() -> None:
    """Five accomplishments, five files and passing tests: 85 points; alone they would be late."""
    names = [f"t{n}" for n in range(4)]
    made = assess(Evidence(1, gate=gate(9), before=gate(5, *names), files=files(*"abcde")))
    assert (made.progress, made.phase) == (85, "complete")
    red = assess(replace(Evidence(1, gate=gate(5, *names), files=files(*"abcde"))))
    assert (red.progress, red.phase) == (10 + 25 + int(20 * 5 / 9), "mid")


# -- accomplishments -------------------------------------------------------------------------


def test_tests_that_newly_pass_are_named() -> None:
    made = assess(Evidence(2, gate=gate(3, "c"), before=gate(1, "a", "b", "c")))
    assert texts(made.accomplishments) == ["a now passes", "b now passes"]
    assert {each.source for each in made.accomplishments} == {"tests"}
    assert made.tests is not None
    assert (made.tests.passed, made.tests.failed, made.tests.total) == (3, 1, 4)


@each_row(
    ("before", "now", "expected"),
    [
        (gate(1, "a", "b", unnamed=3), gate(3, "b"), "2 more tests pass"),
        (gate(1, "a", "b"), gate(2, unnamed=1), "1 more test passes"),
        (gate(1, "a", "b", "c"), gate(2, "c"), "1 more test passes"),
        (gate(5, "a"), gate(5), None),
        (gate(1, "a"), gate(0, timed_out=True), None),
        (gate(1, "a", timed_out=True), gate(9), None),
        (None, gate(9), None),
        (gate(1, "a"), None, None),
    ],
)
def test_where_names_cannot_tell_counts_do(
    before: GateFinished | None, now: GateFinished | None, expected: str | None
) -> None:
    assert compare(before, now).by_name is None
    made = assess(Evidence(2, gate=now, before=before))
    assert texts(made.accomplishments) == ([expected] if expected else [])


def test_new_tests_that_pass_are_counted_beside_names() -> None:
    made = assess(Evidence(2, gate=gate(6), before=gate(3, "a")))
    assert texts(made.accomplishments) == ["a now passes", "2 more tests pass"]


def test_errors_are_among_the_names() -> None:
    before = gate(3, "a", errors=1, failed=0)
    assert compare(before, gate(4)).by_name == ("a",)


def test_many_names_are_not_all_told() -> None:
    names = [f"test_{n}" for n in range(2000)]
    made = assess(Evidence(2, gate=gate(2000), before=gate(0, *names)))
    assert len(made.accomplishments) == NAMED + 1
    assert made.accomplishments[-1].text == "1990 more failing tests now pass"


def test_files_commits_and_plan_items_are_told() -> None:
    made = assess(
        Evidence(
            1,
            files=files("a.py", "b.py", "c.py", "d.py", status="added", more=7),
            traces=Traces(commits=("Add a", "Add b")),
            ticked=("Write the lexer",),
        )
    )
    assert [(each.source, each.text) for each in made.accomplishments] == [
        ("plan", "ticked in the plan: Write the lexer"),
        ("commits", "committed: Add a"),
        ("commits", "committed: Add b"),
        ("files", "files: 4 added (a.py, b.py, c.py and 1 more), 7 more changed"),
    ]


def test_deleting_files_is_no_accomplishment() -> None:
    made = assess(Evidence(1, files=files("a.py", status="deleted")))
    assert not made.accomplishments
    assert made.progress == 0
    assert made.summary == "1 file changed."


def test_a_loop_inside_the_session_is_one_line() -> None:
    loop = InnerLoop(2, 10, success=True, words="all pass")
    made = assess(Evidence(1, traces=Traces(loops=(loop,))))
    (line,) = made.accomplishments
    assert line.source == "loop"
    assert line.text == "a loop inside the session reached its goal at iteration 2 of 10: all pass"
    cut_off = assess(Evidence(1, traces=Traces(loops=(replace(loop, success=False),))))
    assert not cut_off.accomplishments
    assert cut_off.pending == ["a loop inside the session stopped at iteration 2 of 10: all pass"]


def test_each_loop_inside_the_session_is_told_with_its_task() -> None:
    loops = (InnerLoop(1, task="Fix a", success=True), InnerLoop(2, task="Fix b", active=True))
    made = assess(Evidence(1, traces=Traces(loops=loops)))
    assert [each.text for each in made.accomplishments] == [
        "a loop inside the session (Fix a) reached its goal at iteration 1"
    ]
    assert made.pending == ["a loop inside the session (Fix b) is at iteration 2"]


def test_words_count_only_without_evidence_and_are_marked() -> None:
    words = "Let me see.\n- Fixed the lexer. I've also added a test.\nNothing else was touched."
    (first, second) = assess(Evidence(1, words=words)).accomplishments
    assert (first.source, second.source) == ("text", "text")
    assert (first.text, second.text) == ("- Fixed the lexer.", "I've also added a test.")
    reported = assess(Evidence(1, words=words, report=report(summary="did it"))).accomplishments
    assert [(each.source, each.text) for each in reported] == [("report", "did it")]
    (shown,) = assess(Evidence(1, words=words, files=files("a.py"))).accomplishments
    assert shown.source == "files"


# -- blockers --------------------------------------------------------------------------------


def test_a_completion_command_without_an_answer_is_a_standing_blocker() -> None:
    broken = GateFinished(iteration=1, ok=False, error="pytest was not found; install it")
    (one,) = assess(Evidence(1, gate=broken)).blockers
    assert (one.source, one.standing) == ("gate", True)
    assert "pytest was not found" in one.text
    late = GateFinished(iteration=1, ok=False, timed_out=True, duration_s=600)
    made = assess(Evidence(1, gate=late, before=gate(1, "a")))
    assert [(each.text, each.standing) for each in made.blockers] == [
        ("the completion command ran out of time after 10m", True)
    ]
    assert made.next_step == "Get the completion command working again."
    assert made.progress == 0


def test_failing_tests_are_no_blocker() -> None:
    assert not assess(Evidence(1, gate=gate(0, "a", "b"))).blockers


def test_a_tool_that_fails_three_times_in_the_same_way_is_a_standing_blocker() -> None:
    made = assess(Evidence(1, calls=tuple(call("Edit", f"/x/{n}: not found") for n in range(3))))
    (one,) = made.blockers
    assert (one.source, one.standing) == ("tool", True)
    assert one.text == "Edit failed 3 times in the same way: /x/2: not found"


@each_row(
    "calls",
    [
        [call("Edit", "no")] * 2,
        [*[call("Edit", "no")] * 3, call("Edit", "+1", ok=True)],
        [call("Edit", "no"), call("Edit", "no"), call("Edit", "another reason")],
        [call("Edit", "no"), call("Write", "no"), call("Read", "no")],
        [call("Bash", "exit 1")] * 9,
        [call("Bash", "interrupted")] * 3,
        [call("Bash", "no answer")] * 3,
        [call("Read", "3 lines", ok=True)] * 9,
        [call("Bash", "denied", text=text) for text in ("rm a", "rm b", "rm c")],
        [*[call("Bash", "denied")] * 3, call("Bash", "1 line", ok=True)],
    ],
)
def test_other_failures_of_tools_are_no_blocker(calls: list[AgentRow]) -> None:
    assert not assess(Evidence(1, calls=tuple(calls))).blockers


@each_row("result", ["exit 127", "exit 126", "denied"])
def test_what_cannot_be_run_or_is_not_permitted_three_times_is_in_the_way(result: str) -> None:
    (one,) = assess(Evidence(1, calls=(call("Bash", result),) * 3)).blockers
    assert one.standing


def test_a_reported_blocker_stands_when_the_report_before_had_it_too() -> None:
    first = report(blockers=["Cannot reach db-1.example:5432", "No disk"])
    again = report(blockers=["cannot reach db-2.example:5433.", "Licence expired"])
    made = assess(Evidence(2, report=again, previous=first))
    assert [(each.source, each.standing) for each in made.blockers] == [
        ("report", True),
        ("report", False),
    ]
    assert not any(each.standing for each in assess(Evidence(1, report=first)).blockers)


@each_row(
    ("one", "other", "same"),
    [
        ("No network.", "no network", True),
        ("Port 8080 is taken", "Port 8081 is taken", True),
        ("The token has expired", "The disk is full", False),
    ],
)
def test_whether_two_blockers_are_one(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert same_blocker(one, other) is same


def test_words_about_blockers_count_only_where_nothing_else_is_said() -> None:
    words = "I was unable to reach the database. Everything else is fine."
    (one,) = assess(Evidence(1, words=words)).blockers
    assert (one.source, one.standing) == ("text", False)
    assert one.text == "I was unable to reach the database."
    assert not assess(Evidence(1, words=words, report=report(blockers=[]))).blockers


def test_each_blocker_takes_ten_points() -> None:
    base = Evidence(1, gate=gate(5), files=files(*"abc"))
    free = assess(base).progress
    blocked = assess(replace(base, report=report(blockers=["a thing", "another matter"])))
    assert blocked.progress == free - 20


@each_row(
    ("result", "ran", "summary"),
    [
        (GateFinished(iteration=1, ok=False, error="no such command"), False,
         "The completion command cannot run."),
        (gate(3, "a", broken="SyntaxError in b.py"), False, "The build is broken."),
        (gate(0), False, "No tests ran; the completion command passed."),
        (gate(0, skipped=4, ok=False), False, "No tests ran; the completion command failed."),
        (gate(3, "a"), True, "3 of 4 tests pass."),
    ],
)  # fmt: skip
def test_whether_tests_ran_is_said(result: GateFinished, ran: bool, summary: str) -> None:  # noqa: FBT001
    made = assess(Evidence(0, gate=result))
    assert made.tests is not None
    assert made.tests.ran is ran
    assert ran or not (made.tests.passed or made.tests.failed)
    assert made.summary == summary


@each_row("result", [None, gate(3, timed_out=True), GateFinished(iteration=1, ok=False)])
def test_whether_tests_ran_may_be_unknown(result: GateFinished | None) -> None:
    assert assess(Evidence(0, gate=result)).tests is None


# -- what remains, what comes next -----------------------------------------------------------


def test_what_remains_is_tests_then_items_then_the_agents_words() -> None:
    plan = Progress(1, 3, (("Lexer", True), ("Parser", False), ("Printer", False)))
    said = report(next="write the parser", learnings=["Tabs count.", " "])
    made = assess(Evidence(1, gate=gate(1, "test_a"), plan=plan, planned=True, report=said))
    assert made.pending == [
        "test_a fails",
        "in the plan: Parser",
        "in the plan: Printer",
        "write the parser",
    ]
    assert made.next_step == "Make test_a pass."
    assert made.learnings == ["Tabs count."]
    green = assess(Evidence(1, gate=gate(1), plan=plan, report=said))
    assert green.next_step == "Do the next plan item: Parser"
    assert assess(Evidence(1, gate=gate(1), report=said)).next_step == "write the parser"


def test_what_broke_comes_first() -> None:
    made = assess(Evidence(2, gate=gate(4, "a", "z"), before=gate(5, "a")))
    assert made.pending == ["z fails (did not fail before)", "a fails"]
    assert made.next_step == "Make z pass."
    assert "1 fewer than before; 1 newly failing" in made.summary


def test_of_many_failing_tests_some_are_named_and_all_counted() -> None:
    made = assess(Evidence(1, gate=gate(1, *(f"t{n}" for n in range(30)), unnamed=5)))
    assert made.pending[-1] == "25 more tests fail"
    assert len(made.pending) == 11


def test_the_last_items_of_a_plan_that_is_gone_stand() -> None:
    made = assess(Evidence(1, planned=True, next_item="Parser"))
    assert made.pending == ["in the plan: Parser"]
    assert "the plan" in made.missing


def test_a_command_that_fails_without_counts_is_the_next_step() -> None:
    failed = GateFinished(iteration=1, ok=False, exit_code=2)
    made = assess(Evidence(1, gate=failed))
    assert made.next_step == "Find out from the completion command's output why it fails."
    assert made.tests is None


def test_the_last_action_is_the_last_call_of_the_agent_itself() -> None:
    nested = replace(call("Read", ok=True), nested=True)
    done = (call("Edit", ok=True, text="a.py"), nested)
    assert assess(Evidence(1, calls=done)).last_action == "Edit: a.py"
    assert assess(Evidence(1, last_change="b.py")).last_action == "changed b.py"
    assert assess(Evidence(1)).last_action == ""


# -- the summary -----------------------------------------------------------------------------


def test_the_summary_is_in_our_own_words() -> None:
    made = assess(
        Evidence(
            3,
            gate=gate(7, "evil test"),
            before=gate(5, "evil test", "b", "c"),
            files=files("evil.py"),
            traces=Traces(commits=("evil subject",)),
            ticked=("evil item",),
            ended=SessionFinished(iteration=3, outcome="max_turns", reason="evil reason"),
            report=report(summary="evil summary"),
        )
    )
    assert made.summary == (
        "7 of 8 tests pass; 2 more than before; 1 file changed; 1 commit; 1 plan item ticked; the "
        "session used up its turns."
    )
    assert "evil" not in made.summary


def test_the_baseline_says_what_there_is_to_do() -> None:
    made = assess(Evidence(0, gate=gate(1, "a")))
    assert made.summary == "1 of 2 tests pass."
    assert not made.accomplishments
    assert made.missing == []


def test_what_could_not_be_looked_at_is_said() -> None:
    made = assess(Evidence(4, traces=Traces(missing=("commits",))))
    assert made.missing == [
        *("test counts", "the changed files", "the agent's report", "tool calls"),
        "commits",
    ]
    assert made.summary == "Nothing is known about the iteration."
    assert made.phase == "early"
