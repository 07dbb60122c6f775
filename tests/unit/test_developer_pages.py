"""The pages for developers name only existing things."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+(?:\.(?:py|tcss|md|toml|txt)|/))`")
WRITTEN = {"betterleaks.toml"}
"""Files outside this repository."""
PAGES = ["CONTRIBUTING.md", "docs/explanation/architecture.md", "bench/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_is_there(page: str) -> None:
    known = [
        f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}"
        for folder in ("ralph_tui", "tests", "bench", "docs")
        for path in [ROOT / folder, *(ROOT / folder).rglob("*")]
    ] + [f"/{path.name}" for path in ROOT.iterdir()]
    named = set(NAMED.findall((ROOT / page).read_text())) - WRITTEN
    assert named
    assert {name for name in named if not any(one.endswith(f"/{name}") for one in known)} == set()
