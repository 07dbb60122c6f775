"""Read requests from the socket: each line yields a command, or an error in one sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from ralph_tui.adapters.remote.protocol import VERSION, is_version
from ralph_tui.commands import AnyCommand, Command
from ralph_tui.text.sanitize import clip, one_line

REST_LIMIT = 10_000
"""Maximum length of a command without its text, in characters."""
LONGEST_ID = 100
"""Maximum length of a loop's id, in characters."""

_COMMANDS: TypeAdapter[Command] = TypeAdapter(AnyCommand)


@dataclass(frozen=True)
class Request:
    """A command and the part of a fleet that it is for."""

    command: Command
    loop: str = ""
    """Fleets only: the id of a loop, ``all``, or empty for the fleet itself."""


def read_request(line: bytes, by: str) -> Command:
    """Return the command, signed by `by`, regardless of any signature in the line itself.

    Raises ``ValueError`` with one sentence if the line has no valid command.
    """
    return _read(line, by, {"version", "command"}).command


def read_fleet_request(line: bytes, by: str) -> Request:
    """Read a request from a socket that serves the loops of a fleet, as `read_request` does."""
    return _read(line, by, {"version", "command", "loop"})


def _read(line: bytes, by: str, known: set[str]) -> Request:
    fields = read_fields(line)
    unknown = sorted(fields.keys() - known)
    if unknown:
        raise ValueError(f"a request has no field {clip(one_line(unknown[0]), 40)!r}")
    loop = fields.get("loop", "")
    if not isinstance(loop, str) or len(loop) > LONGEST_ID:
        raise ValueError(f"a loop's name has at most {LONGEST_ID} characters")
    return Request(command_of(fields, by), one_line(loop))


def read_fields(line: bytes) -> dict[str, Any]:
    """Return the fields of a request; ``ValueError`` with one sentence if it is not valid."""
    try:
        fields = from_json(line, allow_inf_nan=False)
    except ValueError:
        raise ValueError("this is not a line of JSON; send one object per line") from None
    if not isinstance(fields, dict):
        raise ValueError("this is not a JSON object; send a version and a command")
    if not is_version(fields.get("version")):
        raise ValueError(
            f"this run understands version {VERSION} of the command socket only; "
            "use the ralph-tui version that started it"
        )
    return fields


def command_of(fields: Mapping[str, Any], by: str) -> Command:
    """Return the command in a request's fields, signed by `by`. Raises as `read_request` does."""
    try:
        command = _COMMANDS.validate_python(fields.get("command"))
    except ValidationError as error:
        raise ValueError(_sentence(error)) from None
    if len(command.model_dump_json(exclude={"text"})) > REST_LIMIT:
        raise ValueError(f"a command has at most {REST_LIMIT:,} characters besides its text")
    return command.model_copy(update={"by": by})


def _sentence(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    if problem["type"] in ("union_tag_invalid", "union_tag_not_found", "model_attributes_type"):
        return "unknown command"
    # The first part is the command's name, the others lead to the field.
    place = ".".join(clip(one_line(str(part)), 40) for part in problem["loc"])
    return f"{place}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
