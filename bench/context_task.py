"""The task of the context benchmark, whose files do not reveal its progress.

A plan has items; each item has steps, and a step adds a few lines to one of several files. All
lines of an item must use the same way, A to D, chosen at its beginning. The lines show neither item
nor step, and the files contain such lines from the start. An item is ticked in the plan when it is
done.

So neither files nor diffs show whether the first open item was begun, in which way, or how far. A
session without this information must start the item over.

The last word of every line is a number that only the examiner can read. At the end the examiner
counts which steps are in the files, how often, and in which way.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PLAN = "plan.md"
END = "# end"
WAYS = "ABCD"
FILES = tuple(f"parts/{name}.txt" for name in ("amber", "birch", "cedar", "delta", "ember", "fern"))
CHECK = f"""\
echo 1..$(grep -c '^- ' {PLAN})
grep '^- ' {PLAN} | sed 's/^- .x. /ok - /; s/^- . . /not ok - /'
! grep -q '^- \\[ \\]' {PLAN}
"""
"""The completion command: a test for each item, which passes if the item is ticked."""
SHAPES = ("even", "large", "small", "slow", "twice")
"""Patterns of item sizes.

They make windows fill up within items, between items, during a slow command, and twice within an
item.
"""
NAMES = (
    "invoices", "refunds", "tariffs", "rebates", "ledgers", "duties", "fees", "grants", "levies",
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One item of the plan."""

    number: int
    files: Sequence[str]
    """The file of each step."""
    slow: bool = False
    """True if a slow command must follow each step."""
    filler: int = 1000
    """Characters of meaningless text in its description."""
    tag: str = ""

    @property
    def title(self) -> str:
        """Its line in the plan."""
        tag = f" ({self.tag})" if self.tag else ""
        return f"{self.number:02} {NAMES[self.number % len(NAMES)]}{tag}"

    @property
    def description(self) -> str:
        """Path of its description."""
        return f"items/{self.number:02}.md"

    @property
    def text(self) -> str:
        steps = "".join(f"{n}. add to {file}\n" for n, file in enumerate(self.files, 1))
        rows = ("It is as it is, and nothing follows from it.\n" * (self.filler // 45)).rstrip()
        slow = "After each step the slow check has to run.\n" if self.slow else ""
        return f"# {self.title}\n\nAll lines in one way.\n{slow}\n{steps}\n{rows}\n"


@dataclass(frozen=True)
class Task:
    """A project for the benchmark."""

    seed: int
    items: Sequence[Item]
    before: Mapping[str, str]
    """Contents of the files at the start."""

    def lay_out(self, root: Path) -> None:
        for folder in ("items", "parts"):
            (root / folder).mkdir(parents=True)
        plan = "".join(f"- [ ] {item.title}\n" for item in self.items)
        (root / PLAN).write_text(f"# Plan\n\n{plan}")
        (root / "check.sh").write_text(CHECK)
        for item in self.items:
            (root / item.description).write_text(item.text)
        for name, text in self.before.items():
            (root / name).write_text(text)


def task_of(seed: int) -> Task:
    """Return the project for a seed."""
    dice, shape = random.Random(f"task {seed}"), SHAPES[seed % len(SHAPES)]
    steps = {"even": (4, 6), "large": (6, 8), "small": (3, 4), "slow": (3, 5), "twice": (3, 5)}
    filler = {"small": (3000, 6000), "large": (200, 1500)}.get(shape, (400, 2500))
    items = []
    for number in range(1, dice.randint(6, 7) + (shape == "small")):
        length = dice.randint(*steps[shape])
        if shape == "twice" and number == 3:
            length = dice.randint(19, 22)
        files: list[str] = []
        while len(files) < length:
            # Consecutive steps never use the same file.
            files.append(dice.choice([name for name in FILES if name not in files[-1:]]))
        items.append(
            Item(
                number,
                files,
                slow=shape == "slow" and number % 2 == 0,
                filler=dice.randint(*filler),
                tag=dice.choice(("trivial", "simple", "")),
            )
        )
    before = {}
    for name in FILES:
        lines = [
            f"{dice.choice(WAYS)} {dice.randrange(10**8):08}" for _ in range(dice.randint(3, 9))
        ]
        before[name] = "\n".join([f"# {name}", *lines, END, ""])
    return Task(seed, items, before)


@dataclass(frozen=True)
class Step:
    """The meaning of a block of lines, known only to the examiner."""

    item: int
    number: int
    """Counted from 1."""
    way: str


@dataclass
class Examiner:
    """Knows the meaning of all lines that were handed out, and checks the files."""

    task: Task
    root: Path
    given: dict[str, Step] = field(default_factory=dict)
    """By the number at the end of its lines."""

    def give(self, step: Step, lines: int) -> str:
        """Return the marked lines of a step."""
        mark = f"{random.Random(f'{self.task.seed} {len(self.given)}').randrange(10**8):08}"
        self.given[mark] = step
        return "\n".join([f"{step.way} {mark}"] * lines)

    def found(self) -> list[Step]:
        """Return the steps in the files, as often as they occur, in any order."""
        steps = []
        for name in FILES:
            lines = [line for line in (self.root / name).read_text().splitlines() if " " in line]
            marks = dict.fromkeys(line.rpartition(" ")[2] for line in lines)
            steps += [self.given[mark] for mark in marks if mark in self.given]
        return steps

    def next_step(self) -> Step | None:
        """Return the next step; an empty way allows any. None if nothing is left."""
        ticked = self.ticked()
        item = next((item for item in self.task.items if item.number not in ticked), None)
        if item is None:
            return None
        found = [step for step in self.found() if step.item == item.number]
        latest = [step for step in self.given.values() if step in found]
        way = latest[-1].way if latest else ""
        done = {step.number for step in found if step.way == way}
        return Step(item.number, 1 + len(done), way)

    def ticked(self) -> set[int]:
        """Return the numbers of the items that are ticked in the plan."""
        lines = (self.root / PLAN).read_text().splitlines()
        return {int(line.split()[2]) for line in lines if line.startswith("- [x]")}

    def verdict(self) -> "Verdict":
        found, ticked = Counter(self.found()), self.ticked()
        wanted = lost = repeated = whole = 0
        for item in self.task.items:
            of_item = {step: times for step, times in found.items() if step.item == item.number}
            best = max(WAYS, key=lambda way: sum(step.way == way for step in of_item))
            there = {step.number for step in of_item if step.way == best}
            missing = len(item.files) - len(there) if item.number in ticked else 0
            extra = sum(of_item.values()) - len(there)
            wanted, lost, repeated = wanted + len(item.files), lost + missing, repeated + extra
            whole += item.number in ticked and not missing and not extra
        return Verdict(len(self.task.items), whole, len(ticked), wanted, lost, repeated)


@dataclass(frozen=True)
class Verdict:
    """The final counts of a run."""

    items: int
    whole: int
    """Ticked items with each step once, all in one way."""
    ticked: int
    edits: int
    """Total number of steps."""
    lost: int
    """Steps of ticked items that are missing, or in another way than the rest of the item."""
    repeated: int
    """Steps that occur again, or in a second way."""
