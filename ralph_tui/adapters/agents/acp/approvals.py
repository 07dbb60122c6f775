"""The permissions that an agent over ACP asks for, and the refusals its model has not heard. Pure.

Options are chosen by what they are for, never by their place: agents order them as they like.
Rule: a refusal must reach the model. Where it ends the turn, or the owner has said more than no,
there are words for the next prompt.
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

MOST_REFUSALS = 30
"""Turns of one session that a refusal may end; then the session is over."""
MOST_AGAIN = 3
"""The same of turns in a row that asked for nothing but what was refused before."""
INSISTS = (
    f"The agent asked {MOST_AGAIN} turns in a row for what was refused: its session ends here."
)
OF_A_RULE = "A rule of this project does not permit it. Go on without it."
"""What a model hears of a refusal that no owner has worded."""
_CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}


def approval_of(
    request: Request, use: ToolUse, quirks: Quirks, permits: Permits, roots: Sequence[str]
) -> Approval:
    """What a request asks leave for, and its answers."""
    options = [as_map(option) for option in as_list(request.params.get("options"))]
    tool_id = as_text(as_map(request.params.get("toolCall")).get("toolCallId"))
    return replace(
        approval(use, tool_id, roots, request.id),
        why=why_of(use, permits),
        yes=_chosen(options, "allow_once", quirks),
        no=_chosen(options, "reject_once", quirks) or _CANCELLED,
        cancelled=_CANCELLED,
    )


def _chosen(options: list[Json], kind: str, quirks: Quirks) -> Json | None:
    for option in options:
        chosen = as_text(option.get("optionId"))
        if option.get("kind") == kind and chosen and chosen not in quirks.lasting:
            return {"outcome": {"outcome": "selected", "optionId": chosen}}
    return None


def why_of(use: ToolUse, permits: Permits) -> str:
    """Why it is asked about: the agent's words, and the file that lies outside of the project.

    A title that only names what it works on is no reason.
    """
    said = use.title if use.title not in (use.command, use.name, use.url, *use.paths) else ""
    outside = next((path for path in use.paths if not permits.holds(path)), "")
    return "\n".join(filter(None, (said, f"outside of the project: {outside}" if outside else "")))


@dataclass(frozen=True)
class _Refusal:
    what: str
    words: str
    """Why, as whole sentences for the model."""

    @property
    def says_more(self) -> bool:
        """Whether the model hears more in it than in the agent's own word that it was refused."""
        return not self.words.lower().endswith("go on without it.")

    def __str__(self) -> str:
        return f"You wanted: {self.what}. {self.words}"


class Refusals:
    """Those of one session."""

    def __init__(self) -> None:
        self._unheard: list[_Refusal] = []
        """Those that the model has heard nothing of, or not all."""
        self._acts = -1
        """What the agent had said and done at the last one."""
        self._turns = 0
        self._told: set[str] = set()
        """What the model was told that it may not do."""
        self._again = 0
        """Turns in a row that asked for nothing else."""

    @property
    def insists(self) -> bool:
        """Whether turn after turn asks for what was refused: no further prompt changes that."""
        return self._again >= MOST_AGAIN

    def add(self, what: str, words: str, acts: int) -> None:
        """One more, with words for the model; `acts`: what it has said and done so far."""
        self._unheard.append(_Refusal(what, words))
        self._acts = acts

    def unheard(self, acts: int, *, ended_turn: bool) -> str:
        """What the model has to be told when its turn is over; empty: nothing."""
        if not self._unheard or self._turns >= MOST_REFUSALS:
            return ""
        ended = ended_turn or self._acts == acts
        if not ended and not any(refusal.says_more for refusal in self._unheard):
            return ""
        refused = {refusal.what for refusal in self._unheard}
        self._again = self._again + 1 if refused <= self._told else 0
        self._told |= refused
        if self.insists:
            return ""
        said = "\n".join(map(str, self._unheard))
        self._unheard.clear()
        self._turns += 1
        return said
