"""The `outreach` settings: accepted values, and that secrets never leak."""

import importlib.util
import json
from pathlib import Path

import pytest

from ralph_tui.adapters.outreach import build_channels
from ralph_tui.base.errors import UsageError
from ralph_tui.config import sources as config
from ralph_tui.config.settings import NAMES, Settings
from ralph_tui.config.sources import load
from ralph_tui.text.secrets import secrets_of
from tests.rows import each_row

HOOK = "https://user:pass@hooks.example.com:8443/services/T0AB/x-secret-4711?key=abc"
MINE = [name for name in NAMES if name.startswith("outreach.")]


def settings(*options: str) -> Settings:
    return load(None, {}, {}, [f"outreach.{option}" for option in options]).settings


def test_a_webhook_shows_scheme_and_host_wherever_settings_are_shown() -> None:
    made = settings(f"webhook={HOOK}")
    assert made.by_name()["outreach.webhook"] == "https://hooks.example.com:8443"
    for text in (json.dumps(made.by_name()), repr(made), str(made)):
        assert "secret" not in text
        assert "pass" not in text


@each_row(
    "option",
    [
        "webhook=hooks.example.com/x-secret-4711",
        "webhook=ftp://hooks.example.com/x-secret-4711",
        "webhook=https:///x-secret-4711",
        "webhook=https://h.example.com/x-secret 4711",
        "webhook=https://[x-secret-4711",
        "webhook=https://h.example.com:x-secret-4711/",
        "webhook=https://h.example.com/x-secret-4711/" + "x" * 2000,
        "tracker_url=https://me:x-secret-4711@git.example.com",
        "tracker_url=https://git.example.com/?token=x-secret-4711",
        "token_variable=ghp_xsecret4711",
        "token_variable=x-secret-4711",
        "token_variable=X_SECRET_4711_PAT",
        "repository=x-secret-4711",
        "repository=../x-secret-4711",
        "repository=owner/../x-secret-4711",
        "tracker=x-secret-4711",
    ],
)
def test_a_bad_value_is_refused_in_one_sentence_that_does_not_show_it(option: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(option)
    assert "secret-4711" not in str(caught.value)
    assert "secret_4711" not in str(caught.value).lower()
    assert f"outreach.{option.partition('=')[0]} (--set)" in str(caught.value)
    assert "\n" not in str(caught.value)


CLEARED = [name for name in MINE if not name.startswith(("outreach.labels", "outreach.escalate"))]


@each_row("name", CLEARED)
def test_empty_text_takes_a_value_back(name: str) -> None:
    assert load(None, {}, {}, [f"{name}="]).settings.by_name()[name] is None


def test_the_repository_cannot_say_whom_to_tell(tmp_path: Path) -> None:
    (tmp_path / config.REPOSITORY_FILE).write_text(
        f'[outreach]\nwebhook = "{HOOK}"\ntracker = "github"\n'
    )
    loaded = load(tmp_path, {}, {})
    assert loaded.settings.outreach.unset
    (warning,) = loaded.warnings
    assert "outreach" in warning
    assert "secret" not in warning


def test_a_users_file_is_all_it_takes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = config.user_config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        '[outreach]\nwebhook = "https://h.example.com/x"\ntracker = "gitea"\n'
        'tracker_url = "https://git.example.com/"\nrepository = "team/project"\n'
    )
    try:
        made = load(None, {}, {}).settings.outreach
    finally:
        file.unlink()
    channels = build_channels(made, {"GITEA_TOKEN": "x"}, home)
    assert [(channel.name, channel.place) for channel in channels] == [
        ("webhook", "https://h.example.com"),
        ("gitea", "https://git.example.com team/project"),
    ]


@each_row(
    ("options", "missing"),
    [
        (["tracker=gitea", "repository=a/b"], "outreach.tracker_url"),
        (["tracker=github"], "outreach.repository"),
    ],
)
def test_half_a_tracker_is_refused(options: list[str], missing: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=missing):
        build_channels(settings(*options).outreach, {}, tmp_path)


def test_values_of_the_variables_are_known_as_secrets() -> None:
    values = {
        "MY_TOKEN": "value-one",
        "TRACKER_KEY": "value-two",
        config.variable("outreach.webhook"): "https://h.example.com/x",
    }
    assert set(secrets_of(values)) == set(values.values())


def test_github_is_known_by_itself(tmp_path: Path) -> None:
    made = settings("tracker=github", "repository=owner/.github").outreach
    (channel,) = build_channels(made, {}, tmp_path)
    assert channel.place == "https://api.github.com owner/.github"


def test_a_channel_without_httpx_is_refused_naming_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "ralph_tui.adapters.outreach.channels.find_spec",
        lambda name: None if name == "httpx" else real(name),
    )
    assert build_channels(Settings().outreach, {}, tmp_path) == []
    with pytest.raises(UsageError, match=r"uv tool install '\.\[notify\]'"):
        build_channels(settings("webhook=https://h.example.com").outreach, {}, tmp_path)
