"""Retired words do not return to any text for people."""

import re
from pathlib import Path

import pytest

import ralph_tui
from ralph_tui.cli import main
from tests.rows import each_row
from tests.unit.loop.golden_prompts import GOLDEN
from tests.words import RETIRED, drawn, retired, sentences

PACKAGE = Path(ralph_tui.__file__).parent
REPOSITORY = PACKAGE.parent
NO_WORDS = (
    "text/secrets",  # formats of keys
    "layers/oversight/objective.py",  # foreign text without meaning
    "layers/memory/orders.py",
    "layers/memory/similarity.py",
    "demo/project",
)
"""Files whose texts are not ours."""
DOCS = REPOSITORY / "docs"
PICTURES = REPOSITORY / "tests" / "snapshots" / "__snapshots__"
NO_PAGES = ("events.md", "architecture.md")
"""Pages that name what journals and code contain."""
OTHERS_WORDS = ("hostile", "imported")
"""Pictures of free text from an agent or another tool."""
SAID_SO = {"hooks/program/words.py": "a line that programs read"}


@each_row("instead", RETIRED)
def test_each_of_them_is_found(instead: str) -> None:
    """A word that matches no text guards nothing."""
    samples = {
        "tests, or the completion command": "the gate passed",
        "failing": "while it is red",
        "restore": "rolled back to the best",
        "restored": "the files were brought back",
        "saved": "80 % held",
        "you": "by its owner",
        "iteration N/M": "it 2/10",
        "context": "ctx 12 %",
        "what the verdict says": "slow, healthy",
        "progress": "control signal 0.3",
        "another approach": "pivot: reframe",
        "continue": "strategy persist",
        "a level in words": "at L2",
        "may edit files": "acceptEdits",
        "no answer in 2 min": "approved by the default",
        "retry at": "tried again at 10:59",
        "nothing": "taken: 0 new",
        "7 of 10 iterations are used": "70 % of the budget is used",
        "− for a minus": "a pace of -3.3 points",
        "a blank before %": "70% done",
        "correct it": "is not valid TOML: mend it there",
        "alarm": "1 episode, 1 open",
        "reported, shown": "you are told the result",
        "no one, you": "nobody answers",
        "continues": "resume goes on with it",
        "singular": "+3 in 1 calls",
    }
    assert any(f"(say: {instead})" in said for said in retired(samples[instead]))


def unquoted(page: str) -> str:
    """Markdown without code blocks, which contain foreign output."""
    return re.sub(r"^(```+|~~~+).*?^\1", "", page, flags=re.DOTALL | re.MULTILINE)


def test_names_are_no_words() -> None:
    assert not retired("abort --roll-back, decide roll_back, `gate_finished`, ``L2``, 1 point")


def test_no_sentence_of_the_program_uses_them() -> None:
    """Every text in the code with a blank in it, which distinguishes messages from names."""
    found = [
        f"{path}:{line}: {said}"
        for module in sorted(PACKAGE.rglob("*.py"))
        if not (path := module.relative_to(PACKAGE).as_posix()).startswith(NO_WORDS)
        if path not in SAID_SO
        for line, text in sentences(module)
        if " " in text.strip()
        for said in retired(text)
    ]
    assert not found, "\n".join(found)


def test_no_page_uses_them() -> None:
    pages = [
        REPOSITORY / "README.md",
        *(path for path in DOCS.rglob("*.md") if path.name not in NO_PAGES),
    ]
    found = [f"{page}: {said}" for page in pages for said in retired(unquoted(page.read_text()))]
    assert not found, "\n".join(found)


def test_no_picture_shows_one() -> None:
    pictures = {path.stem: drawn(path.read_text()) for path in PICTURES.rglob("*.svg")}
    assert any("z zoom" in text for text in pictures.values())
    found = [
        f"{name}: {said}"
        for name, text in pictures.items()
        if not any(stranger in name for stranger in OTHERS_WORDS)
        for said in retired(text)
    ]
    assert not found, "\n".join(found)


def test_the_page_installs_from_the_clone_alone() -> None:
    """No package index has ralph-tui yet."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert not re.findall(r"install '?ralph-tui", text)
    assert "pip install ." in text


def test_no_help_uses_them(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*words: str) -> str:
        assert main([*words, "--help", "--all"]) == 0
        return capsys.readouterr().out

    pages = {"": shown()}
    inner = re.compile(r"^    ([a-z]+)(?:  |$)", re.MULTILINE)
    for command in inner.findall(pages[""]):
        pages[command] = shown(command)
        actions = inner.findall(pages[command]) if "ACTION" in pages[command] else []
        pages |= {f"{command} {action}": shown(command, action) for action in actions}
    assert {"restore", "memory list", "hooks install"} <= set(pages)
    found = [f"{name} --help: {said}" for name, page in pages.items() for said in retired(page)]
    assert not found, "\n".join(found)


def test_no_prompt_uses_them() -> None:
    kept = sorted(GOLDEN.glob("*.md"))
    assert kept
    found = [
        f"{path.name}: {said}" for path in kept for said in retired(unquoted(path.read_text()))
    ]
    assert not found, "\n".join(found)
