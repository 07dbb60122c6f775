"""Permission requests of ACP agents, and refusals the model does not know about yet. Pure.

Options are chosen by their kind, never by position, because agents order them as they like.

Rule: a refusal must reach the model. If it ends the turn, or if the user gave a reason, the next
prompt repeats it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.adapters.agents.acp.tools import ToolUse, approval
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.rpc.approvals import Approval
from ralph_tui.adapters.agents.rpc.messages import Request
from ralph_tui.text.json_fields import as_list, as_map, as_text

Json = Mapping[str, object]

MAX_REFUSALS = 30
"""Number of turns that may end with a refusal before the session ends."""
MAX_REPEATS = 3
"""Number of consecutive turns that ask only for refused things before the session ends."""
REPEATED_REQUEST = (
    f"The agent repeated a refused request in {MAX_REPEATS} turns in a row; its session was ended."
)
FORBIDDEN_BY_RULE = "A rule of this project forbids it. Continue without it."
"""The reason given to the model when a rule refuses."""
_CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}


def approval_of(
    request: Request, use: ToolUse, quirks: Quirks, permits: Permits, roots: Sequence[str]
) -> Approval:
    """Build the approval for a request, with the possible answers."""
    options = [as_map(option) for option in as_list(request.params.get("options"))]
    tool_id = as_text(as_map(request.params.get("toolCall")).get("toolCallId"))
    return replace(
        approval(use, tool_id, roots, request.id),
        why=explain_request(use, permits),
        yes=_find_option(options, "allow_once", quirks),
        no=_find_option(options, "reject_once", quirks) or _CANCELLED,
        cancelled=_CANCELLED,
    )


def _find_option(options: list[Json], kind: str, quirks: Quirks) -> Json | None:
    for option in options:
        chosen = as_text(option.get("optionId"))
        if option.get("kind") == kind and chosen and chosen not in quirks.lasting:
            return {"outcome": {"outcome": "selected", "optionId": chosen}}
    return None


def explain_request(use: ToolUse, permits: Permits) -> str:
    """Explain a request in the agent's words, and name any file outside the project.

    A title that only repeats the tool's subject is left out.
    """
    said = use.title if use.title not in (use.command, use.name, use.url, *use.paths) else ""
    outside = next((path for path in use.paths if not permits.is_in_worktree(path)), "")
    return "\n".join(filter(None, (said, f"outside the project: {outside}" if outside else "")))


@dataclass(frozen=True)
class _Refusal:
    what: str
    words: str
    """The reason as complete sentences for the model."""

    @property
    def is_informative(self) -> bool:
        """True if it tells the model more than that the request was refused."""
        return not self.words.lower().endswith(("continue without it.", "go on without it."))

    def __str__(self) -> str:
        return f"You requested: {self.what}. {self.words}"


class Refusals:
    """The refusals of one session."""

    def __init__(self) -> None:
        self._pending: list[_Refusal] = []
        """Refusals that have not been fully explained to the model."""
        self._acts = -1
        """The agent's action count at the time of the last refusal."""
        self._turns = 0
        self._reported: set[str] = set()
        """Subjects of refusals that have been reported to the model."""
        self._repeats = 0
        """Number of consecutive turns that asked only for refused things."""

    @property
    def is_stubborn(self) -> bool:
        """True if the agent keeps asking for refused things, so that another prompt is useless."""
        return self._repeats >= MAX_REPEATS

    def add(self, what: str, words: str, acts: int) -> None:
        """Add a refusal and its explanation for the model; `acts` counts the agent's actions."""
        self._pending.append(_Refusal(what, words))
        self._acts = acts

    def reminder(self, acts: int, *, ended_turn: bool) -> str:
        """Return the refusals to repeat in the next prompt, or "" if there are none to repeat."""
        if not self._pending or self._turns >= MAX_REFUSALS:
            return ""
        ended = ended_turn or self._acts == acts
        if not ended and not any(refusal.is_informative for refusal in self._pending):
            return ""
        refused = {refusal.what for refusal in self._pending}
        self._repeats = self._repeats + 1 if refused <= self._reported else 0
        self._reported |= refused
        if self.is_stubborn:
            return ""
        said = "\n".join(map(str, self._pending))
        self._pending.clear()
        self._turns += 1
        return said
