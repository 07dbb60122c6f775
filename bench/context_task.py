"""Work whose files do not tell how far it is: what the measure of context checkpoints is made of.

A plan of items; each is some steps, and a step adds a few lines to one of several files. All lines
of an item have to be of one way, A to D, which whoever begins the item chooses; they say neither
which item they belong to nor which step, and files hold such lines from the start. The plan is
ticked when an item is done. So neither the files nor their differences tell whether the first open
item was begun, in which way, or how far: a session that is not told has to begin it anew.

The last word of every line is a number that only the examiner can read: at the end it counts which
steps are in the files, how often, and in which way.
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
"""The completion command: a test for each item, which passes when it is ticked."""
SHAPES = ("even", "large", "small", "slow", "twice")
"""How the items' sizes lie: by turns, so that windows fill within items, between them, while a slow
command runs, and twice within one."""
NAMES = (
    "invoices", "refunds", "tariffs", "rebates", "ledgers", "duties", "fees", "grants", "levies",
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One line of the plan."""

    number: int
    files: Sequence[str]
    """The file of each step."""
    slow: bool = False
    """Whether each step is followed by a command that takes its time."""
    filler: int = 1000
    """Characters of its description that say nothing."""
    tag: str = ""

    @property
    def title(self) -> str:
        """As the plan says it."""
        tag = f" ({self.tag})" if self.tag else ""
        return f"{self.number:02} {NAMES[self.number % len(NAMES)]}{tag}"

    @property
    def description(self) -> str:
        """Where its description stands."""
        return f"items/{self.number:02}.md"

    @property
    def text(self) -> str:
        """Its description."""
        steps = "".join(f"{n}. add to {file}\n" for n, file in enumerate(self.files, 1))
        rows = ("It is as it is, and nothing follows from it.\n" * (self.filler // 45)).rstrip()
        slow = "After each step the slow check has to run.\n" if self.slow else ""
        return f"# {self.title}\n\nAll lines in one way.\n{slow}\n{steps}\n{rows}\n"


@dataclass(frozen=True)
class Task:
    """A project."""

    seed: int
    items: Sequence[Item]
    before: Mapping[str, str]
    """What the files hold at the start."""

    def lay_out(self, root: Path) -> None:
        """Write it."""
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
    """The project of a seed."""
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
            # Two steps running are never in one file.
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
    """What a block of lines is: known to the examiner alone."""

    item: int
    number: int
    """From 1."""
    way: str


@dataclass
class Examiner:
    """Knows which lines were handed out for what, and reads the files."""

    task: Task
    root: Path
    given: dict[str, Step] = field(default_factory=dict)
    """By the number that ends each of its lines."""

    def give(self, step: Step, lines: int) -> str:
        """The lines of a step, marked."""
        mark = f"{random.Random(f'{self.task.seed} {len(self.given)}').randrange(10**8):08}"
        self.given[mark] = step
        return "\n".join([f"{step.way} {mark}"] * lines)

    def found(self) -> list[Step]:
        """The steps that the files hold, each as often as they hold it; in no order."""
        steps = []
        for name in FILES:
            lines = [line for line in (self.root / name).read_text().splitlines() if " " in line]
            marks = dict.fromkeys(line.rpartition(" ")[2] for line in lines)
            steps += [self.given[mark] for mark in marks if mark in self.given]
        return steps

    def next_step(self) -> Step | None:
        """What is to be done next, and in which way; an empty way: in any. None: nothing."""
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
        """Numbers of the items that the plan shows as done."""
        lines = (self.root / PLAN).read_text().splitlines()
        return {int(line.split()[2]) for line in lines if line.startswith("- [x]")}

    def verdict(self) -> "Verdict":
        """What the files come to at the end."""
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
    """The files of a run, counted."""

    items: int
    whole: int
    """Items that are ticked, with each step once and all in one way."""
    ticked: int
    edits: int
    """Steps there are."""
    lost: int
    """Steps of ticked items that are not there, or in another way than the rest of its item."""
    repeated: int
    """Steps that are there once more, or in a second way."""
