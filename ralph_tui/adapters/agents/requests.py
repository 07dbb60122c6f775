"""Questions from the agent to the user, bounded before they become events. Pure.

Rule: a user who accepts a rule has seen all of it. A rule that cannot be shown unchanged (too long,
unprintable characters, a secret) is not offered. The input of a tool is cut, and the number of
missing characters is shown.
"""

from collections.abc import Iterable, Mapping

from ralph_tui.events import AgentAsked
from ralph_tui.events.asking import AgentChoice, AgentOption
from ralph_tui.text.json_fields import as_list, as_map, as_text
from ralph_tui.text.sanitize import one_line, plain, shorten

MAX_INPUT = 4000
"""Maximum length of a tool's input, in characters."""
MAX_WHY = 1000
MAX_RULE = 500
MAX_QUESTIONS = 8
MAX_OPTIONS = 9
"""Maximum number of options per question, each with a digit key. Users type any other answer."""
MAX_ABOUT = 300
"""Maximum length of an option's description, in characters."""


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
    """Build the event; `rule` is the rule to allow for the session, in the agent's notation."""
    return AgentAsked(
        iteration=iteration,
        request_id=request_id,
        tool=shorten(tool),
        input=clip_input(input),
        why=shorten(why.strip(), MAX_WHY),
        rule=rule if is_displayable(rule) else "",
        choices=list(choices)[:MAX_QUESTIONS],
        parent=parent,
    )


def choice(
    question: str,
    header: str = "",
    options: Iterable[tuple[str, str]] = (),
    *,
    multiple: bool = False,
) -> AgentChoice:
    """Build a question that the agent itself asks; an option is a label and a description."""
    return AgentChoice(
        question=shorten(question.strip(), MAX_WHY),
        header=shorten(header),
        options=[
            AgentOption(label=shorten(label), description=shorten(description, MAX_ABOUT))
            for label, description in list(options)[:MAX_OPTIONS]
        ],
        multiple=multiple,
    )


def parse_choice(fields: Mapping[str, object]) -> AgentChoice:
    """Parse a question in the agents' form: ``question, header, options[{label, description}]``."""
    options = map(as_map, as_list(fields.get("options")))
    return choice(
        as_text(fields.get("question")),
        as_text(fields.get("header")),
        [(as_text(one.get("label")), as_text(one.get("description"))) for one in options],
        multiple=fields.get("multiSelect") is True,
    )


def is_displayable(rule: str) -> bool:
    """True if the rule can be shown unchanged."""
    return len(rule) <= MAX_RULE and one_line(rule) == rule


def clip_input(text: str) -> str:
    """Return a tool's input, cut to `MAX_INPUT` characters with a count of the rest."""
    text = text.strip("\n")
    if len(text) <= MAX_INPUT:
        return text
    left = plain(text[: MAX_INPUT * 2])[: MAX_INPUT - 40]
    return f"{left}\n… and {len(text) - len(left):,} more characters"
