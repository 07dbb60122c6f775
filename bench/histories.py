"""Recorded histories of real projects and loops, as runs for the overseer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.families import Simulated

FILE = Path(__file__).parents[1] / "tests/fixtures/histories/histories.jsonl"


@dataclass(frozen=True)
class Recorded:
    """One history."""

    label: str
    """healthy, mixed, stuck or oscillating, in hindsight."""
    run: Simulated


def recorded() -> Iterator[Recorded]:
    """Yield all histories in the file's order."""
    for line in FILE.read_text("utf-8").splitlines():
        found = json.loads(line)
        yield Recorded(
            found["label"],
            Simulated(
                found["baseline"],
                found["readings"],
                found["items"],
                grew=frozenset(found["grew"]),
                totals=tuple(found["totals"]),
            ),
        )
