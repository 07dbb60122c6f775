"""How the agent works through the plan of the scenario `context`.

It has no memory beyond its session: at the start it knows only its prompt and the files. Without a
handoff, it reads everything first. Otherwise it reads the handoff, and continues with the item
named there.
"""

import re
from pathlib import Path

from ralph_tui.demo.agent import tools
from ralph_tui.demo.agent.bugs import EVALUATOR, FORMATTING, LEXER, PARSER
from ralph_tui.demo.agent.plan_file import ITEMS, PLAN, Item, open_items
from ralph_tui.demo.agent.scenario import Step
from ralph_tui.demo.agent.work import Worker, current_code

PROJECT_FILES = ("README.md", LEXER, PARSER, EVALUATOR, FORMATTING)
HANDOFF_HEADING = "# Context checkpoint"
"""Start of the heading of the prompt's section about a handoff."""
_HANDOFF = re.compile(r"[\w./-]*handoff-\d+\.md")


class PlannedWorker(Worker):
    """Works through the plan's items one by one, and ticks them."""

    _known: frozenset[str] = frozenset()
    """Files that this session has read."""

    def turn(self) -> str:
        handoff = "" if self._known else self._read_handoff()
        if not handoff and not self._known:
            self._explore()
        self._run_tests("What is the state of the tests?")
        steps: list[Step] = []
        while left := self._open_items():
            named = next((item for item in left if item.title in handoff), left[0])
            steps += self._work_on(named)
        words = self._summary(steps)
        self.session.say(words)
        return words

    def _open_items(self) -> list[Item]:
        """Return the open items; empty once this iteration has completed its item."""
        left = open_items()
        done = len(ITEMS) - len(left)
        return left if done < self.iteration else []

    def _read_handoff(self) -> str:
        """Read the handoff that the prompt names; empty if it names none."""
        _, heading, said = self.session.prompt.partition(HANDOFF_HEADING)
        found = _HANDOFF.search(said) if heading else None
        if found is None:
            return ""
        self._read(PLAN, "An earlier session handed off to me, so I won't start over.")
        return self._read(found[0], "I'll read its handoff first.")

    def _explore(self) -> None:
        self._read(PLAN, "This project is new to me: first the plan, then the code.")
        for name in PROJECT_FILES:
            self._read(name)

    def _read(self, name: str, words: str = "") -> str:
        path = str(self.root / name)
        self._known |= {name}
        _, text = self.session.use(
            "Read", {"file_path": path}, lambda _: tools.read(path), words=words
        )
        return text

    def _work_on(self, item: Item) -> list[Step]:
        """Fix the item's remaining bugs, test after each change, and tick it."""
        left = [bug for bug in item.bugs if current_code(bug) != bug.fixed]
        begun = len(item.bugs) - len(left)
        words = f"Next item: “{item.title}”."
        if begun:
            words = f"I'll continue with “{item.title}”: {begun} of {len(item.bugs)} are done."
        for bug in left:
            if bug.path not in self._known:
                self._read(bug.path, words)
                words = ""
            self._edit(
                str(self.root / bug.path), current_code(bug), bug.fixed, words or bug.diagnosis
            )
            words = ""
            self._run_tests("Does it pass?")
        self._edit(str(Path(self.root, PLAN)), item.open, item.ticked, f"Done: {item.title}.")
        return [Step("fix", bug) for bug in left]
