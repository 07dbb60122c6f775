"""A scripted agent that knows only its prompt and the files, nothing else of the run.

``python prompted_agent.py TASK SEED`` plays one session. Without help, the agent works in a poor
order, drawn from the seed. One pattern per task in the prompt makes it work better.
"""

# ruff: noqa: T201  the agent's output is printed
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

PARTS = [f"part_{number:02}" for number in range(12)]
WAYS = "ABCDEF"
MENDED = "mended\n"


def failing_test(prompt: str, order: Sequence[str], place: Path) -> str:
    """Mend the part that the prompt names as failing, or else the next one in the order."""
    named = re.search(r"^- (part_\d\d)$", section(prompt, "Measured state"), re.MULTILINE)
    return mend(named[1] if named else None, order, place)


def pivot(prompt: str, order: Sequence[str], place: Path) -> str:
    """Continue the first way, which covers some of the work, until the strategy forbids it."""
    way = place / "way.txt"
    if re.search(r"^Change the approach\.", section(prompt, "Strategy"), re.MULTILINE):
        way.write_text("the other way\n")
    carried = 2 + PARTS.index(order[0]) % 6
    reachable = order if way.exists() else order[:carried]
    return mend(None, reachable, place)


def learning(prompt: str, order: Sequence[str], place: Path) -> str:
    """Take the way that was learned, or else the next untried one."""
    taught = re.search(r"the tokenizer needs way ([A-F])", section(prompt, EARLIER))
    tried = [path.name[-1] for path in place.glob("way_?")]
    ways = [WAYS[PARTS.index(part)] for part in order if PARTS.index(part) < len(WAYS)]
    chosen = taught[1] if taught else next((way for way in ways if way not in tried), ways[-1])
    (place / f"way_{chosen}").touch()
    (place / "work.txt").write_text(f"{chosen}\n")
    works = subprocess.run(["sh", "check.sh"], cwd=place, capture_output=True, check=False)
    return f"In this project the tokenizer needs way {chosen}." if not works.returncode else ""


def plan(prompt: str, order: Sequence[str], place: Path) -> str:
    """Begin with the file named in an earlier attempt's lesson, or else with the next one."""
    lesson = re.search(r"lesson from .*changes in parts/(part_\d\d)", section(prompt, EARLIER))
    return mend(lesson[1] if lesson else None, order, place)


EARLIER = "Lessons from earlier runs"
TASKS: dict[str, Callable[[str, Sequence[str], Path], str]] = {
    "failing test": failing_test,
    "pivot": pivot,
    "learning": learning,
    "plan": plan,
}


def section(prompt: str, heading: str) -> str:
    """Return the text under a heading of the prompt."""
    found = re.search(rf"^# {heading}\n(.*?)(?=^# |\Z)", prompt, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def mend(wanted: str | None, order: Sequence[str], place: Path) -> str:
    """Mend the wanted part, or else the first unmended one in the order; one part per session."""
    parts = {part: place / "parts" / part for part in order}
    left = [part for part, path in parts.items() if path.read_text() != MENDED]
    chosen = wanted if wanted in left else next(iter(left), None)
    if chosen is None:
        return ""
    parts[chosen].write_text(MENDED)
    return f"mended {chosen}"


def poor_order(seed: int) -> list[str]:
    """Return the parts in the order in which the agent would try them."""
    return random.Random(seed).sample(PARTS, len(PARTS))


def session(task: str, seed: int, prompt: str, place: Path) -> dict[str, object]:
    """Do one session's work in `place`, and return its report."""
    said = TASKS[task](prompt, poor_order(seed), place)
    learned = [said] if said and task == "learning" else []
    return {"summary": said or "it did not help", "learnings": learned}


def main() -> None:
    """Play one session as a program."""
    report = session(sys.argv[1], int(sys.argv[2]), sys.stdin.read(), Path.cwd())
    print(json.dumps({"ralph": report}))


if __name__ == "__main__":
    main()
