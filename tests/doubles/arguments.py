"""The stub's command line: the flags of the real binary that matter here, and its refusals."""

import argparse
import os
import uuid
from collections.abc import Mapping, Sequence
from typing import NoReturn

from tests.doubles.version import version_of

FLAGS_OF_LATER_VERSIONS = {"--include-hook-events": (2, 1), "--max-budget-usd": (2, 0, 28)}
"""Absent below these versions."""

Version = tuple[int, ...]


class RefusedError(Exception):
    """The command line is refused: one sentence for stderr, and exit code 1."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise RefusedError(f"error: {message}")


def as_numbers(version: str) -> Version:
    """A version to compare; parts that are not numbers count as 0."""
    return tuple(
        int(part) if part.isdigit() else 0 for part in version.split(" ", maxsplit=1)[0].split(".")
    )


def parser(version: str) -> argparse.ArgumentParser:
    """The options that this version knows."""
    known = as_numbers(version)
    parse = _Parser(prog="claude", add_help=False, allow_abbrev=False)
    parse.add_argument("-p", "--print", action="store_true", dest="printing")
    parse.add_argument("-v", "--version", action="store_true")
    parse.add_argument("-h", "--help", action="store_true")
    parse.add_argument("--input-format", choices=("text", "stream-json"), default="text")
    parse.add_argument("--output-format", choices=("text", "json", "stream-json"), default="text")
    for flag in ("--verbose", "--replay-user-messages", "--include-partial-messages", "--bare",
                 "--include-hook-events", "--fork-session", "--dangerously-skip-permissions",
                 "--no-session-persistence"):  # fmt: skip
        if known >= FLAGS_OF_LATER_VERSIONS.get(flag, ()):
            parse.add_argument(flag, action="store_true")
    for flag in ("--model", "--fallback-model", "--session-id", "--permission-mode",
                 "--settings", "--append-system-prompt", "--json-schema", "--system-prompt",
                 "--effort", "--permission-prompt-tool"):  # fmt: skip
        parse.add_argument(flag)
    parse.add_argument("-r", "--resume")
    if known >= FLAGS_OF_LATER_VERSIONS["--max-budget-usd"]:
        parse.add_argument("--max-budget-usd", type=float)
    parse.add_argument("--max-turns", type=int, help=argparse.SUPPRESS)
    for flag in ("--allowedTools", "--disallowedTools", "--tools", "--add-dir", "--mcp-config"):
        parse.add_argument(flag, nargs="+", default=[])
    parse.add_argument("prompt", nargs="?", default="")
    return parse


def parse(argv: Sequence[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """The options; raises `RefusedError` as the real binary refuses."""
    options, unknown = parser(version_of(environ)).parse_known_args(argv)
    if unknown:
        raise RefusedError(f"error: unknown option '{unknown[0]}'")
    if options.version or options.help:
        return options
    if options.session_id and not _is_uuid(options.session_id):
        raise RefusedError("Error: Invalid session ID. Must be a valid UUID.")
    if options.dangerously_skip_permissions:
        if os.geteuid() == 0 and environ.get("IS_SANDBOX") != "1":
            raise RefusedError(
                "--dangerously-skip-permissions cannot be used with root/sudo privileges "
                "for security reasons"
            )
        options.permission_mode = "bypassPermissions"
    if options.printing and options.output_format == "stream-json" and not options.verbose:
        raise RefusedError(
            "Error: When using --print, --output-format=stream-json requires --verbose"
        )
    if options.input_format == "stream-json" and options.output_format != "stream-json":
        raise RefusedError("Error: --input-format=stream-json requires output-format=stream-json.")
    return options


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
