"""The agent's work in one turn: read, edit, test, report."""

import json
import time
from pathlib import Path

from ralph_tui.demo.agent import tools
from ralph_tui.demo.agent.bugs import BUGS, Bug
from ralph_tui.demo.agent.scenario import LIMITED_ITERATION, Step, plan
from ralph_tui.demo.agent.turn import Session

PROMISE = "<promise>COMPLETE</promise>"

_DONE = {"fix": "fixed", "break": "put back", "fiddle": "rewrote"}


LIMIT_S = 20.0
FAST_LIMIT_S = 1.0


class Limited(Exception):  # noqa: N818  not a failure of the agent
    """The service accepts nothing before `resets_at`, in seconds since the epoch."""

    def __init__(self, resets_at: float) -> None:
        super().__init__(resets_at)
        self.resets_at = resets_at


class Worker:
    """Carries out a scenario's steps for one iteration."""

    def __init__(self, session: Session, scenario: str, iteration: int) -> None:
        self.session = session
        self.scenario = scenario
        self.iteration = iteration
        self.root = Path.cwd()
        self._tests = (0, 0)

    def turn(self) -> str:
        """Work through one turn and return its final message. Raises `Limited`."""
        self._run_tests("I'll start by looking at what fails.")
        if self.scenario == "limit" and self.iteration == LIMITED_ITERATION:
            self._hit_limit()
        if self.iteration == 1:
            self._delegate()
        guided = self.session.guided
        steps = self._steps()
        for number, step in enumerate(steps):
            self._take(step, clumsy=self.iteration == 2 and number == 0)
        if self.session.guided and not guided:
            # The user's guidance arrived during the turn and changes the plan at once.
            others = self._steps()
            steps += others
            for step in others:
                self._take(step)
        self._run_tests("Now I'll run all the tests again.")
        words = self._summary(steps)
        self.session.say(words)
        return words

    def _hit_limit(self) -> None:
        """Reach the limit in the first session; later ones are refused until it resets."""
        note = self.root / ".git" / "demo-limit"
        if not note.exists():
            note.write_text(
                str(time.time() + (FAST_LIMIT_S if self.session.beat == 0 else LIMIT_S))
            )
        resets_at = float(note.read_text())
        if time.time() < resets_at:
            raise Limited(resets_at)

    def _steps(self) -> list[Step]:
        fixed = [bug for bug in BUGS if current_code(bug) == bug.fixed]
        return plan(self.scenario, self.iteration, fixed, guided=self.session.guided)

    def _run_tests(self, words: str) -> None:
        command = {"command": tools.TESTS, "description": "Run all tests"}
        _, output = self.session.use(
            "Bash", command, lambda _: tools.bash(self.session.wire, tools.TESTS), words=words
        )
        self._tests = tools.counts(output)

    def _delegate(self) -> None:
        """Let a subagent explore the tests."""
        task = {"description": "Map the tests to modules", "subagent_type": "Explore",
                "prompt": "List the test classes and say which module each covers."}  # fmt: skip

        def explore(tool_id: str) -> tools.Answer:
            look = {"pattern": "class .*Test", "path": str(self.root / "tests")}
            self.session.use(
                "Grep", look, lambda _: tools.grep("class .*Test", "tests"), parent=tool_id
            )
            first = str(self.root / "tests" / "test_lexer.py")
            self.session.use(
                "Read", {"file_path": first}, lambda _: tools.read(first), parent=tool_id
            )
            self.session.say("Each test module covers the module of its name.", parent=tool_id)
            return "Each test module covers the module of its name.", {"totalToolUseCount": 2}

        self.session.use("Task", task, explore, words="A subagent maps the failures to modules.")

    def _take(self, step: Step, *, clumsy: bool = False) -> None:
        bug, path = step.bug, str(self.root / step.bug.path)
        self.session.use(
            "Read", {"file_path": path}, lambda _: tools.read(path), words=_describe_step(step)
        )
        old = current_code(bug)
        if clumsy:
            self._edit(path, f"{old}  # bug", bug.fixed, bug.diagnosis)
            self.session.use(
                "Grep",
                {"pattern": "def ", "path": path},
                lambda _: tools.grep("def ", str(Path(path).parent)),
                words="That passage is different; I will read it again.",
            )
        match step.action:
            case "fix":
                self._edit(path, old, bug.fixed, "" if clumsy else bug.diagnosis)
            case "break":
                self._edit(path, old, bug.broken, "")
            case "fiddle":
                ways = (bug.broken, *bug.attempts)
                self._edit(path, old, ways[(ways.index(old) + 1) % len(ways)], bug.diagnosis)

    def _edit(self, path: str, old: str, new: str, words: str) -> None:
        self.session.use(
            "Edit",
            {"file_path": path, "old_string": old, "new_string": new, "replace_all": False},
            lambda _: tools.edit(path, old, new),
            words=words,
        )

    def _summary(self, steps: list[Step]) -> str:
        passed, total = self._tests
        done = bool(total) and passed == total
        actions = ", ".join(f"{_DONE[step.action]} {step.bug.name}" for step in steps)
        summary = f"{actions or 'nothing left to do'}; {passed} of {total} tests pass"
        fiddled = any(step.action == "fiddle" for step in steps)
        report = {
            "completion": round(100 * passed / total) if total else 0,
            "summary": summary,
            "blockers": ["the sign and the power keep fighting in the parser"] if fiddled else [],
            "learnings": [f"{steps[0].bug.path}: {steps[0].bug.diagnosis}"] if steps else [],
            "next": "" if done else "take the next failing test",
        }
        lines = [f"{summary[0].upper()}{summary[1:]}.", json.dumps({"ralph": report})]
        return "\n".join([*lines, PROMISE] if done else lines)


def current_code(bug: Bug) -> str:
    """Return a bug's current code; the fixed code if it is not recognised."""
    text = Path(bug.path).read_text(encoding="utf-8")
    ways = (bug.broken, *bug.attempts)
    return next((way for way in ways if way in text), bug.fixed)


def _describe_step(step: Step) -> str:
    match step.action:
        case "fix":
            return f"Next: the {step.bug.name} failure, in {step.bug.path}."
        case "break":
            return f"My change for {step.bug.name} causes trouble; I will simplify {step.bug.path}."
        case "fiddle":
            return (
                f"The {step.bug.name} test still fails; I will write {step.bug.path} another way."
            )
