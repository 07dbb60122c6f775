"""A request as it comes through the socket: whatever it says, it is a command or a sentence."""

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from ralph_tui.adapters.remote.protocol import VERSION, is_version
from ralph_tui.commands import AnyCommand, Command
from ralph_tui.text.sanitize import clip, one_line

REST_LIMIT = 10_000
"""Characters of a command without its text."""

_COMMANDS: TypeAdapter[Command] = TypeAdapter(AnyCommand)


def read_request(line: bytes, by: str) -> Command:
    """The command, given by `by`: what the line itself says of that counts for nothing.

    Raises ``ValueError`` with one sentence for anything else.
    """
    try:
        fields = from_json(line, allow_inf_nan=False)
    except ValueError:
        raise ValueError("this is no line of JSON; send one object per line") from None
    if not isinstance(fields, dict):
        raise ValueError("this is no JSON object; send a version and a command")
    if not is_version(fields.get("version")):
        raise ValueError(
            f"this run understands version {VERSION} of the command socket only; "
            "use the ralph-tui that started it"
        )
    unknown = sorted(fields.keys() - {"version", "command"})
    if unknown:
        raise ValueError(f"a request has no field {clip(one_line(unknown[0]), 40)!r}")
    try:
        command = _COMMANDS.validate_python(fields.get("command"))
    except ValidationError as error:
        raise ValueError(_sentence(error)) from None
    if len(command.model_dump_json(exclude={"text"})) > REST_LIMIT:
        raise ValueError(f"a command has at most {REST_LIMIT:,} characters beside its text")
    return command.model_copy(update={"by": by})


def _sentence(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    if problem["type"] in ("union_tag_invalid", "union_tag_not_found", "model_attributes_type"):
        return "there is no such command"
    # The first part names the command, the others lead to the field.
    place = ".".join(clip(one_line(str(part)), 40) for part in problem["loc"])
    return f"{place}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
