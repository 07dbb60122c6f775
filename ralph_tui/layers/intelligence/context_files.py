"""Choose the files that the next session should open first, from an iteration's evidence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from ralph_tui.events import GateFinished
from ralph_tui.events.intelligence import ContextFiles
from ralph_tui.layers.intelligence.evidence import Evidence
from ralph_tui.layers.memory.planning import group_of

MOST: Final = 10
"""Maximum number of files of each kind."""
TESTS: Final = 200
"""Maximum number of failing tests whose files are searched for."""
_WORD: Final = re.compile(r"[^\W_]+(?:[_-]+[^\W_]+)*")
_MENTIONED: Final = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w\.\w+")
_IN_FILE: Final = re.compile("::| > | › ")
"""Separators between the name of a file and the name of its test."""
_PASSING: Final = re.compile(r"\b(?:PASS(?:ED)?|ok)\b|[✓✔]")
_OURS: Final = (".aiwg/ralph/", ".aiwg/ralph-external/", ".aiwg/knowledge/")
"""Folders with the records of loops, which are not artifacts of the work."""


def context_files(evidence: Evidence) -> ContextFiles:
    """Return the files of failing tests, changed files, and artifacts of the run."""
    changes = evidence.files.changes if evidence.files else []
    there = [change for change in changes if change.status != "deleted"]
    changed = [change.path for change in there if change.category != "aiwg"]
    latest = [evidence.last_change] if evidence.last_change in changed else []
    gone = {*evidence.traces.gone, *(c.path for c in changes if c.status == "deleted")}
    artifacts = [
        *evidence.traces.artifacts,
        *(change.path for change in there if change.category == "aiwg"),
        *evidence.artifacts,
    ]
    return ContextFiles(
        recently_modified=_first([*latest, *changed]),
        test_files=_first(failing_files(evidence.gate, evidence.test_files)),
        artifacts=_first([p for p in artifacts if p not in gone and not p.startswith(_OURS)]),
    )


def _first(paths: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(paths))[:MOST]


def failing_files(gate: GateFinished | None, test_files: Sequence[str]) -> list[str]:
    """Return the files of the failing tests, as far as their names or the output identify them.

    All results are in `test_files`. A name that fits several files equally well is ignored.
    """
    if gate is None or gate.ok or not test_files:
        return []
    index = _index_by_stem(test_files)
    found = [_file_of(name, index) for name in gate.failing[:TESTS]]
    named = [path for path in found if path]
    if not found or not all(found):
        named += _mentioned(gate.tail, test_files)
    return list(dict.fromkeys(named))


class _TestFile(NamedTuple):
    path: str
    words: tuple[str, ...]
    """Words of the path without its extension."""
    extension: str


def _index_by_stem(paths: Sequence[str]) -> Mapping[tuple[str, ...], list[_TestFile]]:
    index: dict[tuple[str, ...], list[_TestFile]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem, _, extension = name.rpartition(".")
        if words := _words(stem or name):
            file = _TestFile(path, (*_words(folder), *words), extension.lower())
            index.setdefault(words, []).append(file)
    return index


def _words(text: str) -> tuple[str, ...]:
    """Split into normalized words: ``CartTest``, ``cart_test`` and ``Cart-test`` are equal."""
    return tuple(re.sub("[_-]", "", word).lower() for word in _WORD.findall(text))


def _file_of(name: str, index: Mapping[tuple[str, ...], list[_TestFile]]) -> str:
    """Return the path that shares the most words with a test's file or class; empty if none."""
    bracketed = name.endswith(")") and " (" in name
    words = _words(group_of(name) if bracketed else _IN_FILE.split(name)[0])
    scored = [
        (score, file.path)
        for begin in range(len(words))
        for end in range(begin + 1, min(begin + 3, len(words)) + 1)
        for file in index.get(words[begin:end], ())
        if (score := _score(file, words[:end], words[end : end + 1], end - begin))
    ]
    best = max((score for score, _ in scored), default=0)
    paths = {path for score, path in scored if score == best}
    return paths.pop() if len(paths) == 1 else ""


def _score(file: _TestFile, words: Sequence[str], after: Sequence[str], stem: int) -> int:
    """Return how many words of the path match the name in a row; 0 if that is no evidence."""
    both = zip(reversed(file.words), reversed(words), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
    same += tuple(after) == (file.extension,)
    own = "".join(file.words[-stem:])
    distinctive = re.search("test|spec", own) and own not in ("test", "tests", "spec", "specs")
    return same if same > stem or distinctive else 0


def _mentioned(output: str, test_files: Sequence[str]) -> Iterator[str]:
    """Yield the test files that the output mentions, by path or by unique name.

    Lines about passing tests are ignored.
    """
    lines = "\n".join(line for line in output.splitlines() if not _PASSING.search(line))
    known: dict[str, str] = {}
    for path in test_files:
        name = path.rpartition("/")[2]
        known[name] = "" if name in known else path
    known.update({path: path for path in test_files})
    for text in dict.fromkeys(_MENTIONED.findall(lines)):
        parts = text.replace("\\", "/").split("/")
        tails = ("/".join(parts[start:]) for start in range(len(parts)))
        if path := next((known[tail] for tail in tails if known.get(tail)), ""):
            yield path
