"""Write the reference pages below ``docs/reference`` from the code: ``python -m docs.generate``."""

import argparse
import ast
import inspect
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from ralph_tui import events
from ralph_tui.cli import COMMANDS, GROUPS, OTHERS, build_parser
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.config.described import described, meaning_of
from ralph_tui.events import Event
from ralph_tui.text.keys import TABLE, Where

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by `make docs` from the code: change the code, not this page. -->\n\n"
SCREENS: Mapping[str, tuple[Where, ...]] = {
    "On every screen": ("home too",),
    "In the cockpit and on a fleet's screen": ("fleet too",),
    "In the cockpit": ("everywhere",),
    "In the cockpit of a live run": ("live",),
    "In a replay": ("replay",),
    "At home": ("home",),
    "On a fleet's screen": ("fleet",),
}


def pages() -> Mapping[str, str]:
    """Return the text of each generated page by its file name."""
    made = {
        "commands.md": commands(),
        "settings.md": settings(),
        "keys.md": keys(),
        "exit-codes.md": exit_codes(),
        "events.md": event_kinds(),
    }
    return {name: NOTE + text for name, text in made.items()}


# -- commands ------------------------------------------------------------------------------------


def commands() -> str:
    """Return the page of the command line."""
    _, parsers = build_parser(COMMANDS)
    parts = [
        "# Commands\n",
        "`ralph-tui COMMAND --help` prints the same. Without a command, `ralph-tui` opens "
        "[home](../guide/home.md).\n",
    ]
    for group, names in (GROUPS | OTHERS).items():
        parts.append(f"## {group}\n")
        for name in names:
            if name in COMMANDS:
                parts += _command(f"ralph-tui {name}", parsers[name], COMMANDS[name], "###")
    return "\n".join(parts)


def _command(name: str, parser: argparse.ArgumentParser, summary: str, level: str) -> Iterator[str]:
    yield f"{level} `{name}`\n"
    yield f"{_sentence(_code_free(parser.description or summary))}\n"
    yield f"```text\n{_usage(parser)}\n```\n"
    rows = [
        f"| {_flags(action)} | {_cell(_sentence(_help(action)))} |"
        for action in parser._actions
        if action.help != argparse.SUPPRESS and not isinstance(action, _SubParsers | _Help)
    ]
    if rows:
        yield "\n".join(["| option | meaning |", "| :-- | :-- |", *rows]) + "\n"
    for action in parser._actions:
        if isinstance(action, _SubParsers):
            summaries = {one.dest: one.help for one in action._choices_actions}
            for word, below in action.choices.items():
                yield from _command(f"{name} {word}", below, summaries.get(word) or "", f"{level}#")


_SubParsers = argparse._SubParsersAction
_Help = argparse._HelpAction


def _usage(parser: argparse.ArgumentParser) -> str:
    words = " ".join(parser.format_usage().removeprefix("usage: ").split())
    return words.replace(" [-h]", "")


def _flags(action: argparse.Action) -> str:
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    shown = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"`{shown}`"
    flags = ", ".join(f"`{flag}`" for flag in action.option_strings)
    return f"{flags} `{shown}`" if action.nargs != 0 else flags


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return _code_free(" ".join(text.split()))


# -- settings ------------------------------------------------------------------------------------


def settings() -> str:
    """Return the page of the settings."""
    parts = [
        "# Settings\n",
        "`ralph-tui config show` prints each setting in effect, and where it is set; "
        "`ralph-tui config init` writes a commented file. See "
        "[where settings come from](../guide/settings.md).\n",
    ]
    section = None
    for one in described():
        if one.section != section:
            section = one.section
            title = f"`[{section}]`" if section else "Outside any section"
            parts.append(f"## {title}\n")
            if meaning := meaning_of(section):
                parts.append(f"{_sentence(meaning)}\n")
        limits = f" It is {_code_free(one.range)}." if one.range else ""
        parts.append(f"### `{one.name}`\n")
        parts.append(f"{_sentence(_code_free(one.meaning))}{limits} Default: `{one.default}`.\n")
    return "\n".join(parts)


# -- keys ----------------------------------------------------------------------------------------


def keys() -> str:
    """Return the page of the keys."""
    parts = [
        "# Keys\n",
        "Every key below can be set: `[keys]` in the settings, by the name in the last column. "
        "`?` shows the keys of the screen you are on; dialogs show their own.\n",
    ]
    for title, places in SCREENS.items():
        rows = [
            f"| {' '.join(f'`{_cell(key)}`' for key in _written(row.keys))} | {row.help} "
            f"| `keys.{name}` |"
            for name, row in TABLE.items()
            if row.where in places
        ]
        parts += [f"## {title}\n", "| key | what it does | setting |", "| :-- | :-- | :-- |"]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _written(text: str) -> Iterator[str]:
    signs = {"comma": ","}
    return (signs.get(key, key) for key in text.split(","))


# -- exit codes ----------------------------------------------------------------------------------


def exit_codes() -> str:
    """Return the page of the exit codes."""
    meanings = _docstrings(ExitCode)
    rows = [f"| {code.value} | {_cell(meanings[code.name])} |" for code in ExitCode]
    table = "\n".join(["| code | meaning |", "| --: | :-- |", *rows])
    return f"# Exit codes\n\nEvery command of `ralph-tui` ends with one of these.\n\n{table}\n"


# -- events --------------------------------------------------------------------------------------


def event_kinds() -> str:
    """Return the page of the journal's events."""
    parts = [
        "# Events\n",
        "A run's journal, `events.jsonl`, has one event a line, as JSON. `ralph-tui run --json` "
        "prints the same. Each has `seq` (its position, from 1), `at` (UTC) and `kind`. Later "
        "versions add kinds and fields, and never rename one.\n",
    ]
    kinds = sorted(_events(), key=lambda kind: (kind.__module__, inspect.getsourcelines(kind)[1]))
    module = ""
    for kind in kinds:
        if kind.__module__ != module:
            module = kind.__module__
            subject = (inspect.getdoc(inspect.getmodule(kind)) or "").partition("\n")[0]
            parts.append(f"## {_sentence(subject).rstrip('.')}\n")
        name = kind.model_fields["kind"].default
        parts.append(f"### `{name}`\n")
        parts.append(f"{_sentence(_plain(inspect.getdoc(kind) or ''))}\n")
        rows = list(_fields(kind))
        if rows:
            parts.append("\n".join(["| field | type | meaning |", "| :-- | :-- | :-- |", *rows]))
            parts.append("")
    return "\n".join(parts)


def _events() -> Iterator[type[Event]]:
    for value in vars(events).values():
        is_kind = isinstance(value, type) and issubclass(value, Event)
        if is_kind and value.model_fields["kind"].default is not PydanticUndefined:
            yield value


def _fields(kind: type[BaseModel]) -> Iterator[str]:
    meanings = _docstrings(kind)
    for name, field in kind.model_fields.items():
        if name in ("seq", "at", "kind"):
            continue
        meaning = _cell(_plain(meanings.get(name, "")))
        yield f"| `{name}` | {_cell(_type(field.annotation))} | {meaning} |"


def _type(annotation: object) -> str:
    """Return a type in words that need no Python."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(inner[0])
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("nothing" if one is type(None) else _type(one) for one in inner)
    if origin in (list, tuple, set, frozenset):
        return f"list of {_type(inner[0])}"
    if origin is dict:
        return f"object: {_type(inner[0])} to {_type(inner[1])}"
    plain = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false",
             "datetime": "time"}  # fmt: skip
    name = getattr(annotation, "__name__", str(annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"object with {', '.join(f'`{field}`' for field in annotation.model_fields)}"
    return plain.get(name, name)


# -- words ---------------------------------------------------------------------------------------


def _docstrings(kind: type[BaseModel] | type[Enum]) -> Mapping[str, str]:
    """Return the docstring below each field of a class and of those it inherits from."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if one.__module__.startswith("ralph_tui"):
            found |= _below(ast.parse(inspect.cleandoc("\n" + inspect.getsource(one))).body)
    return found


def _below(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    for one in body:
        assert isinstance(one, ast.ClassDef)
        for field, below in zip(one.body, one.body[1:], strict=False):
            targets = (
                field.targets if isinstance(field, ast.Assign) else [getattr(field, "target", None)]
            )
            target = targets[0]
            text = below.value if isinstance(below, ast.Expr) else None
            if isinstance(target, ast.Name) and isinstance(text, ast.Constant):
                yield target.id, " ".join(str(text.value).split())


def _sentence(text: str) -> str:
    text = text.strip()
    if re.match(r"(true|false): |[a-z]+(: .*; [a-z]+: | \(default\))", text):
        text = re.sub(r"(^|; )([a-z]+)(?=: | \(default\))", r"\1`\2`", text)  # values to type
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!', ':')) else '.'}"


def _plain(text: str) -> str:
    """Return Markdown for a docstring: marks of code are the same, lines are joined."""
    return " ".join(text.replace("``", "`").split())


def _code_free(text: str) -> str:
    """Return text in which no sign is Markdown."""
    return re.sub(r"([*_<>])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page, content in pages().items():
        (FOLDER / page).write_text(content, encoding="utf-8")
        print(f"wrote docs/reference/{page}")
