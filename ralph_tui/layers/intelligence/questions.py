"""Questions for a model, one per purpose.

Everything from the agent, files or other models is fenced and labelled as data. An answer is
validated against its form (`answers`), never obeyed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ralph_tui.events import AgentReported, AssessmentMade, ReflectionWritten
from ralph_tui.layers.intelligence.fence import closed, data, fenced, item
from ralph_tui.state import AgentRow
from ralph_tui.text.sanitize import clip, plain

LONGEST_DIFF = 40_000
"""Maximum length of a diff shown to a judge, in characters."""
LONGEST_WORDS = 8000
"""Maximum length of any other material, in characters."""
LONGEST_TRANSCRIPT = 6000
LONGEST_ROW = 300
LONGEST_PROMPT = 60_000
"""Maximum length of a prompt that a model is asked to reword, in characters."""

_FORM = "Answer with one JSON object of this form, and nothing else:"


@dataclass(frozen=True)
class JudgeInput:
    """Material for a judge."""

    objective: str
    criterion: str
    claim: Sequence[str]
    """The agent's statements about its work."""
    changed: str
    """Changes made in the last iteration, in a sentence."""
    diff: str
    """Diff of all changes in the run, limited in length."""


def judge_question(inputs: JudgeInput) -> str:
    """Ask whether the criterion is met."""
    return _question(
        "Judge whether the work is done",
        f"The objective of the work:\n\n{closed(inputs.objective.strip())}",
        f"It is done when this is true:\n\n{fenced(inputs.criterion)}",
        "An agent claims that it is. Judge by the evidence below, not by the claim. If the "
        "evidence does not prove it, the criterion is not met; say in the reason what is missing.",
        _data("The agent's account of its work", "\n".join(f"- {line}" for line in inputs.claim)),
        _data("File changes in the last iteration", inputs.changed),
        _data("All changes of this run, as a diff", inputs.diff, LONGEST_DIFF),
        form={"met": "true or false", "reason": "one or two sentences, with the evidence"},
    )


def prompt_question(composed: str) -> str:
    """Ask for a better wording of a prompt; `composed` is the prompt from the template."""
    return _question(
        "Write the next prompt",
        "A coding agent works in a loop, each time in a fresh session that knows only the files "
        "and its prompt. Below is the prompt composed for its next session: what was measured, "
        "what was tried, what is planned. Say what the agent should do now: name what fails, "
        "where to look first, and what not to try again. Be concrete and brief.",
        "The prompt below is sent unchanged, together with your text. Do not repeat it, and do "
        "not promise completion.",
        _data("The composed prompt", composed, LONGEST_PROMPT),
        form={
            "prompt": "instructions for the agent, in Markdown",
            "systemContext": "text for the agent to keep in mind throughout, or an empty string",
            "focusAreas": ["at most three, the most important first"],
            "urgency": "low, normal, high or critical",
        },
    )


def assessment_question(
    objective: str,
    made: AssessmentMade,
    report: AgentReported | None,
    diff: str,
    rows: Sequence[AgentRow] = (),
) -> str:
    """Ask for a second opinion on an iteration's results; `rows` is its agent's stream."""
    known = made.model_dump_json(exclude={"seq", "at", "kind", "schema_version"}, indent=1)
    said = [report.summary, report.next, *report.blockers, *report.learnings] if report else []
    return _question(
        "Give a second opinion on an iteration",
        "A coding agent works in a loop. Rules assessed one of its iterations from the evidence. "
        "Review the same evidence. Say what the iteration really achieved, what can be learned "
        "from it, how far along the work is, and how to continue.",
        f"The objective of the work:\n\n{closed(objective.strip())}",
        _data("The rule-based assessment", known),
        _data("The agent's account of its work", "\n".join(f"- {line}" for line in said)),
        _data("The end of the session's transcript", transcript_end(rows)),
        _data("The iteration's changes, as a diff", diff),
        form={
            "enhancedSummary": "two or three sentences",
            "additionalLearnings": ["at most five, one sentence each"],
            "refinedProgress": "a number from 0 to 100, or null",
            "suggestedApproach": "one or two sentences",
        },
    )


def transcript_end(rows: Sequence[AgentRow]) -> str:
    """Return the last messages and tool calls, a line each, as far as they fit."""
    kept: list[str] = []
    room = LONGEST_TRANSCRIPT
    for row in reversed(rows):
        call = f"{row.tool}: {row.text}" if row.tool else row.text
        line = item(f"{call} -> {row.result}" if row.result else call, LONGEST_ROW)
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def reflection_question(
    objective: str, written: ReflectionWritten, iterations: Sequence[str]
) -> str:
    """Ask for an attempt's lessons, given the templated reflection and a line per iteration."""
    by_rules = {
        "observation": written.observation,
        "analysis": written.analysis,
        "learning": written.learning,
        "actionItems": written.action_items,
    }
    return _question(
        "Reflect on an attempt",
        "A coding agent worked in a loop, and its attempt has ended. Below is a reflection on it "
        "that rules composed from the measurements. Write a better one for the next attempt at "
        "such a task: why it went as it did, what to repeat, and what to do differently. Every "
        "number and fact in it must appear below.",
        f"The objective of the work:\n\n{closed(objective.strip())}",
        _data("The rule-based reflection", json.dumps(by_rules, indent=1, ensure_ascii=False)),
        _data("The iterations", "\n".join(iterations)),
        form={
            "analysis": "why it went this way, two or three sentences",
            "learning": "the lesson, one sentence",
            "actionItems": ["at most five, one sentence each"],
        },
    )


def handoff_question(objective: str, written: str, said: Sequence[str], diff: str) -> str:
    """Ask for the work in progress and the next step; `written` is the templated handoff."""
    return _question(
        "Write a session's handoff",
        "A coding agent works in a loop. Its session was ended before its context window was "
        "full. A fresh session continues its work and knows only the files and the handoff. Below "
        "is the handoff composed from evidence. Say what was in progress, what the next step is, "
        "and what is open. Name files, functions and lines. Do not call anything done unless the "
        "evidence shows it.",
        "Files, plan and tests are listed next to your text: do not repeat them.",
        f"The objective of the work:\n\n{closed(objective.strip())}",
        _data("The handoff from evidence", written),
        _data("The agent's last messages, newest first", "\n".join(said)),
        _data("The session's changes, as a diff", diff),
        form={
            "summary": "the work in progress, two or three sentences",
            "nextStep": "one or two sentences",
            "openQuestions": ["at most five, one sentence each"],
        },
    )


def repair_question(question: str, said: str, error: str) -> str:
    """Repeat a question after an unusable answer."""
    return (
        f"{question}\n# Your last answer could not be used\n\n"
        f"{_data('Your answer', said)}\n\n{_data('The error', error)}\n\n"
        "Answer again with only the JSON object.\n"
    )


def _data(label: str, text: str, limit: int = LONGEST_WORDS) -> str:
    """Fence the text; secrets are removed first, because cutting could split one."""
    return data(label, clip(plain(text.strip()), limit).splitlines() or ["(nothing)"])


def _question(title: str, *parts: str, form: Mapping[str, object]) -> str:
    shown = json.dumps(form, indent=2, ensure_ascii=False)
    return "\n\n".join([f"# {title}", *parts, f"{_FORM}\n\n{shown}"]) + "\n"
