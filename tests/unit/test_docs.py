"""The pages for users: current, linked, and naming commands that exist."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from docs.generate import FOLDER, pages
from ralph_tui.base.errors import UsageError
from ralph_tui.cli import COMMANDS, build_parser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PROGRAM = "ralph-tui"


@cache
def parsed(page: Path) -> list[tuple[str, str, str]]:
    """Its tokens as type, fence language, and content."""
    return [
        (t.type, t.info, t.content) for t in MarkdownIt().enable("table").parse(page.read_text())
    ]


def test_generated_pages_are_current() -> None:
    made = pages()
    stale = {name for name, text in made.items() if (FOLDER / name).read_text() != text}
    assert not stale, "python -m docs.generate"


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"^ +- docs/(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    there = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    assert sorted(listed) == there


def anchors(page: Path) -> set[str]:
    """Anchors of its headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", text.lower()) for text in headings)
    return {re.sub(r"[ ]+", "-", text.strip()) for text in words}


def links(page: Path) -> Iterator[str]:
    for _, _, content in (token for token in parsed(page) if token[0] == "inline"):
        yield from re.findall(r"\]\(([^)\s]+)\)", content)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    lost = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        missing = not target.exists() or (DOCS in page.parents and ROOT not in target.parents)
        if missing or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def commands(page: Path) -> Iterator[str]:
    """Command lines of the program in shell blocks."""
    for kind, info, content in parsed(page):
        if kind == "fence" and info in ("sh", "console"):
            for line in content.replace("\\\n", " ").splitlines():
                text = line.removeprefix("$ ").partition(" # ")[0].strip()
                if text.startswith(f"{PROGRAM} "):
                    yield text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_can_be_typed(page: Path) -> None:
    parser, _ = build_parser(COMMANDS)
    wrong = []
    for text in commands(page):
        words = shlex.split(re.split(r" (?:\||>|&&|;) ", text)[0])[1:]
        try:
            _, extras = parser.parse_known_args(words)
        except (UsageError, SystemExit) as error:
            extras = [str(error)]
        if extras:
            wrong.append((text, extras))
    assert not wrong
