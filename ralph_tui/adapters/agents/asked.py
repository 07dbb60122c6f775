"""What an agent asks of its owner, bounded before it becomes an event. Pure.

Rule: whoever says yes to a rule sees all of it. One that cannot be shown as it is (too long, with
characters no screen shows, with a secret in it) is not offered; of what a tool would do it is said
how much is not shown.
"""

from collections.abc import Iterable, Mapping

from ralph_tui.events import AgentAsked
from ralph_tui.events.asking import AgentChoice, AgentOption
from ralph_tui.text.json_fields import as_list, as_map, as_text
from ralph_tui.text.sanitize import one_line, plain, shorten

MOST_INPUT = 4000
"""Characters of what a tool would do."""
MOST_WHY = 1000
MOST_RULE = 500
MOST_QUESTIONS = 8
MOST_OPTIONS = 9
"""Of one question: each has a digit; whoever wants another answers in words."""
MOST_ABOUT = 300
"""Characters that tell what an option means."""


def asked(
    iteration: int,
    request_id: str,
    tool: str,
    *,
    input: str = "",  # noqa: A002 - the field's name
    why: str = "",
    rule: str = "",
    choices: Iterable[AgentChoice] = (),
    parent: str | None = None,
) -> AgentAsked:
    """The event; `rule` is what an answer for the session allows, as the agent writes it."""
    return AgentAsked(
        iteration=iteration,
        request_id=request_id,
        tool=shorten(tool),
        input=shown_input(input),
        why=shorten(why.strip(), MOST_WHY),
        rule=rule if can_be_shown(rule) else "",
        choices=list(choices)[:MOST_QUESTIONS],
        parent=parent,
    )


def choice(
    question: str,
    header: str = "",
    options: Iterable[tuple[str, str]] = (),
    *,
    multiple: bool = False,
) -> AgentChoice:
    """A question of the agent's own; an option is its label and what it means."""
    return AgentChoice(
        question=shorten(question.strip(), MOST_WHY),
        header=shorten(header),
        options=[
            AgentOption(label=shorten(label), description=shorten(description, MOST_ABOUT))
            for label, description in list(options)[:MOST_OPTIONS]
        ],
        multiple=multiple,
    )


def choice_in(fields: Mapping[str, object]) -> AgentChoice:
    """A question as agents write it: ``question, header, options[{label, description}]``."""
    options = map(as_map, as_list(fields.get("options")))
    return choice(
        as_text(fields.get("question")),
        as_text(fields.get("header")),
        [(as_text(one.get("label")), as_text(one.get("description"))) for one in options],
        multiple=fields.get("multiSelect") is True,
    )


def can_be_shown(rule: str) -> bool:
    """Whether the owner would see exactly this rule."""
    return len(rule) <= MOST_RULE and one_line(rule) == rule


def shown_input(text: str) -> str:
    """What a tool would do, at most so long; what is left out is counted."""
    text = text.strip("\n")
    if len(text) <= MOST_INPUT:
        return text
    left = plain(text[: MOST_INPUT * 2])[: MOST_INPUT - 40]
    return f"{left}\n… and {len(text) - len(left):,} more characters"
