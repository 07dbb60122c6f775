"""Assess an iteration's results, to guide the next one and to estimate progress roughly.

The assessment is made from evidence before the measurement, because its estimate may become the
measurement. It is recorded right after the measurement. Its summary consists of ralph-tui's own
words and numbers; everything else may quote others.
"""

import re
from collections.abc import Iterator, Sequence

from ralph_tui.events import AgentReported, AssessmentMade, GateFinished
from ralph_tui.events.intelligence import Blocker, BlockerSource, Statement, TestStatus, WorkPhase
from ralph_tui.layers.intelligence.accomplishments import (
    TestDiff,
    accomplishments,
    compare,
    loop_words,
    sentences,
    short,
)
from ralph_tui.layers.intelligence.context_files import context_files
from ralph_tui.layers.intelligence.evidence import Evidence
from ralph_tui.layers.intelligence.patterns import patterns, tool_blockers
from ralph_tui.layers.memory.issues import without_details
from ralph_tui.layers.memory.similarity import similar
from ralph_tui.text.format import count, duration, place

MAX_REPORTED = 10
MAX_GUESSES = 2

_OBSTACLE = re.compile(
    r"""\b(?:blocked\ (?:by|on)|unable\ to|permission\ denied|no\ (?:access|network|internet)
    |(?:could|can|did)(?:\ ?not|n['’]t)\ (?:be\ )?(?:access|connect|download|find|get|install
        |open|reach|read|resolve|run|start|write)
    |(?:is|are)(?:\ not|n['’]t)\ (?:available|installed)|need(?:s)?\ (?:access|credentials))\b""",
    re.IGNORECASE | re.VERBOSE,
)


def blockers(evidence: Evidence) -> list[Blocker]:
    """Return blockers shown by evidence, then reported ones; guess from words if there are neither.

    Failing tests are not blockers: they are the task.
    """
    found = [*_command_blocker(evidence), *tool_blockers(evidence.calls)]
    if evidence.report is not None:
        return [*found, *_reported(evidence.report, evidence.previous)]
    if found:
        return found
    guesses = (each for each in sentences(evidence.words) if _OBSTACLE.search(each))
    return [_blocker("text", each) for each, _ in zip(guesses, range(MAX_GUESSES), strict=False)]


def same_blocker(one: str, other: str) -> bool:
    """True if both say the same, ignoring numbers, paths and addresses."""
    one, other = without_details(one), without_details(other)
    return one.casefold() == other.casefold() or similar(one, other)


def _blocker(source: BlockerSource, text: str, *, standing: bool = False) -> Blocker:
    return Blocker(text=short(text), source=source, standing=standing)


def _command_blocker(evidence: Evidence) -> Iterator[Blocker]:
    gate = evidence.gate
    if gate is None:
        return
    if gate.error:
        text = f"the completion command cannot run: {gate.error}"
        yield _blocker("gate", text, standing=True)
    elif gate.timed_out:
        text = f"the completion command ran out of time after {duration(gate.duration_s)}"
        yield _blocker("gate", text, standing=True)


def _reported(report: AgentReported, previous: AgentReported | None) -> Iterator[Blocker]:
    before = previous.blockers[:MAX_REPORTED] if previous else []
    for text in report.blockers[:MAX_REPORTED]:
        if text.strip():
            again = any(same_blocker(text, other) for other in before)
            yield _blocker("report", text, standing=again)


PENDING_TESTS = 10
PENDING_ITEMS = 5
"""Maximum number of pending tests, and of plan items, listed one by one."""
MAX_LEARNINGS = 10
LATE, MID = 80.0, 40.0
"""Points of progress above which the phase is late or mid."""
MANY = 3
"""With more accomplishments than this and passing tests, the work counts as complete."""

ENDS = {
    "error": "the session failed",
    "crashed": "the agent's process died",
    "not_started": "the agent did not start",
    "limited": "a limit of the service ended the session",
    "context_full": "the session ran out of context",
    "rolled_over": "the session handed off, and no session continued it",
    "max_turns": "the session used up its turns",
    "budget": "the session used up its budget",
    "interrupted": "the session was interrupted",
    "silent": "the session stopped responding",
    "timeout": "the session ran out of time",
    "stopped": "the session was stopped",
}
"""Descriptions of all outcomes except a normal end."""


def estimate_progress(
    *,
    accomplishments: int = 0,
    files: int = 0,
    tests: tuple[int, int] | None = None,
    blockers: int = 0,
) -> float:
    """Estimate points, 0-100, from activity, if nothing can be counted.

    `files` counts added or modified files. `tests`: how many passed and failed, None if no tests
    ran.
    """
    points = min(10 * accomplishments, 30) + min(5 * files, 25) - 10 * blockers
    if tests is not None and any(tests):
        passed, failed = tests
        points += 30 if not failed else int(20 * passed / (passed + failed))
    return float(max(0, min(100, points)))


def work_phase(progress: float, *, tests_pass: bool, accomplished: int) -> WorkPhase:
    """Return the phase of the work; `progress` is in points."""
    if tests_pass and accomplished > MANY:
        return "complete"
    if progress > LATE:
        return "late"
    return "mid" if progress > MID else "early"


def assess(evidence: Evidence) -> AssessmentMade:
    """Assess the iteration: its results, the open work and the blockers."""
    passes, tests = compare(evidence.before, evidence.gate), test_status(evidence.gate)
    done, in_the_way = accomplishments(evidence, passes), blockers(evidence)
    files = evidence.files
    progress = estimate_progress(
        accomplishments=len(done),
        files=sum(change.status != "deleted" for change in files.changes) if files else 0,
        tests=(tests.passed, tests.failed) if tests else None,
        blockers=len(in_the_way),
    )
    pass_now = tests.passed > 0 and not tests.failed if tests else _green(evidence.gate)
    pending = [*_pending(evidence, passes)]
    return AssessmentMade(
        iteration=evidence.iteration,
        summary=_summary(evidence, passes, tests, done),
        phase=work_phase(progress, tests_pass=pass_now, accomplished=len(done)),
        progress=progress,
        accomplishments=done,
        pending=pending,
        blockers=in_the_way,
        learnings=[short(each) for each in _learnings(evidence)[:MAX_LEARNINGS]],
        found_out=[short(each) for each in evidence.found_out],
        last_action=_last_action(evidence),
        next_step=_next_step(evidence, passes, in_the_way),
        tests=tests,
        patterns=patterns(evidence, blocked=any(one.standing for one in in_the_way)),
        context_files=context_files(evidence),
        transcript=evidence.transcript,
        missing=[*_missing(evidence)],
    )


def unassessed(iteration: int) -> AssessmentMade:
    """Return the assessment to record if `assess` failed."""
    return AssessmentMade(
        iteration=iteration,
        summary="The iteration could not be assessed.",
        missing=["the assessment failed: only the measurement is known"],
    )


def test_status(gate: GateFinished | None) -> TestStatus | None:
    """Return the completion command's counts; None if there are none or they were cut off.

    No test ran if the command could not run, its build is broken, or it counted none.
    """
    if gate is None or gate.timed_out:
        return None
    if gate.error or gate.broken:
        return TestStatus(ran=False)
    if gate.passed is None:
        return None
    passed, failed, skipped = gate.passed, gate.failed + gate.errors, gate.skipped
    return TestStatus(
        ran=passed + failed > 0,
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=passed + failed + skipped,
    )


test_status.__test__ = False  # type: ignore[attr-defined]  # not a test despite its name


def _green(gate: GateFinished | None) -> bool:
    return gate is not None and gate.ok


def _failing(evidence: Evidence, passes: TestDiff) -> Sequence[str]:
    """Return failing tests; those that did not fail before come first."""
    gate = evidence.gate
    if gate is None or gate.broken or not passes.newly_failing:
        return gate.failing if gate and not gate.broken else ()
    new_names = set(passes.newly_failing)
    return [*passes.newly_failing, *(name for name in gate.failing if name not in new_names)]


def _pending(evidence: Evidence, passes: TestDiff) -> Iterator[str]:
    """Yield open work: failing tests, plan items, and the agent's next step."""
    failing, gate = _failing(evidence, passes), evidence.gate
    new_count = len(passes.newly_failing)
    for number, name in enumerate(failing[:PENDING_TESTS]):
        new = " (did not fail before)" if number < new_count else ""
        yield f"{short(name, 170)} fails{new}"
    if gate is not None and not gate.broken:
        more = gate.unnamed + max(0, len(failing) - PENDING_TESTS)
        if more:
            yield f"{count(more, 'more test')} {'fails' if more == 1 else 'fail'}"
    items = _open_items(evidence)
    yield from (f"in the plan: {short(item, 180)}" for item in items[:PENDING_ITEMS])
    if len(items) > PENDING_ITEMS:
        yield f"{count(len(items) - PENDING_ITEMS, 'more item')} in the plan"
    yield from (short(loop_words(loop)) for loop in evidence.traces.loops if not loop.success)
    if evidence.report is not None and evidence.report.next.strip():
        yield short(evidence.report.next)


def _open_items(evidence: Evidence) -> list[str]:
    if evidence.plan is None:
        return [evidence.next_item] if evidence.next_item else []
    return [text for text, done in evidence.plan.items if not done]


def _next_step(evidence: Evidence, passes: TestDiff, found: Sequence[Blocker]) -> str:
    gate, items = evidence.gate, _open_items(evidence)
    if gate is not None and gate.broken:
        return f"Repair the build: {short(gate.broken, 180)}"
    if any(each.source == "gate" for each in found):
        return "Get the completion command working again."
    if failing := _failing(evidence, passes):
        return f"Make {short(failing[0], 180)} pass."
    if items:
        return f"Do the next plan item: {short(items[0], 170)}"
    if evidence.report is not None and evidence.report.next.strip():
        return short(evidence.report.next)
    if gate is not None and not gate.ok:
        return "Find out from the completion command's output why it fails."
    return ""


def _learnings(evidence: Evidence) -> list[str]:
    said = evidence.report.learnings if evidence.report else []
    return [each for each in said if each.strip()]


def _last_action(evidence: Evidence) -> str:
    call = next((each for each in reversed(evidence.calls) if not each.nested), None)
    if call is not None:
        return short(f"{call.tool}: {call.text}" if call.text else call.tool)
    return short(f"changed {evidence.last_change}") if evidence.last_change else ""


def _summary(
    evidence: Evidence, passes: TestDiff, tests: TestStatus | None, done: Sequence[Statement]
) -> str:
    """Return one line in ralph-tui's own words: no names, no quotes."""
    parts = [*_counted(evidence, passes, tests)]
    if evidence.iteration:
        files = evidence.files
        changed = sum(total.files for total in files.totals) if files else 0
        if files is not None:
            parts.append(f"{count(changed, 'file')} changed" if changed else "no files changed")
        if commits := len(evidence.traces.commits):
            parts.append(count(commits, "commit"))
        if evidence.ticked:
            parts.append(f"{count(len(evidence.ticked), 'plan item')} ticked")
        if done and all(each.source == "text" for each in done):
            parts.append("no evidence for what the agent says it did")
        if evidence.ended is not None and evidence.ended.outcome in ENDS:
            parts.append(ENDS[evidence.ended.outcome])
    text = "; ".join(parts) or "nothing is known about the iteration"
    return f"{text[0].upper()}{text[1:]}."


def _counted(evidence: Evidence, passes: TestDiff, tests: TestStatus | None) -> Iterator[str]:
    gate = evidence.gate
    if gate is None:
        return
    if gate.error:
        yield "the completion command cannot run"
    elif gate.timed_out:
        yield "the completion command ran out of time"
    elif gate.broken:
        since = evidence.broken_since
        broken = "is broken" if since is None else f"has been broken since {place(since)}"
        yield f"the build {broken}"
    elif tests is not None and not tests.ran:
        yield f"no tests ran; the completion command {'passed' if gate.ok else 'failed'}"
    elif tests is not None:
        counted = tests.passed + tests.failed
        yield f"{tests.passed} of {count(counted, 'test')} {'pass' if counted != 1 else 'passes'}"
        if passes.more:
            yield f"{abs(passes.more)} {'more' if passes.more > 0 else 'fewer'} than before"
        if passes.newly_failing:
            yield f"{len(passes.newly_failing)} newly failing"
        if gate.ok:
            yield "the completion command passed"
    else:
        yield "the completion command passed" if gate.ok else "the completion command failed"


def _missing(evidence: Evidence) -> Iterator[str]:
    """Yield the kinds of evidence that were unavailable."""
    gate = evidence.gate
    if gate is None or gate.passed is None or gate.timed_out:
        yield "test counts"
    elif gate.unnamed or (evidence.before is not None and evidence.before.unnamed):
        yield "the names of all failing tests"
    if evidence.planned and evidence.plan is None:
        yield "the plan"
    if not evidence.iteration:
        return
    if evidence.before is None and gate is not None:
        yield "the completion command's earlier result"
    if evidence.files is None:
        yield "the changed files"
    if evidence.report is None:
        yield "the agent's report"
    if not evidence.calls:
        yield "tool calls"
    yield from evidence.traces.missing
