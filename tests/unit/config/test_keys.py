"""User-defined keys: valid names, errors, and the keys of every screen."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from textual.keys import _character_to_key

import ralph_tui.loop.steps as all_steps
from ralph_tui.base.errors import SettingsError
from ralph_tui.config.described import commented_file
from ralph_tui.config.files import screen_settings, variable
from ralph_tui.config.settings import Settings
from ralph_tui.config.sources import examine, load
from ralph_tui.events.waiting import Option
from ralph_tui.text.keys import _SIGNS, DEFAULTS, TABLE, Keys, checked, conflicts
from ralph_tui.tui.modals import export
from ralph_tui.tui.modals.choice import OWN
from ralph_tui.tui.modals.learning import LearningCard


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config/ralph-tui/config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_by_itself_no_key_does_two_things_and_each_can_be_set() -> None:
    assert list(conflicts({})) == []
    for action, row in TABLE.items():
        assert checked(action, row.keys) == row.keys
    assert all(_character_to_key(sign) == name for sign, name in _SIGNS.items())


def test_the_strongest_source_counts_and_screens_without_settings_see_the_same(
    tmp_path: Path, user_file: Path
) -> None:
    user_file.write_text('[keys]\npause = "f5"\nguide = "G,ctrl+g"\ncopy_text = "?"')
    (tmp_path / ".ralph-tui.toml").write_text('[keys]\npause = "F6"\nhelp = "h"')
    environ = {variable("keys.zoom"): "alt+z"}
    loaded = load(tmp_path, {}, environ)
    assert loaded.place_of("keys.pause") == f"{tmp_path}/.ralph-tui.toml:2", "it is harmless"
    assert not loaded.warnings
    for keys in (Keys(loaded.settings.keys.model_dump()), screen_settings(tmp_path, environ).keys):
        assert keys.of("pause") == ("f6",)
        assert keys.of("guide") == ("G", "ctrl+g")
        assert keys.shown("guide") == "G"
        assert (keys.of("copy_text"), keys.shown("copy_text")) == (("question_mark",), "?")
        assert keys.shown("zoom") == "alt+z"
        assert keys.shown("abort") == "a"
    set_once = load(tmp_path, {}, environ, ["keys.pause=f7"])
    assert Keys(set_once.settings.keys.model_dump()).shown("pause") == "f7"
    assert screen_settings(tmp_path, environ, ["keys.pause=f7"]).keys.shown("pause") == "f7"
    assert not [name for name in loaded.settings.of_the_run() if name.startswith("keys")]


WRONG = """\
[keys]
paus = "f5"
zoom = "escape"
guide = "spce"
theme = "3"
export = "ctrl+i"
search = "ctrl+c"
help = ""
play = 4
copy_text = "w"
next_mark = "f9"
previous_mark = "f9"
home_new = "f8"
leave = "f8"
"""


def test_all_that_is_wrong_is_told_with_line_and_suggestion(user_file: Path) -> None:
    user_file.write_text(WRONG)
    with pytest.raises(SettingsError) as caught:
        load(None, {}, {})
    expand = caught.value.sentences
    for line, said in (
        (2, "is not a setting: did you mean keys.pause?"),
        (3, "must be another key: panes and dialogs need escape, not 'escape'"),
        (4, "(did you mean space?), not 'spce'"),
        (5, "must be another key: panes and dialogs need 3"),
        (6, "must be another key: terminals send tab for ctrl+i"),
        (7, "must be another key: ctrl+c always leaves"),
        (8, "must be a key such as p, P, f5, ctrl+g or space, not ''"),
        (9, "must be text, not 4"),
        (10, "is w, which keys.retry uses by default; change one of them"),
        (11, f"is f9, which keys.previous_mark ({user_file}:12) also uses"),
        (13, "also uses; change one of them"),
    ):
        assert [each for each in expand if f"{user_file}:{line})" in each and said in each], said
    assert len(expand) == 11
    assert screen_settings(None, {}).keys.of("pause") == ("p",), (
        "it waits for no settings to be right"
    )


def test_one_wrong_key_is_one_sentence_and_no_far_fetched_guess(user_file: Path) -> None:
    user_file.write_text('[keys]\nreport = "d"\npause = "meta+p"\nbogus = "x"\n')
    expand = examine(None, {}, {}).problems
    assert [each.partition(" ")[0] for each in expand if "uses by default" in each] == [
        "keys.report"
    ]
    assert [each for each in expand if "keys.pause" in each]
    assert not [each for each in expand if "did you mean" in each]


def test_a_key_that_is_refused_is_shown_to_count_nowhere(user_file: Path) -> None:
    user_file.write_text('[keys]\npause = "g"\n')
    loaded = examine(None, {}, {})
    assert "keys.guide uses by default" in loaded.problems[0]
    assert Keys(loaded.settings.keys.model_dump()).shown("pause") == screen_settings(
        None, {}
    ).keys.shown("pause")
    assert loaded.settings.by_name()["keys.pause"] == "p"
    assert loaded.place_of("keys.pause") == "default"


def test_two_that_are_never_on_one_screen_may_have_one_key() -> None:
    chosen = {"guide": "x", "play": "x", "home_demo": "x"}
    assert list(conflicts(chosen)) == []
    assert list(conflicts({"decide": "x", "diff": "x"})) == [], "as d, where nothing is set"
    assert list(conflicts({**chosen, "zoom": "x"})) == [
        ("guide", "zoom", "x"), ("play", "zoom", "x"),
    ]  # fmt: skip
    assert Keys({**chosen, "zoom": "x"}).of("guide") == ("g",), "then all are as they always were"


def test_the_commented_file_has_them_all() -> None:
    text = commented_file()
    assert '# pause or unpause the run\n#pause = "p"\n' in text
    assert '#leave = "q,ctrl+q,ctrl+c"' in text
    for action in TABLE:
        assert getattr(Settings().keys, action)
        assert f"\n#{action} = " in text


def test_a_sentence_names_the_key_that_is_set() -> None:
    assert Keys({"pause": "f5"}).expand("{pause} pauses, {nothing} {}") == "f5 pauses, {nothing} {}"
    assert DEFAULTS.expand("{back}{forward}") == "←→"


def test_a_key_set_for_another_action_before_it_was_a_default_keeps_it() -> None:
    """Settings of earlier versions still work: the action whose default moved there yields."""
    for chosen, name, key in (
        ({"zoom": "f"}, "diff", "d"),
        ({"checkpoint": "E"}, "export", "e"),
        ({"pause": "N"}, "again", "n"),
        ({"home_new": "F"}, "home_fleet", "f"),
    ):
        assert list(conflicts(chosen)) == []
        assert Keys(chosen).of(name) == (key,)
        assert Keys({**chosen, name: "f9"}).of(name) == ("f9",)
    assert Keys({"zoom": "f"}).of("home_fleet") == ("F",), "zoom is on another screen"


ONE_MEANING = {
    "a": {"abort", "fleet_abort"},
    "d": {"decide", "fleet_decide"},
    "E": {"export"},
    "f": {"diff"},
    "g": {"guide", "fleet_guide"},
    "n": {"home_new"},
    "N": {"again"},
    "p": {"pause", "fleet_pause"},
    "r": {"restore"},
    "u": {"resume", "home_resume"},
    "x": set(),
    "e": set(),
    "y": {"copy_text"},
    "w": {"retry"},
    "z": {"zoom"},
}
"""By key, the actions of screens that have it."""
IN_DIALOGS = {
    "a": {"abort"},
    "e": {"approve", "send"},
    "g": {"guide", "refuse", "leave"},
    "n": {"decline", "no", "refuse", "leave"},
    "y": {"approve", "continue", "yes", "once", "promise", "send", "wait"},
    "w": {"criterion"},
}
"""By key, the answers of questions that have it; other keys are not answers."""


def test_one_key_has_one_meaning_on_all_screens() -> None:
    for key, actions in ONE_MEANING.items():
        assert {name for name, row in TABLE.items() if key in row.keys.split(",")} == actions, key


def test_one_key_has_one_meaning_in_all_questions() -> None:
    steps = [
        importlib.import_module(f"{all_steps.__name__}.{module.name}")
        for module in pkgutil.iter_modules(all_steps.__path__)
    ]
    options = [
        value for step in steps for value in vars(step).values() if isinstance(value, Option)
    ]
    assert len(options) >= 20
    for option in options:
        if option.key in ONE_MEANING:
            assert option.answer in IN_DIALOGS.get(option.key, set()), option
    assert LearningCard.CHANGES["x"] == "delete"
    assert LearningCard.CHANGES["e"] == "edit"
    assert OWN == "w"
    assert not ONE_MEANING.keys() & {*export.KEYS, *LearningCard.CHANGES} - {"x", "e"}
