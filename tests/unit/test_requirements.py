"""Every row of `tests/requirements.tsv` names a place and a test that exist, or a reason."""

import ast
import re
from functools import cache

from tests.paths import ROOT

TABLE = ROOT / "tests" / "requirements.tsv"
COLUMNS = 4
"""Number, requirement, place, and test or reason."""


def rows() -> list[list[str]]:
    return [line.split("\t") for line in TABLE.read_text("utf-8").splitlines()]


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def is_shown(shown: str) -> bool:
    """True if it is a reason, or a test that exists."""
    if shown.startswith("dropped: "):
        return len(shown.split()) > 3
    path, _, test = shown.partition("::")
    return (ROOT / path).is_file() and test.partition("[")[0] in functions(path)


def test_each_row_is_whole_and_has_a_number_of_its_own() -> None:
    assert [row for row in rows() if len(row) != COLUMNS or not all(row)] == []
    numbers = [row[0] for row in rows()]
    assert len(numbers) == len(set(numbers))
    assert [number for number in numbers if not re.fullmatch(r"(?:S\d|M)-\d+", number)] == []


def test_each_place_exists() -> None:
    assert [row for row in rows() if not (ROOT / row[2]).exists()] == []


def test_each_row_has_a_test_that_exists_or_a_reason() -> None:
    assert [row for row in rows() if not is_shown(row[3])] == []
