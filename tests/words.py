"""Retired words of this program, and how to search a text for them.

Names in code marks, options, and names with an underscore are exempt: scripts and journals use
``--roll-back`` and ``roll_back``.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

RETIRED = {
    "tests, or the completion command": r"\bgates?\b",
    "failing": r"\bred\b",
    "restore": r"\brol(?:l|led|ling|ls)[ -]back\b|\broll-?backs?\b",
    "restored": r"\b(?:bring(?:s|ing)?|brought) (?:(?:the )?(?:files?|work|them|it) )?back\b",
    "saved": r"\bheld\b",
    "you": r"\bowners?\b(?!/name| strong)",
    "iteration N/M": r"\bit \d+/\d+",
    "context": r"\bctx\b",
    "what the verdict says": r"\bnear completion\b|\bon course\b|\bhealthy\b",
    "progress": r"\bcontrol signal\b",
    "another approach": r"\bpivot(?:s|ed|ing)?\b",
    "continue": r"\bpersist\b",
    "a level in words": r"\bL[0-3]\b",
    "may edit files": r"\bacceptEdits\b",
    "no answer in 2 min": r"\bby the default\b|\banswered itself\b",
    "retry at": r"\btried again at\b",
    "nothing": r"\b0 new\b",
    "7 of 10 iterations are used": r"% of the budget is used\b",
    "− for a minus": r"(?:^|(?<=[ (│])(?<!@@ ))-\d",
    "a blank before %": r"\d%",
    "correct it": r"\bmend (?:it|that|them)\b|\bchange it there\b",
    "alarm": r"\bepisodes?\b",
    "singular": r"(?<![\d.,/:+−-])(?<!of )\b1 (?:calls|points|iterations|files|tests|minutes|"
    r"seconds|sessions|lines|questions|answers|items|learnings|checkpoints|snapshots|events|tokens|"
    r"errors|times|steps|runs|attempts|tasks|rollovers|dollars|commands|alarms)\b(?!/)",
}
"""The replacement for each retired word, and the pattern that finds it."""
_PATTERNS = {
    said: re.compile(pattern, re.IGNORECASE | re.MULTILINE) for said, pattern in RETIRED.items()
}
NEAR = 12
"""Characters of a neighbour."""
_CODE = re.compile(r"``[^`]*``|`[^`\n]*`|(?<!\w)--[\w-]+(?:=\S+)?|\"[a-z_]+\"(?=:)")


def retired(text: str, record: str = "") -> list[str]:
    """Each retired word of a text with its neighbours.

    Words quoted from the `record` are not counted.
    """
    lines = (_CODE.sub(lambda match: "`" * len(match[0]), line) for line in text.splitlines())
    plain = "\n".join(lines)
    found = []
    for instead, pattern in _PATTERNS.items():
        for match in pattern.finditer(plain):
            before = plain[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
            after = plain[match.end() : match.end() + 40].partition("\n")[0]
            if not (record and _says(record, before, match[0], after)):
                around = f"{before}{match[0]}{after}".strip()
                found.append(f"{match[0]!r} (say: {instead}) in: {around}")
    return found


def retired_in(texts: Iterable[tuple[str, str]], record: str = "") -> list[str]:
    """Each retired word of these texts, after the name of the place of its text."""
    known = list(texts)
    if not retired("\n".join(text for _, text in known), record):  # one look is much cheaper
        return []
    return [f"{place}: {said}" for place, text in known for said in retired(text, record)]


def _says(record: str, before: str, word: str, after: str) -> bool:
    """True if the record has the word beside the same neighbour, across line breaks too."""
    neighbours = (f"{before[-NEAR:]}{word}".lstrip(), f"{word}{after[:NEAR]}".rstrip())
    return any(words in record and words != word for words in neighbours)


_DRAWN = re.compile(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>')


def drawn(picture: str) -> str:
    """The rows of a screen's SVG, as they read."""
    rows: dict[float, dict[float, str]] = {}
    for x, y, text in _DRAWN.findall(picture):
        rows.setdefault(float(y), {})[float(x)] = unescape(text).replace("\xa0", " ")
    return "\n".join("".join(row[x] for x in sorted(row)) for _, row in sorted(rows.items()))


def sentences(module: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that a person could read: no docstring, no name, no pattern."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    unread = {id(text) for node in ast.walk(tree) for text in _docstrings(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_pattern(node.func):
            unread |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            unread |= {id(part) for part in node.values}
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and isinstance(node, ast.Constant) and id(node) not in unread:
            yield node.lineno, text


def _docstrings(node: ast.AST) -> Iterator[ast.Constant]:
    """Docstrings of modules, classes and functions, and those below a field or constant."""
    body = getattr(node, "body", None)
    for statement in body if isinstance(body, list) else []:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            yield statement.value


def _is_pattern(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and (
        isinstance(function.value, ast.Name) and function.value.id == "re"
    )
