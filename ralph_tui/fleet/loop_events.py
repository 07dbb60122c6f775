"""What each event of a fleet's journal changes in the loop that it is about: its fold."""

from collections.abc import Callable
from typing import Any

from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.ports.clones import Earlier

COURSE = 200
"""Readings of a loop that are kept, the last ones."""


def take(loop: LoopState, event: FleetEvent) -> None:
    """Take an event about this loop in."""
    _HANDLERS[type(event)](loop, event)


def _placed(loop: LoopState, event: told.LoopPlaced) -> None:
    if event.resumed:
        loop.resumes += 1
    else:
        loop.earlier_cost_usd, loop.cost_usd = loop.spent_usd, None
        loop.run_id = loop.run = loop.folder = ""
        loop.ports, loop.began_at, loop.away_s = None, None, 0.0
        loop.iteration, loop.best, loop.tokens = 0, None, 0
        loop.completions = []
        loop.tree_removed = False
    loop.status, loop.attempt, loop.host = "placing", event.attempt, event.host
    loop.again = False
    loop.branch, loop.given_usd, loop.placed_at = event.branch, event.budget_usd, event.at
    loop.machine = loop.stage = loop.reason = ""
    loop.resuming = False
    loop.stop_asked = loop.stop_reason = ""
    loop.lost_at = loop.lost_until = loop.ended_at = loop.retried_at = None
    _quiet(loop)


def _staged(loop: LoopState, event: told.LoopStage) -> None:
    loop.stage = event.stage


def _began(loop: LoopState, event: told.LoopBegan) -> None:
    loop.status, loop.stage = "running", ""
    loop.not_collected, loop.work_gone = "", False
    loop.run_id, loop.run, loop.folder = event.run_id, event.run, event.folder
    loop.ports, loop.began_at = event.ports, loop.began_at or event.at
    loop.machine = event.machine or loop.machine


def _progressed(loop: LoopState, event: told.LoopProgressed) -> None:
    if event.phase != loop.phase:
        loop.phase_at = event.at
    loop.phase, loop.waits_for, loop.verdict = event.phase, event.waits_for, event.verdict
    loop.question, loop.question_id = event.question, event.question_id
    loop.until, loop.progressed_at = event.until, event.at
    if event.completion is not None:  # one reading per iteration; the last said of it counts
        kept = loop.completions if event.iteration != loop.iteration else loop.completions[:-1]
        loop.completions = [*kept, event.completion][-COURSE:]
    loop.iteration, loop.max_iterations = event.iteration, event.max_iterations
    loop.best, loop.tokens = event.best, event.tokens
    loop.away_s = event.away_s
    if event.cost_usd is not None:
        loop.cost_usd = event.cost_usd


def _lost(loop: LoopState, event: told.LoopLost) -> None:
    loop.status, loop.lost_at, loop.lost_until = "lost", event.at, event.until


def _adopted(loop: LoopState, event: told.LoopAdopted) -> None:
    loop.status = "running" if loop.began_at else "placing"
    loop.host = event.host
    loop.resuming = False
    if loop.stop_reason:  # what the fleet has told it may be lost: it is told again
        loop.stop_asked = loop.stop_reason = ""
    loop.lost_at = loop.lost_until = None


def _retried(loop: LoopState, event: told.LoopRetried) -> None:
    loop.retried_at = event.at


def _stop_asked(loop: LoopState, event: told.LoopStopAsked) -> None:
    loop.stop_asked, loop.stop_reason = "now" if event.now else "after_iteration", event.reason


def _commanded(loop: LoopState, event: told.CommandGiven) -> None:
    """Whoever stops a single loop does not want it to go on by itself."""
    if event.name == "stop" and not event.refused:
        loop.stop_asked = loop.stop_asked or "after_iteration"


def _ended(loop: LoopState, event: told.LoopEnded) -> None:
    loop.status, loop.outcome, loop.reason = "ended", event.outcome, event.reason
    loop.never_began, loop.elsewhere, loop.ended_at = event.never_began, event.elsewhere, event.at
    if event.elsewhere:
        loop.not_on |= {loop.host}
    loop.changed_lines = event.changed_lines
    loop.iteration = event.iterations or loop.iteration
    if event.cost_usd is not None:
        loop.cost_usd = event.cost_usd
    if event.completion is not None:
        loop.completions = [*loop.completions[:-1], event.completion]
    loop.stage = ""
    loop.lost_at = loop.lost_until = None
    _quiet(loop)


def _requeued(loop: LoopState, event: told.LoopRequeued) -> None:
    if loop.commit and loop.branch:
        loop.earlier = Earlier(loop.branch, loop.commit, loop.attempt, loop.host)
    if loop.run_id and not event.resume and not loop.work_gone:
        loop.left = {**loop.left, loop.attempt: loop.host}
    if loop.never_began:
        loop.unbegun = loop.attempt
    loop.end_heard = loop.status == "ended"
    loop.status, loop.outcome, loop.reason = "queued", None, event.reason
    loop.resuming = event.resume
    loop.never_began = loop.elsewhere = loop.again = False
    loop.lost_at = loop.lost_until = loop.ended_at = None
    loop.work_gone = loop.work_gone and event.resume  # another attempt has another tree
    loop.ask_again()
    loop.commit = loop.stage = ""
    loop.collected = loop.collecting = loop.verifying = False
    loop.verified, loop.changed_lines = None, None
    _quiet(loop)


def _skipped(loop: LoopState, event: told.LoopSkipped) -> None:
    loop.status, loop.reason, loop.ended_at = "skipped", event.reason, event.at
    loop.aborted = event.aborted


def _tree_removed(loop: LoopState, _: told.TreeRemoved) -> None:
    loop.tree_removed = True


def _collection_asked(loop: LoopState, _: told.CollectionAsked) -> None:
    loop.collecting, loop.not_collected = True, ""


def _collected(loop: LoopState, event: told.ResultCollected) -> None:
    loop.collected, loop.collecting, loop.not_collected = True, False, ""
    loop.branch, loop.commit, loop.files = event.branch, event.commit, event.files
    loop.better, loop.record = event.best, event.record
    if event.changed_lines is not None:
        loop.changed_lines = event.changed_lines


def _kept(loop: LoopState, event: told.AttemptKept) -> None:
    loop.left = {number: host for number, host in loop.left.items() if number != event.attempt}
    if event.branch:
        loop.kept = {**loop.kept, event.attempt: event.branch}


def _collection_failed(loop: LoopState, event: told.CollectionFailed) -> None:
    loop.collecting, loop.not_collected = False, event.reason or "it is not known why"
    loop.work_gone = event.final
    if event.final:
        loop.left = {number: on for number, on in loop.left.items() if number != loop.attempt}


def _verification_began(loop: LoopState, _: told.VerificationBegan) -> None:
    loop.verifying = True


def _verified(loop: LoopState, event: told.WinnerVerified) -> None:
    loop.verifying, loop.verified, loop.verified_why = False, event.passed, event.reason


def _quiet(loop: LoopState) -> None:
    """It says nothing of itself: it does not run."""
    loop.phase = loop.waits_for = loop.verdict = loop.question = loop.question_id = ""
    loop.until = None


_HANDLERS: dict[type[FleetEvent], Callable[[LoopState, Any], None]] = {
    told.LoopPlaced: _placed,
    told.LoopStage: _staged,
    told.LoopBegan: _began,
    told.LoopProgressed: _progressed,
    told.LoopLost: _lost,
    told.LoopAdopted: _adopted,
    told.LoopRetried: _retried,
    told.LoopStopAsked: _stop_asked,
    told.CommandGiven: _commanded,
    told.LoopEnded: _ended,
    told.LoopRequeued: _requeued,
    told.LoopSkipped: _skipped,
    told.TreeRemoved: _tree_removed,
    told.CollectionAsked: _collection_asked,
    told.ResultCollected: _collected,
    told.AttemptKept: _kept,
    told.CollectionFailed: _collection_failed,
    told.VerificationBegan: _verification_began,
    told.WinnerVerified: _verified,
}
"""What each event of a loop changes in it."""
ABOUT_A_LOOP = frozenset(_HANDLERS)
