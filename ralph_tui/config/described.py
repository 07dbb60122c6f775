"""The meaning of each setting, taken from its field, and the commented file built from it.

Rule: nothing is written twice. The meaning is the docstring below the field; range, choices and
default come from the field itself.
"""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from ralph_tui.config.files import REPOSITORY_FILE
from ralph_tui.config.repository_file import refused
from ralph_tui.config.settings import LINES, NAMES, Settings
from ralph_tui.text.durations import format_seconds

WIDTH = 88
"""Maximum width of a comment, in columns."""
_DURATION = ("_s", "fallback_after")
"""Suffixes of the names of settings in seconds."""

_HEAD = {
    False: """\
ralph-tui settings for all your runs. Settings in a repository's own
{repository} override them, then RALPH_TUI_... environment variables, then flags.
""",
    True: """\
ralph-tui settings for this repository. They override those in your own file;
RALPH_TUI_... environment variables and flags override them. An agent can write
this file, so settings that widen its rights work only in your own file.
""",
}
_FOOT = """\
Each setting is shown with its default; remove the # in front of it to change it.
`ralph-tui config show` prints each value in use and where it is set.
"""
_MORE = "For the other settings, see `ralph-tui config show` or use `config init --all`."
COMMON = frozenset(
    {
        "agent.name", "agent.command", "agent.model", "agent.fallback", "permissions.mode",
        "permissions.allow", "limits.max_iterations", "limits.session_timeout_s",
        "limits.budget_usd", "gate.timeout_s", "control.patience", "oversight.pause_timeout_s",
        "memory.enabled", "outreach.webhook", "ui.theme",
    }
)  # fmt: skip
"""Settings that users commonly change."""


@dataclass(frozen=True)
class SettingText:
    """A setting as text."""

    name: str
    """Dotted name."""
    meaning: str
    """One or more sentences; an unset value is written as ``""``."""
    range: str
    """The permitted values, in words; empty: any text."""
    default: str
    """As written in a settings file."""

    @property
    def section(self) -> str:
        """Empty for a setting outside any section."""
        return self.name.rpartition(".")[0]

    @property
    def key(self) -> str:
        """Name within the section."""
        return self.name.rpartition(".")[2]


def described() -> Iterator[SettingText]:
    """Yield every setting in the order of a file: those without a section first."""
    defaults = Settings().by_name()
    for name in sorted(NAMES, key=lambda name: "." in name):
        model, key = _field_of(name)
        schema = _schema(model)[key]
        yield SettingText(
            name,
            _in_a_file(model.model_fields[key].description or _docstrings(model)[key]),
            _range(key, schema),
            in_toml(name, defaults[name]),
        )


def choices_of(name: str) -> list[str]:
    """Return the values that a setting may have; empty if they cannot be listed."""
    model, key = _field_of(name)
    kind = _kind(_schema(model)[key])
    return ["true", "false"] if kind["type"] == "boolean" else kind.get("enum", [])


def meaning_of(section: str) -> str:
    """Return the subject of a section; empty without a section."""
    model = _field_of(f"{section}.")[0] if section else Settings
    return "" if model is Settings else _in_a_file(inspect.getdoc(model) or "").partition("\n")[0]


def commented_file(*, repository: bool = False, every: bool = True) -> str:
    """Return a file with every setting, or the common ones, commented out.

    `repository`: only those that a repository may set.
    """
    head = _HEAD[repository].format(repository=REPOSITORY_FILE)
    blocks = [_comment(head.replace("\n", " ")), "#", _comment(_FOOT.replace("\n", " "))]
    blocks += [] if every else [_comment(_MORE)]
    section = ""
    for setting in described():
        if (repository and refused(setting.name)) or not (every or setting.name in COMMON):
            continue
        if setting.section != section:
            section = setting.section
            blocks += ["", "", f"[{section}]", _comment(meaning_of(section))]
        blocks += ["", _comment(setting.meaning)]
        if setting.range:
            blocks.append(_comment(f"Value: {setting.range}."))
        blocks += [f"#{setting.key} = {setting.default}"]
    return "\n".join(blocks) + "\n"


def _comment(text: str) -> str:
    """Return a comment; the space after ``#`` distinguishes it from a commented-out setting."""
    return textwrap.fill(text, WIDTH, initial_indent="# ", subsequent_indent="# ")


def _field_of(name: str) -> tuple[type[BaseModel], str]:
    section, _, key = name.rpartition(".")
    model = Settings.model_fields[section].annotation if section else Settings
    assert isinstance(model, type) and issubclass(model, BaseModel)  # noqa: PT018
    return model, key


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of each field."""
    fields: dict[str, Any] = model.model_json_schema()["properties"]
    return fields


@cache
def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each field."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(below.value.value).split())
    return found


def _in_a_file(text: str) -> str:
    """Replace Python literals such as ``None`` with their form in a settings file."""
    text = text.replace("`", "")
    for word, instead in (("None", '""'), ("True", "true"), ("False", "false")):
        text = re.sub(rf"\b{word}\b", instead, text)
    return text


def _range(key: str, schema: dict[str, Any]) -> str:
    one = _kind(schema)
    if "enum" in one:
        *others, last = map(json.dumps, one["enum"])
        return f"{', '.join(others)} or {last}"
    if one["type"] == "boolean":
        return "true or false"
    if one["type"] == "array":
        chosen = one["items"].get("enum", ())[:2]
        example = json.dumps(chosen) if chosen else one.get("examples", [LINES])[0]
        return f"a list such as {example}"
    if one["type"] not in ("number", "integer"):
        return ""
    shown = format_seconds if key.endswith(_DURATION) else _number
    least, above, most = (
        shown(one[bound]) if bound in one else ""
        for bound in ("minimum", "exclusiveMinimum", "maximum")
    )
    if key.endswith(_DURATION):
        return f"{least} to {most}, or a number of seconds"
    what = "a whole number" if one["type"] == "integer" else "a number"
    return f"{what} from {least} to {most}" if least else f"{what} above {above}, at most {most}"


def _kind(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional field's value, or the field's own schema."""
    return next((kind for kind in schema.get("anyOf", ()) if kind["type"] != "null"), schema)


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def in_toml(name: str, value: object) -> str:
    """Return a value as written in a file: a duration in words, an unset value as ``""``."""
    if value is None:
        return '""'
    if name.endswith(_DURATION) and isinstance(value, float):
        return json.dumps(format_seconds(value))
    return json.dumps(value, ensure_ascii=False)
