"""Select the useful lines of a completion command's output: failures and their reasons."""

import re

from ralph_tui.layers.intelligence.fence import sanitize

LONGEST = 3000
"""Maximum length of the selected lines, in characters."""
LONGEST_LINE = 2000
GAP = "…"
"""Placeholder for omitted lines."""

_DOTS = re.compile(r"\s*[.,*·sxXFE]*\s*(\[ *\d+ ?%\])?\s*")
_BAR = re.compile(r"[\s\-=_*#~+]*")
_PASSED = re.compile(
    r"\bPASSED\b|^\s*(ok|PASS|✓|✔|√)\b|^\s*--- PASS|\.\.\. ok$|^\s*[✓✔√]|^=== (RUN|PAUSE|CONT)\b"
)
_INFORMATIVE = re.compile(
    r"fail|error|assert|expect|panic|traceback|exception|refus|missing|undefined|not found|"
    r"cannot|timed? ?out|^E\s|^\s*>\s|^not ok|✗|✘|×|\b\d+ (passed|failed|skipped)|[A-Za-z]+:\d+",
    re.IGNORECASE,
)


def useful_lines(tail: str) -> tuple[str, ...]:
    """Return the informative lines from the end of an output, in order and limited in size."""
    lines = [_trim(line) for line in sanitize(tail).strip("\n").split("\n")]
    worth = [line for line in lines if not _is_noise(line)]
    if not worth:  # only passes: the last lines are better than nothing
        worth = [line for line in lines if line.strip()][-10:]
    if not worth:
        return ()
    # The latest informative lines come first, then the latest of the others.
    order = sorted(
        range(len(worth)), key=lambda place: (not _INFORMATIVE.search(worth[place]), -place)
    )
    taken, room = list[int](), LONGEST
    for place in order:
        room -= len(worth[place]) + 1
        if room < 0 and taken:
            break
        taken.append(place)
    taken.sort()
    shown: list[str] = []
    for before, place in zip([taken[0] - 1, *taken], taken, strict=False):
        shown += [GAP] if place > before + 1 else []
        shown.append(worth[place])
    return tuple(shown)


def _trim(line: str) -> str:
    """Strip trailing white space and limit the length."""
    line = line.rstrip()
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}{GAP}"


def _is_noise(line: str) -> bool:
    dots = _DOTS.fullmatch(line) and ("." in line or "%" in line or not line.strip())
    return bool(dots or _BAR.fullmatch(line) or _PASSED.search(line))
