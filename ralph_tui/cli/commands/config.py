"""``ralph-tui config``: show settings and their origin, write a commented file, list paths."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from pydantic import SecretStr

from ralph_tui.adapters.records.folders import from_here, worktree_root
from ralph_tui.base.errors import MAX_SENTENCES, RalphError, SettingsError, UsageError, why
from ralph_tui.base.plain_files import put_new
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.options import add_settings, terminal_width
from ralph_tui.config.described import commented_file, in_toml
from ralph_tui.config.files import REPOSITORY_FILE, user_config_file
from ralph_tui.config.problems import unknown
from ralph_tui.config.settings import NAMES, leaves
from ralph_tui.config.sources import FLAGS, Loaded, examine
from ralph_tui.text.sanitize import one_line, plain

PRIVATE = 0o600
"""The user's own file may contain the address of a webhook, which no one else should read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Show settings, their values and where each is set, or write a settings file."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    show = actions.add_parser("show", help="show every setting, its value and where it is set")
    show.add_argument(
        "name", metavar="SETTING", nargs="?", help="a setting or a section (default: all)"
    )
    show.add_argument("--changed", action="store_true", help="only settings that are set somewhere")
    show.add_argument("--json", action="store_true", help="print one JSON object")
    add_settings(show)
    init = actions.add_parser("init", help="write a file of the common settings, commented out")
    init.add_argument("--all", action="store_true", help="include every setting")
    path = actions.add_parser("path", help="print the path of your settings file")
    for action in (init, path):
        action.add_argument(
            "--repository",
            action="store_true",
            help=f"{REPOSITORY_FILE} in this repository instead of your own file",
        )
    for action in (show, init, path):
        action.set_defaults(within=action)


def run(args: argparse.Namespace) -> int:
    """Run the action. Raises ``RalphError`` for invalid settings and unwritable files."""
    if args.action == "show":
        return _show(args)
    path = _settings_path(repository=args.repository)
    if args.action == "init":
        _init(path, repository=args.repository, every=args.all)
    else:
        print(one_line(str(path)))
    return ExitCode.COMPLETED


def _settings_path(*, repository: bool) -> Path:
    if not repository:
        return user_config_file()
    root = worktree_root(Path.cwd())
    if not (root / ".git").exists():
        raise UsageError(
            f"{one_line(str(root))} is not a git repository; change to the project's folder, "
            "or omit --repository"
        )
    return root / REPOSITORY_FILE


def _init(path: Path, *, repository: bool, every: bool) -> None:
    content = commented_file(repository=repository, every=every).encode()
    try:
        if not repository:
            path.parent.mkdir(parents=True, exist_ok=True)
        put_new(path, content, mode=0o666 if repository else PRIVATE)
    except FileExistsError as error:
        if error.filename != str(path):
            raise RalphError(f"cannot write {path}: {error.filename} is not a folder") from error
        raise UsageError(
            f"{path} already exists and was not overwritten; edit it, or move it first"
        ) from error
    except OSError as error:
        what = why(error, "make the folder writable")
        raise RalphError(f"cannot write {path}: {what}") from error
    what = "every setting" if every else "the common settings"
    print(f"wrote {one_line(str(path))} with {what}, commented out")


def _show(args: argparse.Namespace) -> int:
    flags = {name: value for name, value in vars(args).items() if name in FLAGS}
    loaded = examine(worktree_root(Path.cwd()), flags, os.environ, args.set_options)
    names = [
        name
        for name in sorted(NAMES, key=lambda name: "." in name)
        if _is_selected(name, args.name)
        and not (args.changed and loaded.origins[name] == "default")
    ]
    if args.name and not any(_is_selected(name, args.name) for name in NAMES):
        raise UsageError(unknown(args.name, "config show"))
    if args.json:
        print(json.dumps(_as_object(loaded, names), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_format_settings(loaded, names)) or "all settings have their defaults")
    for warning in loaded.warnings:
        print(f"ralph-tui: {one_line(warning)}", file=sys.stderr)
    if loaded.problems:
        sys.stdout.flush()
        wrong = loaded.problems
        several = 1 < len(wrong) <= MAX_SENTENCES  # for more, the error adds the count
        problems = (*wrong, f"{len(wrong)} settings are not valid") if several else wrong
        raise SettingsError(problems)
    return ExitCode.COMPLETED


def _is_selected(name: str, asked: str | None) -> bool:
    return asked is None or name == asked or name.startswith(f"{asked}.")


def _format_settings(loaded: Loaded, names: list[str]) -> Iterator[str]:
    """Yield a line for each setting, aligned by section; an origin that is too long goes below."""
    values = loaded.settings.by_name()
    secrets = {
        name for name, value in leaves(loaded.settings.model_dump()) if isinstance(value, SecretStr)
    }
    room = terminal_width()
    first = True
    for _, group in groupby(names, key=lambda name: name.rpartition(".")[0]):
        section = list(group)
        width = max(map(len, section))
        if not first:
            yield ""
        first = False
        for name in section:
            value = f"{values[name]}/[redacted]" if name in secrets else values[name]
            line = f"{name:<{width}} = {one_line(plain(in_toml(name, value)))}"
            place = _format_origin(loaded, name)
            if room and len(line) + 2 + len(place) > room:
                yield from (line, f"    from {place}")
            else:
                yield f"{line:<{width + 13}}  {place}"


def _format_origin(loaded: Loaded, name: str) -> str:
    """Return a setting's origin; a path is relative to the current or the home folder."""
    place = loaded.place_of(name)
    if not place.startswith("/"):
        return one_line(place)
    near = from_here(Path(place))
    with_home = str(near)
    if near.is_absolute() and near.is_relative_to(Path.home()):
        with_home = f"~/{near.relative_to(Path.home())}"
    return one_line(with_home)


def _as_object(loaded: Loaded, names: list[str]) -> dict[str, object]:
    values = loaded.settings.by_name()
    return {
        "settings": {
            name: {"value": values[name], "from": loaded.place_of(name)} for name in names
        },
        "warnings": loaded.warnings,
        "problems": loaded.problems,
    }
