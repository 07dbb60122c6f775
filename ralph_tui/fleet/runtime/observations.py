"""Turn observations of hosts into events, and into orders that answer them.

A host may report anything. Its reports about a loop count only for the attempt that the fleet has
placed. Any other attempt is ended, its work is saved on a separate branch, and its clone is
removed.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, get_args

from pydantic import ValidationError

from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as ev
from ralph_tui.fleet import ports as seen
from ralph_tui.fleet.events import LoopProgressed
from ralph_tui.fleet.loop_state import LoopState, end_event
from ralph_tui.fleet.records import GapError
from ralph_tui.fleet.runtime.core import Core
from ralph_tui.fleet.runtime.executor import Mirrors, Results
from ralph_tui.fleet.state import has_tree, margin_s
from ralph_tui.fleet.wording import decide_command
from ralph_tui.ports.clones import Base, Collected
from ralph_tui.state.run import Phase
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line

POINTS = 100.0
"""A status file gives completion as a percentage."""


def parse_progress(loop: str, status: dict[str, Any]) -> LoopProgressed | None:
    """Return the progress in a loop's ``status.json``; None if another version wrote it.

    Another machine may have written `status`, so every value is checked.
    """
    if status.get("version") != STATUS_VERSION or status.get("phase") not in get_args(Phase):
        return None
    waiting, question = _as_dict(status.get("waiting")), _as_dict(status.get("question"))
    try:
        return LoopProgressed(
            loop=loop,
            phase=status["phase"],
            waits_for=str(waiting.get("cause") or "") if status["phase"] == "limited" else "",
            iteration=status.get("iteration") or 0,
            max_iterations=status.get("max_iterations"),
            completion=_as_fraction(status.get("completion")),
            best=_as_fraction(status.get("best")),
            cost_usd=status.get("cost_usd"),
            tokens=_as_int(status.get("tokens")),
            verdict=str(status.get("verdict") or ""),
            question=str(question.get("text") or ""),
            question_id=str(question.get("question_id") or ""),
            pause_requested=status.get("pause_requested") or False,
            until=_as_time(waiting.get("until") or question.get("deadline")),
            away_s=status.get("away_s") or 0.0,
        )
    except ValidationError:
        return None


def parse_disk_wait(loop: LoopState, line: str) -> LoopProgressed | None:
    """Return a wait for disk space, if a journal line reports one.

    On a full disk, the journal has a reserve but the status file has none. Without this, the status
    could claim for hours that the loop is working.
    """
    if '"disk_full"' not in line:
        return None
    with suppress(ValueError):
        event = _as_dict(parse_json(line.encode()))
        if event.get("kind") == "wait_started" and event.get("cause") == "disk_full":
            return LoopProgressed(
                loop=loop.spec.id,
                phase="limited",
                waits_for="disk_full",
                iteration=loop.iteration,
                max_iterations=loop.max_iterations,
                completion=loop.completions[-1] if loop.completions else None,
                best=loop.best,
                cost_usd=loop.cost_usd,
                tokens=loop.tokens,
                pause_requested=loop.pause_requested,
                verdict="waiting: its disk is full",
                away_s=loop.away_s,
            )
    return None


def best_if_higher(loop: LoopState) -> float | None:
    """Return the loop's best completion if it is better than its last one."""
    last = loop.completions[-1] if loop.completions else None
    if last is None or loop.best is None or loop.best <= last:
        return None
    return loop.best


def add_best(event: ev.FleetEvent, best: float | None, *, keeps_record: bool) -> ev.FleetEvent:
    """Add the loop's best completion to the event of its collection."""
    if not isinstance(event, ev.ResultCollected):
        return event
    record = "" if keeps_record else event.record
    return event.model_copy(update={"best": best, "record": record})


def is_changed(progress: LoopProgressed, loop: LoopState) -> bool:
    """True if the phase, iteration, question, pause, cost or completion has changed."""
    now = (progress.phase, progress.iteration, progress.question_id, progress.until)
    if now != (loop.phase, loop.iteration, loop.question_id, loop.until):
        return True
    if progress.pause_requested != loop.pause_requested:
        return True
    reading = loop.completions[-1] if loop.completions else None
    costs = progress.cost_usd is not None and progress.cost_usd != loop.cost_usd
    return costs or progress.completion != reading


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_fraction(points: Any) -> float | None:
    return points / POINTS if isinstance(points, int | float) else None


def _as_int(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _as_time(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


class ObservationHandler:
    """Handles observations; called in the engine's thread."""

    def __init__(self, core: Core, mirrors: Mirrors, results: Results) -> None:
        """`mirrors` returns the mirror of a loop's attempt."""
        self._core = core
        self._mirrors = mirrors
        self._results = results
        self._unreadable: set[tuple[str, int]] = set()
        """Attempts with an unreadable line in their record."""
        self._overtaken: dict[tuple[str, int], str] = {}
        """Hosts of attempts that another attempt replaced."""
        self.aborted: set[str] = set()
        """Loops that were aborted before they had a run to send the command to."""

    def take(self, one: seen.Observation) -> None:
        match one:
            case seen.Joined():
                self._on_joined(one)
            case seen.Leaving():
                self._core.record(ev.HostLeaving(host=one.host, reason=one.reason))
            case seen.Disconnected():
                self._on_disconnected(one)
            case seen.Refused():
                self._core.record(ev.HostRefused(host=one.host, reason=one.reason))
            case seen.NeedsBase():
                self._on_needs_base(one)
            case seen.HostNoticed():
                self._on_noticed(one)
            case seen.CommandAnswered():
                pass  # handled by `Requests`
            case _:
                self._on_loop(one)

    # -- hosts ---------------------------------------------------------------------------------

    def _on_joined(self, one: seen.Joined) -> None:
        core, known = self._core, self._core.state.hosts.get(one.host)
        if known is None or not known.here or known.slots != one.slots:
            core.record(
                ev.HostJoined(
                    host=one.host,
                    slots=one.slots,
                    machine=one.machine,
                    home=one.home,
                    version=one.version,
                )
            )
        held = {(each.loop, each.attempt) for each in one.holds}
        for each in one.holds:
            self._on_held(one.host, each)
        for loop in list(core.state.loops.values()):
            if not loop.placed or (loop.spec.id, loop.attempt) in held:
                continue
            if has_tree(loop, one.host, one.home):
                self._on_missing(loop, one.host)
            elif loop.host == one.host and loop.status != "lost":
                # Another host took the name; the loop may run on its own until the lease ends.
                core.record(ev.LoopLost(loop=loop.spec.id, until=self._lease_end()))

    def _lease_end(self) -> datetime:
        lease = self._core.state.plan.lease_s
        return self._core.clock.now() + timedelta(seconds=lease + margin_s(lease))

    def _on_held(self, host: str, held: seen.LoopSummary) -> None:
        core, loop = self._core, self._core.state.loops.get(held.loop)
        if loop is None or loop.attempt != held.attempt or loop.status == "skipped":
            self._on_unwanted(host, held)
        elif loop.status == "queued" and loop.attempt == loop.unbegun and not held.alive:
            core.order(host, seen.Remove(loop=held.loop, attempt=held.attempt))
        elif loop.status == "queued" and loop.end_heard and not held.alive:
            pass  # it is placed there, and its end was already reported
        elif loop.status != "ended":
            seq = self._mirrors(held.loop, held.attempt).seq
            if loop.status in ("lost", "queued") or loop.host != host:
                core.record(ev.LoopAdopted(loop=held.loop, host=host, known=seq))
            core.order(host, seen.Adopt(loop=held.loop, attempt=held.attempt, seen=seq))
        elif held.alive:
            core.order(host, seen.End(loop=held.loop))
        elif loop.commit and loop.tree_is_done:
            core.order(host, seen.Remove(loop=held.loop, attempt=held.attempt))

    def _on_unwanted(self, host: str, held: seen.LoopSummary) -> None:
        """Handle an attempt that is unknown or was replaced."""
        core, which = self._core, {"loop": held.loop, "attempt": held.attempt}
        if held.alive:
            core.order(host, seen.End(**which))
        loop = core.state.loops.get(held.loop)
        if loop is None or held.attempt >= loop.attempt:
            core.order(host, seen.Remove(**which))
            return
        self._overtaken[held.loop, held.attempt] = host
        if not held.alive:  # otherwise, collect it when it has ended
            core.order(host, seen.Collect(**which))

    def _on_missing(self, loop: LoopState, host: str) -> None:
        """Handle a loop that its host, which has rejoined, no longer holds."""
        gone = "the process that it ran under was gone"
        if loop.run_id:
            self._core.record(end_event(loop, "interrupted", gone))
        else:
            self._core.record(ev.LoopRequeued(loop=loop.spec.id, reason=gone))

    def _on_disconnected(self, one: seen.Disconnected) -> None:
        self._core.record(ev.HostLost(host=one.host, reason=one.reason, left=one.left))

    def _on_needs_base(self, one: seen.NeedsBase) -> None:
        started = self._core.state.started
        if started is None or one.commit != started.commit:
            return
        host, commit, core = one.host, one.commit, self._core

        def bundle() -> list[ev.FleetEvent]:
            # Orders are thread-safe, unlike events.
            core.order(host, Base(commit=commit, bundle=self._results.bundle_base(commit)))
            return []

        core.work("base", bundle)

    def _on_noticed(self, one: seen.HostNoticed) -> None:
        where = f"{one.host}: " if one.host else ""
        self._core.record(
            ev.FleetNoticed(text=f"{where}{one.text}", level=one.level, loop=one.loop)
        )

    # -- loops ---------------------------------------------------------------------------------

    def _on_loop(self, one: Any) -> None:
        loop = self._core.state.loops.get(one.loop)
        if loop is None or loop.attempt != one.attempt:
            if host := self._overtaken.get((one.loop, one.attempt)):
                self._on_overtaken(host, one)
            return
        if isinstance(one, Collected | seen.NotCollected):
            self._on_collected(loop, one)
        elif isinstance(one, seen.Recorded):
            self._on_recorded(loop, one)
        elif loop.placed:
            self._on_running(loop, one)

    def _on_overtaken(self, host: str, one: Any) -> None:
        """Save the work of a replaced attempt before its clone is removed."""
        core, which = self._core, {"loop": one.loop, "attempt": one.attempt}
        match one:
            case seen.Ended():
                core.order(host, seen.Collect(**which))
            case seen.NotCollected():
                del self._overtaken[one.loop, one.attempt]
                if one.never_began:
                    core.order(host, seen.Remove(**which))
                    if one.attempt in core.state.loops[one.loop].left:
                        core.record(ev.AttemptKept(**which, host=host))
                    return
                what = f"the work of attempt {one.attempt} of loop {one.loop} stays on {host}"
                text = f"{what}: {one.reason}"
                core.record(ev.FleetNoticed(text=text, level="warn", loop=one.loop))
            case Collected():
                del self._overtaken[one.loop, one.attempt]
                run_id = self._mirrors(one.loop, one.attempt).run_id

                def keep() -> list[ev.FleetEvent]:
                    event = self._results.keep(one, host, run_id)
                    # Orders are thread-safe.
                    core.order(host, seen.Remove(**which))
                    return [event]

                core.work(f"keep {one.loop}", keep)

    def _on_running(self, loop: LoopState, one: Any) -> None:
        core = self._core
        match one:
            case seen.Stage() if loop.status == "placing":
                core.record(ev.LoopStage(loop=one.loop, stage=one.stage))
            case seen.Began() if loop.run_id != one.run_id or loop.status == "placing":
                host = core.state.hosts.get(loop.host)
                core.record(
                    ev.LoopBegan(
                        loop=one.loop,
                        run_id=one.run_id,
                        run=one.run,
                        folder=one.folder,
                        machine=host.machine if host else "",
                        ports=one.ports,
                    )
                )
            case seen.StatusChanged():
                self._on_status(loop, one)
            case seen.Ended():
                self._on_ended(loop, one)

    def _on_recorded(self, loop: LoopState, one: seen.Recorded) -> None:
        key = (one.loop, one.attempt)
        mirror = self._mirrors(*key)
        try:
            mirror.append(one.seq, one.lines)
        except GapError:
            order = seen.Adopt(loop=one.loop, attempt=one.attempt, seen=mirror.seq)
            self._core.order(loop.host, order)
        except (ValueError, WorkspaceError) as error:
            if key not in self._unreadable:
                self._unreadable.add(key)
                what = clip(one_line(str(error)), 200)
                text = f"the record of loop {one.loop} breaks off after event {mirror.seq}: {what}"
                self._core.record(ev.FleetNoticed(text=text, level="warn", loop=one.loop))
        else:
            disk_waits = filter(None, (parse_disk_wait(loop, line) for line in one.lines))
            for waits in disk_waits if loop.placed else ():
                self._core.record(waits)

    def _on_status(self, loop: LoopState, one: seen.StatusChanged) -> None:
        try:
            status = self._mirrors(one.loop, one.attempt).put_status(one.status)
        except ValueError:
            return
        except WorkspaceError:  # the next status or the journal will restore it
            status = one.status
        progress = parse_progress(one.loop, status)
        if progress is None:
            return
        if _as_int(status.get("seq")) < loop.commanded_seq:  # written before the last command
            known = {"pause_requested": loop.pause_requested}
            progress = progress.model_copy(update=known)
        if not is_changed(progress, loop):
            return
        asks_again = bool(progress.question) and progress.question_id != loop.question_id
        self._core.record(progress)
        if asks_again:
            asked = clip(one_line(progress.question), 300)
            text = f"loop {one.loop} asks: {asked} ({decide_command(one.loop)})"
            self._core.record(ev.FleetNoticed(text=text, level="warn", loop=one.loop))

    def _on_ended(self, loop: LoopState, one: seen.Ended) -> None:
        outcome: Outcome = one.outcome
        if one.loop in self.aborted and (outcome == "interrupted" or one.never_began):
            outcome = "aborted"
        self._core.record(
            end_event(
                loop, outcome, one.reason, never_began=one.never_began, elsewhere=one.elsewhere
            )
        )

    def _on_collected(self, loop: LoopState, one: Collected | seen.NotCollected) -> None:
        if loop.status != "ended" or loop.commit:
            return
        if isinstance(one, seen.NotCollected):
            self._core.record(ev.CollectionFailed(loop=one.loop, reason=one.reason))
            return
        run_id, earlier, best = loop.run_id, loop.earlier, best_if_higher(loop)
        keeps_record = loop.outcome == "interrupted"  # a resume would continue the record

        def receive() -> list[ev.FleetEvent]:
            events = self._results.receive(one, run_id, earlier)
            return [add_best(event, best, keeps_record=keeps_record) for event in events]

        self._core.work(f"collect {one.loop}", receive)
