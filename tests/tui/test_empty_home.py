"""The home screen before the first run."""

from pathlib import Path

import pytest

from ralph_tui.ports.new_runs import Finding, Surroundings
from ralph_tui.runtime.new_runs import FolderNewRuns
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.home.empty import rows

MISSING = Surroundings(
    folder="~/work/thing",
    findings=(
        Finding("git repository", "good", "~/work/thing"),
        Finding("commits", "warn", "none yet", ("git add .",)),
        Finding("agent", "warn", "no agent found: install one", ("looked for   claude",)),
    ),
)


def text(place: Surroundings | None, width: int = 76, *, fleet: bool = False) -> str:
    page = rows(place, width, fleet=fleet)
    return "\n".join("".join(part for part, _ in row) for row in page)


def test_what_to_do_first_stands_above_what_is_missing() -> None:
    page = text(MISSING)
    assert page.index("No run is recorded in ~/work/thing yet.") < page.index("n   start")
    assert page.index("D   try it on a sample") < page.index("✓ git repository")
    assert "▲ commits          none yet\n                   git add ." in page
    assert "looked for   claude" in page
    typed = 'ralph-tui run "Fix the failing tests" -c "pytest -q"'
    assert page.index("D   try it on a sample") < page.index(typed) < page.index("✓ git repository")


def test_where_only_fleets_ran_nobody_is_told_of_the_first_run() -> None:
    page = text(MISSING, fleet=True)
    assert "No run outside the fleet is recorded in ~/work/thing yet." in page
    assert page.index("F   open the fleet") < page.index("n   start a run in this worktree")
    assert "first run" not in page
    assert "see it work" not in page


def test_all_of_it_fits_a_small_screen_where_there_is_no_agent(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [f"/opt/tools/of/some/length/{number}/bin" for number in range(20)]
    monkeypatch.setenv("PATH", ":".join(["/usr/bin", "/bin", *folders]))
    place = FolderNewRuns(git_repo).look()
    assert len(rows(place, 76)) <= 22, "rows between the first and the last of 24"
    assert "claude, codex, gemini, opencode in the 22" in text(place)
    assert "try it on a sample" in text(place)


def test_before_the_look_is_over_it_says_so() -> None:
    assert "checking your set-up" in text(None)
    assert "n   start" in text(None)


def test_a_click_presses_the_key() -> None:
    styles = {style for row in rows(MISSING, 76) for _, style in row}
    assert {"text @n", "text @D"} <= styles


@pytest.mark.parametrize("width", [1, 12, 40, 76, 200])
def test_no_row_is_wider_than_its_room(width: int) -> None:
    hostile = Finding("x" * 90, "critical", "\u202e" + "w" * 5000 + "漢" * 90, ("y" * 3000,))
    place = Surroundings(folder="/" + "f" * 3000, findings=(*MISSING.findings, hostile))
    assert all(cells(row) <= max(width, 30) for row in rows(place, width))
