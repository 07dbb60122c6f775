"""Format a question with its evidence and answers, for commands in another terminal.

Foreign text was sanitized when it was recorded. Text from a status file is sanitized again here,
because the agent can write that file.
"""

from datetime import UTC, datetime
from typing import Any

from ralph_tui.adapters.records.run_status import Question
from ralph_tui.cli.request_words import question_option, request_text
from ralph_tui.text.format import count, duration, percent
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.terms import answer_word, silence_word

DIFF_LINES = 60
"""Maximum number of lines to print of a question's diff."""
ARGUMENTS = {
    "words": " TEXT",
    "instructions": " TEXT",
    "more": " --iterations N | --budget USD",
    "iterations": " --iterations N",
    "money": " --budget USD",
    "choices": " NUMBER…",
}
"""Placeholders for an answer's arguments, by the kind of input it takes."""


def question_text(question: Question, decide: str = "ralph-tui decide") -> str:
    """Format a question with its evidence, and the answers to give with the command `decide`.

    An empty `decide` leaves out the answers.
    """
    parts = [plain(question["text"]), *request_text(question)]
    if severity := question.get("severity"):
        parts.append(f"severity: {one_line(severity)}")
    parts += [f"  · {one_line(reason)}" for reason in question["evidence"]]
    if question["proposal"]:
        topic = question["topic"]
        heading = f"the {topic}" if topic in ("prompt", "handoff") else "proposed instructions"
        parts += ["", f"{heading}:", _indent(question["proposal"])]
    if question["gains"]:
        parts += ["", f"controller: {one_line(question['gains'])}"]
    if question["rollback"]:
        parts += ["", *_format_rollback(question["rollback"])]
    if question.get("diff"):
        parts += ["", "changes in this iteration:", *_format_diff(question["diff"])]
    if not decide:
        return "\n".join(parts)
    rows = [
        (
            answer_word(one_line(option["answer"])) + ARGUMENTS.get(option["takes"], ""),
            _describe_option(option),
        )
        for option in question["options"]
    ]
    width = max((len(answer) for answer, _ in rows), default=0)
    parts += ["", f"answer: {decide} ANSWER{question_option(question)}"]
    parts += [f"  {answer:<{width}}  {verb}" for answer, verb in rows]
    timeout = _timeout_text(question) or "the run waits for your answer, with no timeout"
    return "\n".join([*parts, "", timeout])


def _describe_option(option: dict[str, Any]) -> str:
    if option["takes"] == "instructions":
        return "the same, with TEXT instead of the proposal"
    # The answer is already shown beside it.
    verb, word = one_line(option["verb"]), answer_word(one_line(option["answer"]))
    tail = verb.removeprefix(word)
    return tail.lstrip(" :,") if tail != verb and tail[:1] in (" ", ":", ",") else verb


def _format_diff(text: str) -> list[str]:
    """Format the start of a diff, short enough to keep the answers below it in view."""
    lines = plain(text).splitlines()
    more = len(lines) - DIFF_LINES
    rest = [f"  … and {count(more, 'more line')}: ralph-tui attach shows them"] if more > 0 else []
    return [*(f"  {line}" for line in lines[:DIFF_LINES]), *rest]


def _format_rollback(rollback: dict[str, Any]) -> list[str]:
    where = f"iteration {rollback['iteration']}" if rollback["iteration"] else "the start"
    points = "" if rollback["completion"] is None else f", {percent(rollback['completion'])}"
    changed = f"{count(rollback['files'], 'file')} +{rollback['added']} −{rollback['removed']}"
    paths = [f"  {one_line(path)}" for path in rollback["paths"]]
    more = rollback["files"] - len(paths)
    head = f"restores snapshot {rollback['snapshot']} ({where}{points}): {changed}"
    return [head, *paths, *([f"  and {more} more"] if more > 0 else [])]


def _timeout_text(question: Question) -> str:
    """Describe what happens without an answer, and when; empty if the run waits forever."""
    if question["deadline"] is None or not question["default"]:
        return ""
    left = (datetime.fromisoformat(question["deadline"]) - datetime.now(UTC)).total_seconds()
    when = f"in {duration(left)}" if left > 0 else "now"
    return f"if you do not answer: {silence_word(one_line(question['default']))} {when}"


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in plain(text).splitlines())
