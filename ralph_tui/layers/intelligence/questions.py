"""Questions for a model, one per purpose.

Everything from the agent, files or other models is fenced and labelled as data. An answer is
validated against its form (`answers`), never obeyed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ralph_tui.events import AgentReported, AssessmentMade, ReflectionWritten
from ralph_tui.layers.intelligence.fence import closed, data, fenced
from ralph_tui.text.sanitize import clip, plain

LONGEST_DIFF = 40_000
"""Maximum characters of a diff shown to a judge."""
LONGEST_WORDS = 8000
"""Maximum characters of any other material."""
LONGEST_PROMPT = 60_000
"""Maximum characters of a prompt shown to a model for rewording."""

_FORM = "Answer with one JSON object of this form, and nothing else:"


@dataclass(frozen=True)
class JudgeInput:
    """Material for a judge."""

    objective: str
    criterion: str
    claim: Sequence[str]
    """The agent's statements about its work."""
    changed: str
    """Changes of the last iteration, in a sentence."""
    diff: str
    """All changes of the run, limited in size."""


def judge_question(given: JudgeInput) -> str:
    """Ask whether the criterion is met."""
    return _question(
        "Judge whether the work is done",
        f"The objective of the work:\n\n{closed(given.objective.strip())}",
        f"It is done when this is true:\n\n{fenced(given.criterion)}",
        "An agent says that it is. Judge by what is shown, not by what is claimed: where nothing "
        "shown proves it, it is not met, and the reason says what is missing.",
        _data("What the agent says of its work", "\n".join(f"- {line}" for line in given.claim)),
        _data("What it did to the files", given.changed),
        _data("All that this run has changed, as a diff", given.diff, LONGEST_DIFF),
        form={"met": "true or false", "reason": "one or two sentences, with the evidence"},
    )


def prompt_question(composed: str) -> str:
    """Ask for a better wording of a prompt; `composed` is the prompt from the template."""
    return _question(
        "Word the next prompt",
        "A coding agent works in a loop, each time in a fresh session that knows nothing but the "
        "files and its prompt. Below is the prompt that was put together for its next session: "
        "what is measured, what was tried, what is planned. Say what the agent is to do now: name "
        "what fails, where to look first, what not to try again. Be concrete and short.",
        "The whole prompt below is sent as it is, and your words with it: do not repeat it, and "
        "promise nothing.",
        _data("The prompt as it was put together", composed, LONGEST_PROMPT),
        form={
            "prompt": "what the agent is told to do, in Markdown",
            "systemContext": "what it has to keep in mind all the while, or nothing",
            "focusAreas": ["at most three, the most important first"],
            "urgency": "low, normal, high or critical",
        },
    )


def assessment_question(
    objective: str, made: AssessmentMade, report: AgentReported | None, diff: str
) -> str:
    """Ask for a second opinion on an iteration's results."""
    known = made.model_dump_json(exclude={"seq", "at", "kind", "schema_version"}, indent=1)
    said = [report.summary, report.next, *report.blockers, *report.learnings] if report else []
    return _question(
        "Give a second opinion on an iteration",
        "A coding agent works in a loop. One iteration of it was assessed from evidence, by rules. "
        "Look at the same evidence: say what it really came to, what can be learned from it, how "
        "far the work is, and how to go on.",
        f"The objective of the work:\n\n{closed(objective.strip())}",
        _data("The assessment by rules", known),
        _data("What the agent says of its work", "\n".join(f"- {line}" for line in said)),
        _data("What the iteration changed, as a diff", diff),
        form={
            "enhancedSummary": "two or three sentences",
            "additionalLearnings": ["at most five, a sentence each"],
            "refinedProgress": "a number from 0 to 100, or null",
            "suggestedApproach": "one or two sentences",
        },
    )


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
        "A coding agent has worked in a loop; its attempt is over. Below is a reflection on it "
        "that was put together by rules from what was measured. Word a better one, for whoever "
        "attempts such a task next: why it went as it did, what to do again, what to do otherwise. "
        "Every number and every fact of it must stand below.",
        f"The objective of the work:\n\n{closed(objective.strip())}",
        _data("The reflection by rules", json.dumps(by_rules, indent=1, ensure_ascii=False)),
        _data("The iterations", "\n".join(iterations)),
        form={
            "analysis": "why, two or three sentences",
            "learning": "what to do with it, one sentence",
            "actionItems": ["at most five, a sentence each"],
        },
    )


def handoff_question(objective: str, written: str, said: Sequence[str], diff: str) -> str:
    """Ask for the work in progress and the next step; `written` is the templated handoff."""
    return _question(
        "Hand over the work of a session",
        "A coding agent works in a loop. Its session was ended before its context window was full, "
        "and a fresh one goes on with its work, which knows nothing but the files and the "
        "handoff. Below is the handoff that was put together from evidence. Say what was in "
        "progress, what the next step is, and what is open: name files, functions and lines, and "
        "call nothing done that the evidence does not show as done.",
        "Files, plan and tests are told beside your words as they are: do not list them again.",
        f"The objective of the work:\n\n{closed(objective.strip())}",
        _data("The handoff from evidence", written),
        _data("What the agent said last, the latest first", "\n".join(said)),
        _data("What the session changed, as a diff", diff),
        form={
            "summary": "what was in progress, two or three sentences",
            "nextStep": "one or two sentences",
            "openQuestions": ["at most five, a sentence each"],
        },
    )


def repair_question(question: str, said: str, error: str) -> str:
    """Repeat a question after an unusable answer."""
    return (
        f"{question}\n# Your last answer could not be used\n\n"
        f"{_data('Your answer was', said)}\n\n{_data('What was wrong with it', error)}\n\n"
        "Answer again, with the JSON object alone.\n"
    )


def _data(label: str, text: str, limit: int = LONGEST_WORDS) -> str:
    """Fence the text; secrets are removed first, because cutting could split one."""
    return data(label, clip(plain(text.strip()), limit).splitlines() or ["(nothing)"])


def _question(title: str, *parts: str, form: Mapping[str, object]) -> str:
    shown = json.dumps(form, indent=2, ensure_ascii=False)
    return "\n\n".join([f"# {title}", *parts, f"{_FORM}\n\n{shown}"]) + "\n"
