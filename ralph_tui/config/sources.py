"""Where settings come from, and which source gave each value.

Rule: flags > the record of a resumed run > environment > ``.ralph-tui.toml`` in the repository >
user config > defaults. A setting has one dotted name everywhere. In both files and
in the record, ``limits.max_iterations`` is a key in a table. It is also the variable
``RALPH_TUI_LIMITS__MAX_ITERATIONS`` (a dot is two underscores) and ``--set
limits.max_iterations=5``.

The agent can write the repository's file, so settings there that would widen its own rights are
ignored, with a warning.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ralph_tui.base.errors import SettingsError, UsageError
from ralph_tui.config.files import (
    ENVIRONMENT_PREFIX,
    REPOSITORY_FILE,
    SettingsFile,
    read_file,
    user_config_file,
    variable,
)
from ralph_tui.config.problems import closest, in_order, name_of, sentence, unknown
from ralph_tui.config.repository_file import permitted
from ralph_tui.config.settings import NAMES, Settings, leaves
from ralph_tui.text.keys import conflicts
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
"""Settings with their own flag."""

RECORD = "the record of the run"
"""The origin of settings that a run was started with."""


@dataclass(frozen=True)
class Loaded:
    """Settings and their origins."""

    settings: Settings
    origins: dict[str, str]
    """By dotted name: a flag, `RECORD`, ``environment NAME``, a file's path, or ``default``."""
    warnings: tuple[str, ...] = ()
    """Ignored values and why, one sentence each."""
    problems: tuple[str, ...] = ()
    """Errors in all sources, one sentence each; `settings` omits the invalid values."""
    files: Mapping[str, SettingsFile] = field(default_factory=dict, compare=False)
    """The files that were read, by path."""

    def place_of(self, name: str) -> str:
        """Return where a value was set: its origin, and the line if that is a file."""
        origin = self.origins[name]
        return self.files[origin].place_of(name) if origin in self.files else origin


@dataclass(frozen=True)
class _Layer:
    """The values of one source, as read."""

    values: dict[str, Any] = field(default_factory=dict)
    """Nested like `Settings`."""
    origins: dict[str, str] = field(default_factory=dict)
    """The place that an error names, by dotted name."""
    default_origin: str = ""
    """The place that an error shows for names missing from `origins`."""
    file: SettingsFile | None = None
    """The file the values were read from."""
    is_text: bool = False
    """True if every value is text, so that ``"5"`` is valid as a number."""
    strict: bool = True
    """True if values must have the types of their settings: ``5.0`` is not a whole number."""

    def origin(self, name: str) -> str:
        return self.origins.get(name, self.default_origin)

    def place_of(self, name: str) -> str:
        """Return the place of `name` for an error message."""
        return self.file.place_of(name) if self.file else self.origin(name)


def load(
    root: Path | None,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    set_options: Sequence[str] = (),
    recorded: Mapping[str, object] | None = None,
) -> Loaded:
    """Like `examine`, but raise ``SettingsError`` with all errors in all sources."""
    loaded = examine(root, flags, environ, set_options, recorded)
    if loaded.problems:
        raise SettingsError(loaded.problems)
    return loaded


def examine(
    root: Path | None,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    set_options: Sequence[str] = (),
    recorded: Mapping[str, object] | None = None,
) -> Loaded:
    """Return the settings for the repository at `root` (None: no repository), with all errors.

    `flags`: values from the command line by dotted name, None if not given; `set_options`:
    ``NAME=VALUE``. `recorded`: the settings that a run was started with, by dotted name.
    """
    warnings: list[str] = []
    problems: list[str] = []
    layers = [_file_layer(user_config_file(), problems, follow=True)]
    if root is not None:
        layers.append(_repository_layer(root / REPOSITORY_FILE, warnings, problems))
    layers.append(_environment_layer(environ, problems))
    given = [_flag_layer(flags), _set_layer(set_options, problems)]
    layers += [_recorded_layer(recorded or {}, given), *given]
    merged: dict[str, Any] = {}
    origins = dict.fromkeys(NAMES, "default")
    for layer in layers:
        for name, value in leaves(_checked(layer, problems)):
            _set_value(merged, name, value)
            origins[name] = layer.origin(name)
    files = {str(layer.file.path): layer.file for layer in layers if layer.file is not None}
    settings = Settings.model_validate(merged)
    loaded = Loaded(settings, origins, tuple(warnings), (), files)
    if twice := list(_on_one_key(loaded)):
        loaded = _with_own_keys(loaded)
    return replace(loaded, problems=tuple(in_order([*problems, *twice])))


def _with_own_keys(loaded: Loaded) -> Loaded:
    """Return the settings with default keys: screens use these if the user's keys conflict."""
    settings = loaded.settings.model_copy(update={"keys": type(loaded.settings.keys)()})
    origins = {
        name: "default" if name.startswith("keys.") else origin
        for name, origin in loaded.origins.items()
    }
    return replace(loaded, settings=settings, origins=origins)


def _on_one_key(loaded: Loaded) -> Iterator[str]:
    """Yield errors about keys that are valid individually, but conflict."""
    reported: set[tuple[str, str]] = set()
    for first, second, key in conflicts(loaded.settings.keys.model_dump()):
        named = {name: loaded.place_of(f"keys.{name}") for name in (first, second)}
        # First name the key that was set: the other one may be a default.
        one, other = sorted(named, key=lambda name: named[name] == "default")
        if named[other] == "default" and (one, key) in reported:
            continue  # report only the first of several actions with this default key
        reported.add((one, key))
        if named[other] == "default":
            theirs = f"keys.{other} uses by default; change one of them"
        else:
            theirs = f"keys.{other} ({named[other]}) also uses; change one of them"
        yield f"keys.{one} ({named[one]}) is {key}, which {theirs}"


def problem_of(name: str, text: str) -> str:
    """Return why a flag's setting cannot have this value; empty if it can."""
    problems: list[str] = []
    _checked(_flag_layer({name: text}), problems)
    return next(iter(problems), "")


def wrong_arguments(flags: Mapping[str, object], set_options: Sequence[str]) -> list[str]:
    """Return the errors in a command line's own settings, regardless of the settings files."""
    problems: list[str] = []
    for layer in (_flag_layer(flags), _set_layer(set_options, problems)):
        _checked(layer, problems)
    return problems


def _file_layer(path: Path, problems: list[str], *, follow: bool) -> _Layer:
    """Read a settings file; `follow`: it may be a link, because users may keep theirs elsewhere."""
    try:
        file = read_file(path, follow=follow)
    except UsageError as error:
        problems.append(str(error))
        return _Layer()
    return _Layer() if file is None else _Layer(file.table, default_origin=str(path), file=file)


def _repository_layer(path: Path, warnings: list[str], problems: list[str]) -> _Layer:
    layer = _file_layer(path, problems, follow=False)
    if layer.file is None:
        return layer
    return replace(layer, values=permitted(layer.file, str(user_config_file()), warnings))


def _environment_layer(environ: Mapping[str, str], problems: list[str]) -> _Layer:
    """Read the environment; an empty variable counts as unset."""
    names = {variable(name): name for name in NAMES}
    layer = _Layer(is_text=True)
    for key in sorted(environ):
        if not key.startswith(ENVIRONMENT_PREFIX) or not environ[key]:
            continue
        if key not in names:
            guess = closest(key.removeprefix(ENVIRONMENT_PREFIX), map(_suffix, names))
            hint = f"did you mean {ENVIRONMENT_PREFIX}{guess}?" if guess else "unset it"
            problems.append(f"the environment variable {clip(key, 80)} names no setting: {hint}")
            continue
        _set_value(layer.values, names[key], environ[key])
        layer.origins[names[key]] = f"environment {key}"
    return layer


def _suffix(key: str) -> str:
    return key.removeprefix(ENVIRONMENT_PREFIX)


def _recorded_layer(recorded: Mapping[str, object], given: Sequence[_Layer]) -> _Layer:
    """Leave out settings that are `given` again: their recorded values may no longer be valid."""
    layer = _Layer(default_origin=RECORD, strict=False)
    for name, value in recorded.items():
        if not any(name in other.origins for other in given):
            _set_value(layer.values, name, value)
    return layer


def _flag_layer(flags: Mapping[str, object]) -> _Layer:
    layer = _Layer(is_text=True)
    for name, value in flags.items():
        if value is not None:
            _set_value(layer.values, name, str(value))
            layer.origins[name] = FLAGS.get(name, name)
    return layer


def _set_layer(options: Sequence[str], problems: list[str]) -> _Layer:
    layer = _Layer(is_text=True)
    for option in options:
        name, equals, text = option.partition("=")
        name = name.strip()
        if not equals or not name:
            problems.append(
                f"--set {clip(option, 80)!r} is not NAME=VALUE, such as --set control.decay=0.8"
            )
        elif name not in NAMES:
            problems.append(unknown(name, "--set"))
        else:
            _set_value(layer.values, name, text.strip())
            layer.origins[name] = "--set"
    return layer


def _checked(layer: _Layer, problems: list[str]) -> dict[str, Any]:
    """Return the layer's valid values, converted to their types."""
    try:
        settings = (
            Settings.model_validate_strings(layer.values)
            if layer.is_text
            else Settings.model_validate(layer.values, strict=layer.strict)
        )
    except ValidationError as error:
        bad = {name_of(each): each for each in error.errors(include_url=False)}
        problems += [sentence(each, layer.place_of(name)) for name, each in bad.items()]
        return _checked(replace(layer, values=_without(layer.values, bad)), problems)
    return settings.model_dump(exclude_unset=True)


def _without(values: Mapping[str, Any], names: Container[str], section: str = "") -> dict[str, Any]:
    """Return nested values without these dotted names."""
    return {
        key: _without(value, names, f"{section}{key}.") if isinstance(value, dict) else value
        for key, value in values.items()
        if f"{section}{key}" not in names
    }


def _set_value(values: dict[str, Any], name: str, value: object) -> None:
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
    "examine",
    "load",
    "problem_of",
    "user_config_file",
    "variable",
    "wrong_arguments",
]
