"""One run, hit and resumed until it ends; its invariants are checked each time."""

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.cli.exit_codes import OUTCOME_CODES
from ralph_tui.commands import Answer, Unpause
from tests.e2e.cli import processes_of
from tests.soak.blows import Target, aim, strike
from tests.soak.checks import NOT_TAKEN, RunChecker, first_event, live_processes
from tests.soak.figures import Figures
from tests.soak.moments import MOMENTS, ROLLOVERS, WatchedRun, choose, patience
from tests.soak.place import prepare, tree_of
from tests.soak.program import Program, Tail

END_S = 120.0
MAX_FAILURES = 3
"""Per run."""
AGAIN_S = 0.5
"""Seconds before a command that may have been refused is sent again."""


class Trial:
    """A run in a folder of its own."""

    def __init__(
        self,
        place: Path,
        scenario: str,
        rng: Random,
        figures: Figures,
        *,
        attended: float = 0.4,
        rollovers: bool = False,
        iterations: int = 10,
    ) -> None:
        """`attended`: how probable it is that a process has a terminal.

        `rollovers`: it is hit only while a session hands over to another one.
        `iterations`: the limit of the run.
        """
        self._iterations = str(iterations)
        self._probably = attended
        self._rollovers = rollovers
        self.scenario = scenario
        self.figures = figures
        self._rng = rng
        place.mkdir(parents=True)
        self.folder = prepare(place / "project", scenario)
        self.checker = RunChecker(self.folder, figures)
        self._expected: str | None = None
        """Tree of the worktree when the run continued, until its first snapshot."""
        self._question: dict[str, Any] | None = None
        self._asked_at = 0.0
        self._was_asked = False
        """A question was open when the run was killed."""
        self._decided = False
        """The question that such a run comes to is behind it."""
        self._left: set[tuple[int, str]] = set()
        """Processes whose keeper was killed along with ralph-tui: the next process sweeps."""
        self._outcome: str | None = None
        self._is_over = False
        """According to the journal: a failed run counts as ended until it is resumed."""
        self._failures = 0
        self._hurt = False
        """A git of this process was killed, and no snapshot was taken since."""
        self._just_hurt = False
        self._paused_at: float | None = None
        """When it paused, or last received a command to continue."""
        self._last_tree = ""
        """Tree of the newest snapshot."""
        self._moment = ""
        """The moment awaited."""
        self._resumed = False
        self._start()

    def play(self, kills: int, moments: Sequence[str] = (), targets: Sequence[Target] = ()) -> None:
        """Hit the run this often, at these or other moments, then let it end.

        `targets` are hit first; later targets are chosen at random.
        """
        named, self._targets = list(moments), list(targets)
        while True:
            name = named[0] if named else self._choose() if kills > 0 else ""
            if moment := self._wait(name):
                del named[:1]  # otherwise the resumed run waits for it again
                kills -= 1
                self._kill(moment)
            elif self._outcome == "failed" and self._failures < MAX_FAILURES:
                # Without a keeper or git there is no baseline, and without that no run: so far.
                self._failures += 1
                self._check_exit()
                self._outcome = None
                self._resume()
            elif self._refused:
                self._resume()
            else:
                break
        if self._outcome is None:
            return
        if kills > 0 and not self._rollovers and self._rng.random() < 0.3:
            self._kill("the end")
            self.program.close()
        else:
            self._check_exit()
        self.figures.outcomes[self._outcome] += 1
        self.checker.at(self._run(), over=True)
        self.checker.check_restore(self._run())

    def close(self) -> None:
        """End what still runs."""
        self.program.close()

    # -- waiting -------------------------------------------------------------------------------

    def _start(self) -> None:
        self._refused = self._hurt = self._killed = False
        self._tail = Tail(self.folder)
        self._attended = self._rng.random() < self._probably
        words = ("tests.soak.begin", self.scenario, self._iterations)
        self.program = Program(self.folder, *words, attended=self._attended)

    def _aim(self, moment: str) -> Target:
        return aim(self._rng, moment, deadly=self._rollovers)

    def _choose(self) -> str:
        asks = self._attended and self.scenario != "steady" and not self._decided
        if self._rollovers:
            return choose(self._rng, ROLLOVERS)
        return choose(self._rng, asks=asks, resumed=self._resumed)

    def _wait(self, name: str) -> str:
        """Wait for a moment and return its name; empty when the run has ended."""
        self._moment = name
        self._watched = WatchedRun(self.folder, self.program, self._rng)
        moment = (MOMENTS | ROLLOVERS)[name][0](self._watched) if name else None
        end = time.monotonic() + (patience(self._rng, name) if name else END_S)
        while self.program.alive:
            self._listen()
            if self._outcome is not None:
                return ""
            try:
                pause = next(moment) if moment is not None else 0.02
            except StopIteration:
                return name
            if time.monotonic() > end:
                if name:
                    return "at random"
                self.checker.problem("it did not come to its end")
                return ""
            if pause:
                time.sleep(pause)
        self._listen()
        if self._outcome is None:
            code, said = self.program.process.returncode, self.program.said()
            # Without git no run begins or resumes: it reports that, and a retry is possible.
            self._refused = self._hurt and "git " in said and "Traceback" not in said
            if self._refused:
                self.figures.reported["a start"] += 1
            else:
                self.checker.problem(f"it ended by itself with {code}: {said}")
        return ""

    def _listen(self) -> None:
        for event in self._tail.new():
            self._watched.events.append(event)
            self._on_event(event)
            self._check_files(event)
        self._watched.journal = self._tail.path
        pausing = self._moment == "restore" and self._watched.has_seen("paused")
        if self._paused_at is not None and not pausing and time.monotonic() > self._paused_at:
            # A keeper was killed or a restore has ended; a restore under way refuses this.
            self._paused_at = time.monotonic() + AGAIN_S
            self.program.send(Unpause())
        if self._question is not None and time.monotonic() > self._asked_at + 0.5:
            asked, self._question = self._question, None
            options = [o["answer"] for o in asked["options"] if o["takes"] == "nothing"]
            answer = next(o for o in options if o != "abort")
            self.program.send(Answer(question_id=asked["question_id"], answer=answer))

    def _on_event(self, event: dict[str, Any]) -> None:
        match event["kind"]:
            case "question_asked":
                self.figures.asked_again += self._was_asked
                self._question, self._asked_at = event, time.monotonic()
                self._was_asked = False
            case "question_answered":
                self._question = None
                self._decided = self._attended
            case "paused":
                self._paused_at = time.monotonic()
            case "unpaused":
                self._paused_at = None
            case "session_started":
                self._expected = None
                self._check_leftovers()
            case "run_finished":
                self._outcome, self._is_over = event["outcome"], True
            case "run_resumed":
                self._is_over = False
            case "run_crashed":
                self.checker.problem(f"a bug: {event['error']}\n{event['traceback']}")

    def _check_files(self, event: dict[str, Any]) -> None:
        match event["kind"]:
            case "snapshot_taken":
                if self._expected not in (None, event["tree"]):
                    self.checker.problem(
                        f"{event['reason']}: the snapshot is not what was there", files=1
                    )
                self._expected = None
                self._hurt, self._last_tree = self._just_hurt, event["tree"]
                self._check_leftovers()
            case "noticed" if event["level"] == "error":
                self._on_error(event["text"])
            case "checkpoint_captured" if event["error"]:
                self._on_error(f"a checkpoint: {event['error']}")
            case "restore_began":
                if self._watched.worktree not in ("", self._last_tree):
                    self.checker.problem("a restore overwrites files that no snapshot has", files=1)
                # An interrupted restore is completed, as a half-restored tree is useless.
                self._expected = None

    def _on_error(self, text: str) -> None:
        """Count a failure that the run reports."""
        self.figures.reported[text.partition(":")[0]] += 1
        if text.startswith(NOT_TAKEN) and not self._hurt:
            self.checker.problem(f"no git was killed, and yet: {text}")

    def _check_leftovers(self) -> None:
        if left := live_processes() & self._left:
            self.checker.problem(f"{len(left)} processes were left over by a killed keeper")
        self._left = set()

    # -- hitting -------------------------------------------------------------------------------

    def _kill(self, moment: str) -> None:
        target = self._targets.pop(0) if self._targets else self._aim(moment)
        if moment == "the end":
            target = "ralph-tui"
        path = self._tail.path
        before = path.read_bytes() if path else b""
        blow = strike(self.program, target, self._rng)
        began = time.monotonic()
        self.figures.kills[moment, blow.hit] += 1
        self.figures.gits += blow.gits
        self.figures.stops += blow.stops
        self.checker.where = f"{self.folder.parent.name} {self.scenario}, {moment}, {blow.hit}"
        self.checker.compare(before, path.read_bytes() if path else b"")
        self._hurt = self._hurt or blow.gits > 0
        self._just_hurt = blow.gits > 0
        self._drain_events()  # of what was before: it neither heals nor sweeps
        self._just_hurt = False
        if not blow.fatal:
            self.checker.wait_until_gone(
                began, lambda: {pid for pid, _ in blow.kept & live_processes()}
            )
            return
        self._left |= blow.kept
        if not self._began():
            self._resume()
            return
        self._left &= live_processes()
        mine = {pid for pid, _ in self._left}
        run_id = first_event(read_journal(self._run().journal)).run_id
        self.checker.wait_until_gone(began, lambda: set(processes_of(run_id)) - mine)
        self.checker.wait_until_gone(began, lambda: {1} if holder(self._run().lock) else set())
        self.checker.at(self._run(), over=self._is_over)
        self.checker.at_restore(self._watched.worktree)
        self._was_asked = self._question is not None
        self._question = None
        self._expected = tree_of(self.folder) if not self._left else None
        if self._outcome is not None:  # it had ended already
            self.program.close()
            self._killed = True
        elif moment != "the end":
            self._resume()

    def _resume(self) -> None:
        """Resume the run, or start it again if it had not begun."""
        self.program.close()
        self._paused_at = None
        if not self._began():
            self._start()
            return
        self._refused = self._hurt = self._killed = False
        self._attended = self._rng.random() < self._probably
        self.program = Program(self.folder, "ralph_tui", "resume", attended=self._attended)
        self._resumed = True
        self.figures.resumes += 1

    def _began(self) -> bool:
        """True if the run has begun; otherwise it must be started again."""
        self._drain_events()
        return self._tail.path is not None and b"\n" in self._tail.path.read_bytes()

    def _drain_events(self) -> None:
        for event in self._tail.new():
            self._on_event(event)
            self._check_files(event)

    def _check_exit(self) -> None:
        if self._killed:
            return
        code = self.program.leave()
        expected = [number for name, number in OUTCOME_CODES.items() if name == self._outcome]
        if [code] != expected:
            self.checker.problem(
                f"{self._outcome}, and the exit code {code}: {self.program.said()}"
            )

    def _run(self) -> RecordedRun:
        assert self._tail.path is not None
        return RecordedRun(self._tail.path)
