"""The file that ``config init`` writes: complete, without effect, and valid as it is."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.config.described import COMMON, commented_file, described
from ralph_tui.config.files import user_config_file
from ralph_tui.config.repository_file import refused
from ralph_tui.config.settings import NAMES, Settings, leaves
from ralph_tui.config.sources import examine
from ralph_tui.text.durations import format_seconds, seconds
from tests.rows import each_row
from tests.words import retired


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = user_config_file()
    path.parent.mkdir(parents=True)
    return path


def uncommented(text: str) -> str:
    """Set every setting to its documented value."""
    return re.sub(r"^#(?=[a-z_]+ = )", "", text, flags=re.MULTILINE)


def test_as_it_is_it_sets_nothing() -> None:
    for repository in (False, True):
        assert not list(leaves(tomllib.loads(commented_file(repository=repository))))


def test_every_setting_stands_there_with_its_default(user_file: Path) -> None:
    user_file.write_text(uncommented(commented_file()))
    loaded = examine(None, {}, {})
    assert loaded.problems == ()
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {str(user_file)}
    assert loaded.origins.keys() == set(NAMES)


def test_a_repositorys_file_has_what_one_may_set(tmp_path: Path, user_file: Path) -> None:
    file = tmp_path / ".ralph-tui.toml"
    file.write_text(uncommented(commented_file(repository=True)))
    loaded = examine(tmp_path, {}, {})
    assert loaded.problems == loaded.warnings == ()
    set_there = {name for name, origin in loaded.origins.items() if origin == str(file)}
    assert set_there == {name for name in NAMES if not refused(name)}
    assert "permissions" not in file.read_text()
    assert "[outreach]" not in file.read_text()


def test_each_is_explained_in_words_of_the_file() -> None:
    settings = list(described())
    assert sorted(setting.name for setting in settings) == sorted(NAMES)
    for setting in settings:
        assert len(setting.meaning) > 10, setting.name
        assert not re.search(r"None|True|False|`", setting.meaning), setting.name
    assert retired(commented_file().replace("[gate]", "")) == []
    assert max(map(len, commented_file().splitlines())) <= 88


@each_row(
    ("name", "range_"),
    [
        ("progress", '"auto", "tests", "plan", "agent" or "estimate"'),
        ("limits.max_iterations", "a whole number from 1 to 1,000"),
        ("limits.budget_usd", "a number above 0, at most 1,000,000"),
        ("limits.session_timeout_s", "1s to 7d, or a number of seconds"),
        ("control.enabled", "true or false"),
        ("outreach.tracker", '"gitea" or "github"'),
        ("agent.model", ""),
    ],
)
def test_a_range_is_what_is_checked(name: str, range_: str) -> None:
    assert next(each.range for each in described() if each.name == name) == range_


@given(st.integers(0, 10**8) | st.floats(0, 1e5).map(lambda value: round(value, 1)))
def test_a_duration_is_read_as_it_is_as_typed(value: float) -> None:
    assert seconds(format_seconds(value)) == pytest.approx(value)


def test_what_people_change_is_fifteen_settings() -> None:
    assert len(COMMON) == 15
    assert set(NAMES) >= COMMON
    text = commented_file(every=False)
    assert len(re.findall(r"^#[a-z_]+ = ", text, re.MULTILINE)) == 15
    assert "`config init --all`" in " ".join(text.replace("\n# ", " ").split())
    assert "[keys]" not in text
