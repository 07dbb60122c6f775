"""Reading settings files, and the settings that a screen needs.

Rule: import nothing that validates settings (`sources` does): the first frame is painted before
that is imported.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_config_path

from ralph_tui.base.errors import UsageError, why
from ralph_tui.base.plain_files import reading
from ralph_tui.text.foreign_json import bounded
from ralph_tui.text.keys import TABLE, Keys

MAX_PARSED = 1_000_000
"""Maximum number of characters to parse in total: a 1,000-line list is reparsed at each line."""


def lines_of(text: str) -> dict[str, int]:
    """Return the line on which each dotted name, sections included, begins in valid TOML text.

    In a list of tables, names contain the index from 0: ``objective.0.text``. If a text takes too
    long to parse, only names at its beginning are returned.
    """
    return _lines(text)[0]


def unfinished(text: str) -> int:
    """Return the line on which an unfinished statement begins; 0 if there is none."""
    return _lines(text)[1]


def _lines(text: str) -> tuple[dict[str, int], int]:
    """Return the results of `lines_of` and `unfinished`.

    ``tomllib`` reports no line numbers, so the text is parsed piece by piece: lines that parse
    together are one whole statement.
    """
    lines: dict[str, int] = {}
    section: tuple[str, ...] = ()
    counted: Counter[tuple[str, ...]] = Counter()
    statement, begun, left = "", 0, MAX_PARSED
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        begun = begun if statement else number
        statement += f"{line}\n"
        left -= len(statement)
        if left < 0:
            break
        try:
            table = tomllib.loads(statement)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        names = list(_names(table))
        if statement.lstrip().startswith("["):
            section = max(names, key=len, default=())
            if statement.lstrip().startswith("[["):
                counted[section] += 1
                section = (*section, str(counted[section] - 1))
            names = [section[:depth] for depth in range(1, len(section) + 1)]
        else:
            names = [(*section, *name) for name in names]
        for name in names:
            lines.setdefault(".".join(name), begun)
        statement = ""
    return lines, begun if statement else 0


def _names(table: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of a table and of nested tables; for a list of tables, only its own key."""
    for key, value in table.items():
        yield (key,)
        if isinstance(value, Mapping):
            yield from ((key, *below) for below in _names(value))


ENVIRONMENT_PREFIX = "RALPH_TUI_"
REPOSITORY_FILE = ".ralph-tui.toml"
THEME = "ui.theme"
MAX_FILE_BYTES = 100_000
_DEEP_KEY = re.compile(
    r"(?:(?:[\w-]{1,80}|\"[^\"\n]{0,80}\"|'[^'\n]{0,80}')[ \t]{0,8}\.[ \t]{0,8}){50}"
)
"""A key of 50 or more parts: parsing takes memory quadratic in their number, even gigabytes."""
_FROZEN = re.compile(r"Cannot mutate immutable namespace (\(.*\))$")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)$")
_KEY = re.compile(r"[ \t]*(?=[^=]*=|\[)([\w.-]{1,60}|\[{1,2}[\w.-]{1,60}\]{1,2})[ \t\r]*(?==|$|#)")
"""The setting or section on a line, if it is written without quotes."""


def user_config_file() -> Path:
    """Return the path of the user's own settings, whether or not the file exists."""
    return user_config_path("ralph-tui", appauthor=False) / "config.toml"


def variable(name: str) -> str:
    """Return the environment variable for a dotted name."""
    return ENVIRONMENT_PREFIX + name.replace(".", "__").upper()


@dataclass(frozen=True)
class SettingsFile:
    """A settings file as it was read."""

    path: Path
    table: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    @cached_property
    def _lines(self) -> dict[str, int]:
        return lines_of(self.text)

    def place_of(self, name: str) -> str:
        """Return ``path:line`` of a dotted name, or only the path if the line is unknown."""
        line = self._lines.get(name)
        return f"{self.path}:{line}" if line else str(self.path)


def read_file(path: Path, *, follow: bool) -> SettingsFile | None:
    """Return a settings file; None if it does not exist. `follow`: it may be a link.

    Raises ``UsageError`` if the file cannot be read.
    """
    try:
        with reading(path, follow=follow) as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise UsageError(f"{path} is larger than 100 kB; make it smaller")
        text = content.decode("utf-8-sig")
        if _DEEP_KEY.search(text):
            raise RecursionError
        table: dict[str, Any] = bounded(tomllib.loads(text))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        what = why(error, "make the file readable")
        raise UsageError(f"the settings in {path} cannot be read: {what}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_toml_sentence(path, text, str(error))) from error
    except (RecursionError, ValueError) as error:
        raise UsageError(f"{path} is nested too deeply; use [section] and key = value") from error
    return SettingsFile(path, table, text)


def _toml_sentence(path: Path, text: str, message: str) -> str:
    """Return ``FILE:3 is not valid TOML at zoom (Cannot overwrite a value): correct that line``."""
    what, advice = re.sub(r" \(at [^()]*\)$", "", message), "correct that line"
    line, rows = _wrong_line(text, message), text.split("\n")
    found = _KEY.match("".join(rows[line - 1 : line]))
    at = f" at {found[1]}" if found else ""
    if what.startswith("Cannot declare"):
        name = found[1].strip("[]") if found else ""
        first = lines_of("\n".join(rows[: line - 1])).get(name)
        what = f"that section already begins {f'in line {first}' if first else 'further up'}"
        advice = "put its settings there and remove that line"
    elif frozen := _FROZEN.match(what):
        name = ".".join(ast.literal_eval(frozen[1]))
        what = f"{name} already has its value"
        advice = f"put all of {name} in one place and remove that line"
    return f"{path}:{line} is not valid TOML{at} ({what}); {advice}"


def _wrong_line(text: str, message: str) -> int:
    """Return the line number of an error; for an unfinished statement, its first line."""
    if found := _AT_LINE.search(message):
        return int(found[1])
    try:
        tomllib.loads(f"{text}\n")  # the parser gives no line for the end of the text
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if found := _AT_LINE.search(str(error)):
            return int(found[1])
    return unfinished(text) or max(1, len(text.splitlines()))


class ScreenSettings(NamedTuple):
    """The settings that a screen needs."""

    theme: str | None
    """Name of the theme; None: the default."""
    keys: Keys


def screen_settings(
    root: Path | None, environ: Mapping[str, str], set_options: Sequence[str] = ()
) -> ScreenSettings:
    """Return the screen settings that `sources.load` will find, unvalidated.

    Defaults replace invalid values; these are reported when the settings are loaded.
    """
    found: dict[str, object] = {}
    files = [(root / REPOSITORY_FILE, False)] if root is not None else []
    for path, follow in ((user_config_file(), True), *files):
        with suppress(UsageError):
            file = read_file(path, follow=follow) or SettingsFile(path)
            for section in ("ui", "keys"):
                values = file.table.get(section)
                if isinstance(values, dict):
                    found.update({f"{section}.{name}": value for name, value in values.items()})
    for name in (THEME, *(f"keys.{action}" for action in TABLE)):
        if text := environ.get(variable(name)):
            found[name] = text
    for option in set_options:
        name, _, text = option.partition("=")
        found[name.strip()] = text.strip()
    theme = found.get(THEME)
    keys = {name.removeprefix("keys."): value for name, value in found.items()}
    return ScreenSettings(theme if isinstance(theme, str) else None, Keys(keys))
