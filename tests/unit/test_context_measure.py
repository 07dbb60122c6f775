"""The benchmark of context checkpoints: its examiner sees all, its model only its session."""

import json
import random
import re
import subprocess
from pathlib import Path

import pytest

from bench.context_policy import Call, Mind, Result, next_move
from bench.context_service import RESUMING, Taken
from bench.context_table import Ran, Sums, rows
from bench.context_task import END, PLAN, Examiner, Step, Verdict, task_of
from ralph_tui.layers.context.handoff import Call as Used
from ralph_tui.layers.context.handoff import Handoff, Reference, handoff_text
from ralph_tui.layers.context.state_file import FileInProgress
from ralph_tui.layers.intelligence.handoff_section import HEADING

HANDOFF = ".aiwg/results/iter-001/handoff-1.md"
PROMPT = f"# Objective\n\nCarry out the plan\n\n# {HEADING}\n\nRead its handoff first: {HANDOFF}\n"


@pytest.fixture
def examiner(tmp_path: Path) -> Examiner:
    task = task_of(0)
    task.lay_out(tmp_path)
    return Examiner(task, tmp_path)


def add(examiner: Examiner, item: int, step: int, way: str) -> None:
    """Do a step as the model would."""
    path = examiner.root / examiner.task.items[item - 1].files[step - 1]
    lines = examiner.give(Step(item, step, way), 2)
    path.write_text(path.read_text().replace(END, f"{lines}\n{END}"))


def tick(examiner: Examiner, item: int) -> None:
    plan = examiner.root / PLAN
    plan.write_text(plan.read_text().replace(f"- [ ] {item:02}", f"- [x] {item:02}"))


def whole(examiner: Examiner, item: int) -> None:
    for step in range(1, 1 + len(examiner.task.items[item - 1].files)):
        add(examiner, item, step, "B")
    tick(examiner, item)


def test_the_examiner_counts_what_is_lost_and_what_is_there_twice(examiner: Examiner) -> None:
    items = examiner.task.items
    whole(examiner, 1)
    first = examiner.verdict()
    assert (first.whole, first.ticked, first.lost, first.repeated) == (1, 1, 0, 0)
    assert first.items == len(items)
    whole(examiner, 2)
    add(examiner, 2, 1, "B")
    assert examiner.verdict().repeated == 1, "the same step again"
    add(examiner, 3, 1, "A")
    for step in range(1, 1 + len(items[2].files)):
        add(examiner, 3, step, "D")
    tick(examiner, 3)
    assert examiner.verdict().repeated == 2, "a step in another way is no part of the item"
    add(examiner, 4, 1, "C")
    tick(examiner, 4)
    end = examiner.verdict()
    assert end.lost == len(items[3].files) - 1, "it was ticked, and is not there"
    assert end.whole == 1


def test_the_examiner_knows_what_comes_next(examiner: Examiner) -> None:
    assert examiner.next_step() == Step(1, 1, "")
    add(examiner, 1, 1, "C")
    add(examiner, 1, 2, "C")
    assert examiner.next_step() == Step(1, 3, "C")
    tick(examiner, 1)
    assert examiner.next_step() == Step(2, 1, "")
    for item in examiner.task.items:
        tick(examiner, item.number)
    assert examiner.next_step() is None


def test_lines_do_not_say_what_they_are_part_of(examiner: Examiner) -> None:
    before = {path.name: path.read_text().splitlines() for path in examiner.root.glob("parts/*")}
    add(examiner, 1, 1, "C")
    name = examiner.task.items[0].files[0].removeprefix("parts/")
    held = (examiner.root / "parts" / name).read_text().splitlines()
    new = [line for line in held if line not in before[name]]
    shape = r"[A-D] \d{8}"
    assert all(re.fullmatch(shape, line) for line in [*new, *before[name][1:-1]])


def played(examiner: Examiner, prompt: str, files: dict[str, str], *, talks: bool = True) -> Call:
    """The first edit of a session: reads are answered from the project, or `files`."""
    results: list[Result] = []
    given: list[Step] = []

    def lines_of(step: Step, lines: int) -> str:
        given.append(step)
        return "\n".join([f"{step.way} {len(given):08}"] * lines)

    for _ in range(20):
        mind = Mind(random.Random("mind"), talks, lines_of)
        move = next_move(prompt, results, mind)
        assert isinstance(move, Call)
        if move.tool == "Edit":
            examiner.given["00000001"] = given[-1]
            return move
        if move.tool == "Bash":
            command = ["sh", "-c", str(move.arguments["command"])]
            done = subprocess.run(command, cwd=examiner.root, capture_output=True, check=False)
            results.append(Result(done.stdout.decode()))
            continue
        path = str(move.arguments["file_path"])
        text = files[path] if path in files else (examiner.root / path).read_text()
        numbered = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(text.splitlines(), 1))
        results.append(Result(numbered))
    raise AssertionError("it never edits")


def step_of(examiner: Examiner, move: Call) -> Step:
    return examiner.given["00000001"] if move.arguments["file_path"] != PLAN else Step(0, 0, "")


def left(examiner: Examiner, done: int, way: str, *, said: bool) -> str:
    """A handoff after this many steps of the first item, as the product writes it."""
    item = examiner.task.items[0]
    for step in range(1, done + 1):
        add(examiner, 1, step, way)
    files = list(reversed(item.files[:done]))
    calls = [Used("Edit", path, "+3") for path in files]
    held = {path: (examiner.root / path).read_text().splitlines() for path in files}
    transcript = examiner.root / "transcript.jsonl"
    used = [("parts/fern.txt", "D 12345678"), (PLAN, "- [x] 00 before"), *_lines_of(examiner)]
    transcript.write_text("".join(f"{_tool_use(path, new)}\n" for path, new in used))
    words = f"Item 01 in way {way}: step {done} of {len(item.files)} comes next, in {files[0]}."
    return handoff_text(
        Handoff(
            "Carry out the plan",
            item=item.title,
            summary=words if said else "",
            files=tuple(
                FileInProgress(
                    path=p, lines=f"{len(held[p]) - 2}-{len(held[p]) - 1}", description=""
                )
                for p in dict.fromkeys(files)
            ),
            calls=(*calls, Used("Read", item.description, "30 lines")),
            references=(Reference("Full transcript", transcript.name),),
        )
    )


def _lines_of(examiner: Examiner) -> list[tuple[str, str]]:
    files = examiner.task.items[0].files
    given = examiner.given.items()
    return [(files[step.number - 1], f"{step.way} {mark}") for mark, step in given]


def _tool_use(path: str, new: str) -> str:
    """An edit as a transcript has it."""
    given = {"file_path": path, "old_string": END, "new_string": f"{new}\n{END}"}
    block = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": given}
    message = {"type": "assistant", "message": {"content": [block]}}
    return json.dumps(message, separators=(",", ":"))


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("way", ["A", "D"])
def test_a_session_goes_on_where_a_handoff_says_that_it_was(
    examiner: Examiner, way: str, *, said: bool
) -> None:
    text = left(examiner, 3, way, said=said)
    move = played(examiner, PROMPT, {HANDOFF: text})
    assert step_of(examiner, move) == Step(1, 4, way)


@pytest.mark.parametrize("said", [True, False])
def test_whether_an_edit_that_was_cut_off_was_made_is_looked_up(
    examiner: Examiner, *, said: bool
) -> None:
    text = left(examiner, 3, "B", said=said)
    cut_off = text.replace("`: `+3`", "`, which failed: `interrupted`", 1)
    assert cut_off != text
    move = played(examiner, PROMPT, {HANDOFF: cut_off})
    assert step_of(examiner, move) == Step(1, 4, "B")
    path = examiner.root / examiner.task.items[0].files[2]
    marks = [mark for mark, step in examiner.given.items() if step.number == 3]
    kept = [line for line in path.read_text().splitlines() if not line.endswith(marks[0])]
    path.write_text("\n".join(kept) + "\n")
    move = played(examiner, PROMPT, {HANDOFF: cut_off})
    assert step_of(examiner, move) == Step(1, 3, "B")


def test_without_the_section_the_item_is_begun_anew(examiner: Examiner) -> None:
    left(examiner, 3, "B", said=True)
    blanked = RESUMING.sub("", PROMPT)
    assert HANDOFF not in blanked
    assert "Carry out the plan" in blanked
    assert step_of(examiner, played(examiner, blanked, {})).number == 1


def test_who_goes_on_right_is_told_from_who_does_not() -> None:
    right = Step(2, 4, "C")
    assert Taken(right, True, Step(2, 4, "C")).continued
    assert not Taken(right, True, Step(2, 4, "D")).continued
    assert not Taken(right, True, Step(2, 1, "C")).continued
    assert not Taken(right, True, Step(3, 1, "C")).continued
    assert not Taken(right, True).continued
    assert Taken(Step(2, 1, ""), False, Step(2, 1, "A")).continued
    assert Taken(right, True, None, ticked=True).continued


def test_the_table_can_fail() -> None:
    def of(done: Step, repeated: int) -> Sums:
        taken = Taken(Step(2, 4, "C"), True, done)
        verdict = Verdict(5, 5 if not repeated else 4, 5, 20, 0, repeated)
        one = Ran(0, True, 2, {"L2": 1}, {}, 3, 60, [taken] * 3, verdict)
        return Sums.of([one])

    good, bad = of(Step(2, 4, "C"), 0), of(Step(2, 1, "A"), 6)
    verdicts = [row.ok for row in rows({"on": good, "blanked": bad, "off": bad}, "nobody")]
    assert False not in verdicts[:6]
    assert verdicts.count(None) == 5
    same = [row.ok for row in rows({"on": good, "blanked": good, "off": bad}, "nobody")]
    assert same.count(False) >= 2, "a handoff that is never missed is worthless"
    worse = [row.ok for row in rows({"on": bad, "blanked": good, "off": good}, "nobody")]
    assert worse[0] is False
    assert worse.count(False) >= 5
