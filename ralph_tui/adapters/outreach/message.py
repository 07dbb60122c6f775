"""The text of a notification as an issue's title and body, a comment, or a webhook's JSON.

Rule: texts in a message are foreign, so they must not mention users or form Markdown.
"""

import json
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, FiniteFloat

from ralph_tui.events import EscalationRaised, RunStarted
from ralph_tui.events.base import Fact
from ralph_tui.events.oversight import Concern, Detected, EscalationLevel
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import money, percent
from ralph_tui.text.sanitize import clip

Priority = Literal["low", "medium", "high", "urgent"]
PRIORITIES: dict[EscalationLevel, Priority] = {
    "info": "low",
    "warning": "medium",
    "critical": "high",
    "emergency": "urgent",
}
TEST = "test"
"""The subject of a message that only tests the channels."""
LONGEST_REASON = 4000
LONGEST_LINE = 500
MAX_RECOMMENDATIONS = 10

Short = Annotated[Line, AfterValidator(lambda text: clip(text, LONGEST_LINE))]
Reason = Annotated[Plain, AfterValidator(lambda text: clip(text, LONGEST_REASON))]


class Readings(Fact):
    """Measurements and costs of the run at that moment."""

    completion: FiniteFloat | None = None
    """Points, 0-100; None before the first measurement."""
    best: FiniteFloat | None = None
    best_iteration: int = 0
    cost_usd: FiniteFloat | None = None


class Message(Fact):
    """One escalation with all the facts about it, as saved in the outbox."""

    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9/_.-]{1,200}$")]
    """Unique to the message, and the same for every attempt to deliver it."""
    escalation_id: Short
    run_id: Short
    level: EscalationLevel
    about: Short
    loop: Short
    """Task and attempt, as in ``task-001/002``; for a fleet's loop, as in ``fleet-001/lexer``."""
    fleet: bool = False
    """True if it is a fleet's loop."""
    iteration: int
    max_iterations: int
    reason: Reason
    recommendations: Annotated[list[Short], Field(max_length=MAX_RECOMMENDATIONS)] = []
    severity: Concern | None = None
    detections: list[Detected] = []
    strategy: Short = ""
    blockers: Annotated[list[Short], Field(max_length=MAX_RECOMMENDATIONS)] = []
    objective: Short = ""
    host: Short = ""
    folder: Short = ""
    """Name of the worktree's folder; its full path stays on this machine."""
    raised: AwareDatetime
    readings: Readings = Readings()
    comment: bool = False
    """True if `reason` is only a comment for the run's issue, if it has one."""

    @property
    def title(self) -> str:
        """Title of the issue."""
        if self.about == TEST:
            return f"[Ralph External] TEST by ralph-tui {self.loop}"
        return f"[Ralph External] {self.level.upper()}: {self.about} in {self.loop}"

    @property
    def priority(self) -> Priority:
        """How urgently someone should look at it."""
        return PRIORITIES[self.level]

    @property
    def context(self) -> dict[str, object]:
        """Facts in an issue for programs to read; empty ones are left out."""
        known = {
            "level": self.level,
            "priority": self.priority,
            "detection": self.about,
            "iteration": self.iteration,
            **self.model_dump(
                mode="json", include={"severity", "detections", "strategy", "blockers"}
            ),
        }
        return {name: value for name, value in known.items() if value not in (None, "", [])}

    @property
    def marker(self) -> str:
        """Invisible text in an issue that identifies a message already sent."""
        return f"<!-- ralph-external {self.key} -->"


def message_of(
    escalation: EscalationRaised,
    run: RunStarted,
    readings: Readings,
    raised: AwareDatetime,
    fleet_loop: str = "",
) -> Message:
    """Build the message for an escalation of `run`; `fleet_loop` names it within its fleet."""
    return Message(
        key=re.sub("[^A-Za-z0-9/_.-]", "-", f"{run.run_id}/{escalation.escalation_id}")[:200],
        escalation_id=escalation.escalation_id,
        run_id=run.run_id,
        level=escalation.level,
        about=escalation.about,
        loop=fleet_loop or run.name,
        fleet=bool(fleet_loop),
        iteration=escalation.iteration,
        max_iterations=run.max_iterations,
        reason=escalation.reason,
        recommendations=escalation.recommendations[:MAX_RECOMMENDATIONS],
        severity=escalation.severity,
        detections=escalation.detections,
        strategy=escalation.strategy,
        blockers=escalation.blockers[:MAX_RECOMMENDATIONS],
        objective=run.objective,
        host=run.host,
        folder=Path(run.root).name,
        raised=raised,
        readings=readings,
    )


def comment_of(key: str, text: str, iteration: int, run: RunStarted, at: AwareDatetime) -> Message:
    """Build a comment for the issue about `run`; `key` is unique among its comments."""
    return Message(
        key=re.sub("[^A-Za-z0-9/_.-]", "-", f"{run.run_id}/{key}")[:200],
        escalation_id=key,
        run_id=run.run_id,
        level="info",
        about="comment",
        loop=run.name,
        iteration=iteration,
        max_iterations=run.max_iterations,
        reason=text,
        raised=at,
        comment=True,
    )


def issue_body(message: Message) -> str:
    """Return the text that opens an issue."""
    objective = _escaped(message.objective)
    return _markdown(message, f"_{objective}_\n\n" if objective.strip() else "")


def comment_body(message: Message) -> str:
    """Return the text of a later message from the same run."""
    if message.comment:
        return f"{_escaped(message.reason)}\n\n{message.marker}\n"
    return _markdown(message, f"**{message.level.upper()}: {_escaped(message.about)}**\n\n")


def payload(message: Message) -> dict[str, object]:
    """Return a webhook's JSON; chat services show `text` or `content`, programs read the rest."""
    words = f"{message.title}\n{message.reason}\n{_what_to_do(message)}".rstrip("\n")
    words = clip(_without_mentions(words), 1900)
    return {
        "event": TEST if message.about == TEST else "escalation",
        "text": words,
        "content": words,
        "title": message.title,
        "priority": message.priority,
        **message.model_dump(mode="json", exclude={"key"}),
        "id": message.key,
    }


def _markdown(message: Message, opening: str) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in _readings(message))
    parts = [f"{opening}{_escaped(message.reason)}", f"| measurement | |\n|---|---|\n{rows}"]
    if message.recommendations:
        items = "\n".join(f"- {_escaped(line)}" for line in message.recommendations)
        parts.append(f"**Recommended**\n\n{items}")
    facts = json.dumps(message.context, ensure_ascii=False, indent=2)
    parts += [f"```json\n{_without_mentions(facts)}\n```", _what_to_do(message), message.marker]
    return "\n\n".join(filter(None, parts)) + "\n"


def _readings(message: Message) -> list[tuple[str, str]]:
    now = message.readings
    rows = []
    if message.max_iterations:
        rows.append(("iteration", f"{message.iteration} of {message.max_iterations}"))
    values = [points for points in (now.completion, now.best) if points is not None]
    if now.completion is not None:
        rows.append(("completion", percent(now.completion, *values)))
    if now.best is not None:
        where = f" after iteration {now.best_iteration}" if now.best_iteration else ""
        rows.append(("best", f"{percent(now.best, *values)}{where}"))
    if now.cost_usd is not None:
        rows.append(("cost", money(now.cost_usd)))
    rows += [("run", f"{_escaped(message.loop)} in {_escaped(message.folder)}")]
    rows += [("raised", f"{message.raised:%Y-%m-%d %H:%M} UTC")]
    return rows


def _what_to_do(message: Message) -> str:
    if message.about == TEST:
        return ""
    if message.fleet:
        place = f"in the fleet's project on `{message.host.replace('`', '')}`"
        if message.level in ("info", "emergency"):
            return f"The loop has ended. To see its fleet, run `ralph-tui fleet status` {place}."
        loop = message.loop.rpartition("/")[2].replace("`", "")
        return f"To answer, run `ralph-tui fleet decide {loop}` {place}."
    where = f"`{message.folder.replace('`', '')}` on `{message.host.replace('`', '')}`"
    if message.level in ("info", "emergency"):  # sent when the run is aborted
        return f"The run has ended. To continue it, run `ralph-tui resume` in {where}."
    return f"To answer, run `ralph-tui decide` in {where} (`ralph-tui status` shows the question)."


def _escaped(text: str) -> str:
    return _without_mentions(re.sub(r"([\\`*_\[\]()<>#!|~+-])", r"\\\1", text))


def _without_mentions(text: str) -> str:
    """Disable ``@name`` and a chat's ``<!everyone>`` with a zero-width space."""
    return re.sub("([@<])", "\\1\u200b", text)
