"""Where the settings come from, and which source gave each value.

Rule: flags > the record of a run that goes on > environment > ``.ralph-tui.toml`` in the repository
> user config > defaults. A setting has one dotted name everywhere: ``limits.max_iterations`` is
that key of a table in both files and of the record, the variable
``RALPH_TUI_LIMITS__MAX_ITERATIONS`` (a dot is two underscores), and ``--set
limits.max_iterations=5``. The agent can write the repository's file, so what would widen its own
rights is ignored there, with a warning.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ralph_tui.config.files import (
    ENVIRONMENT_PREFIX,
    REPOSITORY_FILE,
    read_table,
    user_config_file,
    variable,
)
from ralph_tui.config.repository_file import permitted
from ralph_tui.config.settings import NAMES, Settings, leaves
from ralph_tui.errors import UsageError
from ralph_tui.text.sanitize import clip

FLAGS = {
    "agent.name": "--agent",
    "agent.command": "--agent-command",
    "agent.model": "--model",
    "permissions.mode": "--permissions",
    "limits.max_iterations": "--max-iterations",
    "limits.session_timeout_s": "--timeout",
    "limits.budget_usd": "--budget",
}
"""Settings that have a flag of their own."""

RECORD = "the record of the run"
"""The place of what a run was started with."""


@dataclass(frozen=True)
class Loaded:
    """Settings with their history."""

    settings: Settings
    origins: dict[str, str]
    """By dotted name: a flag, `RECORD`, ``environment NAME``, a file's path, or ``default``."""
    warnings: tuple[str, ...] = ()
    """What was ignored, and why; one sentence each."""


@dataclass(frozen=True)
class _Layer:
    """One source of values, as read."""

    values: dict[str, Any] = field(default_factory=dict)
    """Nested, as `Settings` is."""
    origins: dict[str, str] = field(default_factory=dict)
    """By dotted name: the place an error names."""
    default_origin: str = ""
    """The place of names that are not in `origins`."""
    is_text: bool = False
    """Every value is text: ``"5"`` is a number where one is wanted."""
    strict: bool = True
    """Values have the types of their settings: ``5.0`` is no whole number."""

    def origin(self, name: str) -> str:
        """The place that `name` comes from."""
        return self.origins.get(name, self.default_origin)


def load(
    root: Path | None,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    set_options: Sequence[str] = (),
    recorded: Mapping[str, object] | None = None,
) -> Loaded:
    """Settings for the repository at `root` (None: outside of one).

    `flags` are the command line's by dotted name, None where not given; `set_options` are
    ``NAME=VALUE``; `recorded` are those that a run was started with, by dotted name. Raises
    ``UsageError`` naming the place, whatever is wrong in any source.
    """
    warnings: list[str] = []
    layers = [_file_layer(user_config_file(), follow=True)]
    if root is not None:
        layers.append(_repository_layer(root / REPOSITORY_FILE, warnings))
    layers.append(_environment_layer(environ))
    given = [_flag_layer(flags), _set_layer(set_options)]
    layers += [_recorded_layer(recorded or {}, given), *given]
    merged: dict[str, Any] = {}
    origins = dict.fromkeys(NAMES, "default")
    for layer in layers:
        for name, value in leaves(_checked(layer)):
            _put(merged, name, value)
            origins[name] = layer.origin(name)
    return Loaded(Settings.model_validate(merged), origins, tuple(warnings))


def _file_layer(path: Path, *, follow: bool) -> _Layer:
    """`follow`: a link in its place is its owner's, as of files that are kept elsewhere."""
    values = read_table(path, follow=follow)
    return _Layer() if values is None else _Layer(values, default_origin=str(path))


def _repository_layer(path: Path, warnings: list[str]) -> _Layer:
    layer = _file_layer(path, follow=False)
    values = permitted(path, layer.values, str(user_config_file()), warnings)
    return _Layer(values, default_origin=layer.default_origin)


def _environment_layer(environ: Mapping[str, str]) -> _Layer:
    """An empty variable counts as not set."""
    names = {variable(name): name for name in NAMES}
    layer = _Layer(is_text=True)
    for key in sorted(environ):
        if not key.startswith(ENVIRONMENT_PREFIX) or not environ[key]:
            continue
        if key not in names:
            guess = _closest(key.removeprefix(ENVIRONMENT_PREFIX), map(_suffix, names))
            hint = f"did you mean {ENVIRONMENT_PREFIX}{guess}?" if guess else "unset it"
            raise UsageError(f"the environment variable {clip(key, 80)} names no setting: {hint}")
        _put(layer.values, names[key], environ[key])
        layer.origins[names[key]] = f"environment {key}"
    return layer


def _suffix(key: str) -> str:
    return key.removeprefix(ENVIRONMENT_PREFIX)


def _recorded_layer(recorded: Mapping[str, object], given: Sequence[_Layer]) -> _Layer:
    """Without what is `given` anew: an earlier version may have recorded what is refused now."""
    layer = _Layer(default_origin=RECORD, strict=False)
    for name, value in recorded.items():
        if not any(name in other.origins for other in given):
            _put(layer.values, name, value)
    return layer


def _flag_layer(flags: Mapping[str, object]) -> _Layer:
    layer = _Layer(is_text=True)
    for name, value in flags.items():
        if value is not None:
            _put(layer.values, name, str(value))
            layer.origins[name] = FLAGS.get(name, name)
    return layer


def _set_layer(options: Sequence[str]) -> _Layer:
    layer = _Layer(is_text=True)
    for option in options:
        name, equals, text = option.partition("=")
        name = name.strip()
        if not equals or not name:
            raise UsageError(
                f"--set {clip(option, 80)!r} is not NAME=VALUE: write --set control.decay=0.8"
            )
        if name not in NAMES:
            raise UsageError(_unknown(name, "--set"))
        _put(layer.values, name, text.strip())
        layer.origins[name] = "--set"
    return layer


def _checked(layer: _Layer) -> dict[str, Any]:
    """The layer's values with their types; raises ``UsageError`` about the first bad one."""
    try:
        settings = (
            Settings.model_validate_strings(layer.values)
            if layer.is_text
            else Settings.model_validate(layer.values, strict=layer.strict)
        )
    except ValidationError as error:
        raise UsageError(_sentence(error, layer)) from error
    return settings.model_dump(exclude_unset=True)


_WORDING = (
    (r"^(Value error, |Assertion failed, )", ""),
    (r"^(Input|String) should ", "must "),
    (r"must be a valid integer.*", "must be a whole number"),
    (r"must be a valid number.*", "must be a number"),
    (r"must be a valid string.*", "must be text"),
    (r"must be a valid boolean.*", "must be true or false"),
    (r"must be a valid tuple.*", "must be a list of texts"),
    (r"must be a valid dictionary.*", "must be a table"),
    (r"must be greater than or equal to", "must be at least"),
    (r"must be less than or equal to", "must be at most"),
    (r"must be greater than", "must be above"),
)


_UNSHOWN = {
    "outreach.repository": "must be owner/name",
    "outreach.token_variable": "must be the name of an environment variable in capitals that ends "
    "in TOKEN, KEY or SECRET, not the token itself",
}
"""In place of a sentence that would quote a regular expression."""


def _sentence(error: ValidationError, layer: _Layer) -> str:
    problem = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
    place = layer.origin(name)
    if problem["type"] == "extra_forbidden":
        return _unknown(name, place)
    what = problem["msg"]
    for pattern, words in _WORDING:
        what = re.sub(pattern, words, what)
    if name.startswith("outreach."):  # a web address or a token in the wrong place: not shown
        return f"{name} ({place}) {_UNSHOWN.get(name, what)}"
    return f"{name} ({place}) {what}, not {clip(repr(problem['input']), 80)}"


def _unknown(name: str, place: str) -> str:
    section = name.partition(".")[0]
    inside = [known for known in NAMES if known.startswith(f"{section}.")]
    guess = None if name == section and inside else _closest(name, NAMES)
    others = inside or dict.fromkeys(known.partition(".")[0] for known in NAMES)
    hint = f"did you mean {guess}?" if guess else f"known are {', '.join(others)}"
    return f"{clip(name, 80)!r} ({place}) is not a setting: {hint}"


def _closest(word: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(clip(word, 80), known, n=1)), None)


def _put(values: dict[str, Any], name: str, value: object) -> None:
    *sections, key = name.split(".")
    for section in sections:
        values = values.setdefault(section, {})
    values[key] = value


__all__ = [
    "FLAGS",
    "RECORD",
    "REPOSITORY_FILE",
    "Loaded",
    "Settings",
    "load",
    "user_config_file",
    "variable",
]
