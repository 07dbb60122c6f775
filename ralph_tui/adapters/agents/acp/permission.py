"""What an agent asks leave for, whether the rules of the session give it, and how it is answered.

Options are chosen by what they are for, never by their place: agents order them as they like.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.acp.tools import EDITS, READS, ToolUse, line_for_address
from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.adapters.agents.permissions import Permits

Json = Mapping[str, object]

CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}
"""The answer to a question that wants none any more."""


@dataclass
class Question:
    """A permission that is asked for and not answered."""

    request_id: int | str
    tool_id: str
    use: ToolUse
    options: list[Json]


@dataclass(frozen=True)
class Refusal:
    """A permission that was refused."""

    what: str
    words: str = "A rule of this project does not permit it. Go on without it."
    """Why, as whole sentences for the model."""

    @property
    def says_more(self) -> bool:
        """Whether the model hears more in it than in the agent's own word that it was refused."""
        return not self.words.lower().endswith("go on without it.")

    def __str__(self) -> str:
        return f"You wanted: {self.what}. {self.words}"


def question(request_id: int | str, params: Json, use: ToolUse) -> Question:
    """The question that a request asks."""
    options = [as_map(option) for option in as_list(params.get("options"))]
    tool_id = as_text(as_map(params.get("toolCall")).get("toolCallId"))
    return Question(request_id, tool_id, use, options)


def allowed_once(asked: Question, quirks: Quirks) -> Json | None:
    """The answer that allows this use alone; None where the agent offers none."""
    return _chosen(asked, "allow_once", quirks)


def refused(asked: Question, quirks: Quirks) -> Json:
    """The answer that refuses this use alone."""
    return _chosen(asked, "reject_once", quirks) or CANCELLED


def _chosen(asked: Question, kind: str, quirks: Quirks) -> Json | None:
    for option in asked.options:
        chosen = as_text(option.get("optionId"))
        if option.get("kind") == kind and chosen and chosen not in quirks.lasting:
            return {"outcome": {"outcome": "selected", "optionId": chosen}}
    return None


def is_permitted(use: ToolUse, permits: Permits) -> bool:
    """Whether the rules of the session permit a use of a tool."""
    if permits.tool(use.name):
        return True
    if use.kind == "execute":
        return permits.command(use.command)
    if use.kind in EDITS:
        return bool(use.paths) and permits.edit(use.paths)
    if use.kind in READS:
        return permits.read(use.paths)
    if use.kind == "fetch":
        return permits.fetch(use.url)
    # Of no known kind: where a tool may reach to is asked so, and nothing else is known of it.
    outside = bool(use.paths) and not any(map(permits.holds, use.paths))
    return outside and permits.edit(use.paths)


def rule_of(use: ToolUse) -> str:
    """What an answer for the session allows: the same again. Empty where that cannot be said."""
    if use.kind == "execute":
        return f"Bash({use.command})" if use.command else ""
    if use.kind in EDITS | READS or use.paths:
        tool = "Read" if use.kind in READS else "Edit"
        return f"{tool}({', '.join(use.paths)})" if use.paths else ""
    return line_for_address(use.url) if use.kind == "fetch" else use.name


def why_of(use: ToolUse, permits: Permits) -> str:
    """Why it is asked about: the agent's words, and the file that lies outside of the project.

    A title that only names what it works on is no reason.
    """
    said = use.title if use.title not in (use.command, use.name, use.url, *use.paths) else ""
    outside = next((path for path in use.paths if not permits.holds(path)), "")
    return "\n".join(filter(None, (said, f"outside of the project: {outside}" if outside else "")))
