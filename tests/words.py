"""Retired words of this program, and how to search a text for them.

Names in code marks, options, and names with an underscore are exempt: scripts and journals use
``--roll-back`` and ``roll_back``.
"""

import ast
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

RETIRED = {
    "tests, or the completion command": r"\bgates?\b",
    "failing": r"\bred\b",
    "restore": r"\brol(?:l|led|ling|ls)[ -]back\b|\broll-?backs?\b",
    "restored": r"\b(?:bring(?:s|ing)?|brought) (?:(?:the )?(?:files?|work|them|it) )?back\b",
    "saved": r"\bheld\b",
    "reported, shown": r"\btold\b",
    "no one, you": r"\b(?:nobody|somebody|whoever)\b",
    "continues": r"\bgo(?:es)? on with\b|\bwent on\b",
    "you": r"\bowners?\b(?!/name| strong)",
    "context": r"\bctx\b",
    "what the verdict says": r"\bnear completion\b|\bon course\b|\bhealthy\b",
    "progress": r"\bcontrol signal\b",
    "another approach": r"\bpivot(?:s|ed|ing)?\b",
    "continue": r"\bpersist\b",
    "a level in words": r"(?<!\blevel )\bL[0-3]\b",
    "may edit files": r"\bacceptEdits\b",
    "no answer in 2 min": r"\bby the default\b|\banswered itself\b",
    "retry at": r"\btried again at\b",
    "correct it": r"\bmend (?:it|that|them)\b|\bchange it there\b",
    "alarm": r"\bepisodes?\b",
    "iteration N/M": r"\bit \d+/\d+",
    "nothing": r"\b0 new\b",
    "7 of 10 iterations are used": r"% of the budget is used\b",
    "− for a minus": r"(?:^|(?<=[ (│])(?<!@@ ))-\d",
    "a blank before %": r"\d%",
    "singular": r"(?<![\d.,/:+−-])(?<!of )\b1 (?:calls|points|iterations|files|tests|minutes|"
    r"seconds|sessions|lines|questions|answers|items|learnings|checkpoints|snapshots|events|tokens|"
    r"errors|times|steps|runs|attempts|tasks|rollovers|dollars|commands|alarms)\b(?!/)",
}
"""The replacement for each retired word or form, and the pattern that finds it."""
_FLAGS = re.IGNORECASE | re.MULTILINE
_CODE = re.compile(r"``[^`]*``|`[^`\n]*`|(?<!\w)--[\w-]+(?:=\S+)?|\"[a-z_]+\"(?=:)")


def retired(text: str) -> list[str]:
    """Each line of a text with a retired word, after the word."""
    lines = [_CODE.sub("`", line) for line in text.splitlines()]
    if not any(re.search(pattern, "\n".join(lines), _FLAGS) for pattern in RETIRED.values()):
        return []  # one look at the whole is much cheaper
    return [
        f"{match[0]!r} (say: {instead}) in: {line.strip()}"
        for line in lines
        for instead, pattern in RETIRED.items()
        for match in re.finditer(pattern, line, _FLAGS)
    ]


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
