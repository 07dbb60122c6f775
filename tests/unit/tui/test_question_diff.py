"""The question about a criterion shows the diff last."""

from ralph_tui.cli.question_words import DIFF_LINES, question_text
from ralph_tui.events import QuestionAsked
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.modals.question_rows import evidence_rows
from tests.world import World
from tests.world.decisions import criterion
from tests.world.owner import answer

DIFF = """diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1 +1 @@
-return a - b
+return a + b \x1b[31m
"""


def asked(diff: str) -> QuestionAsked:
    question = next(event for event in criterion() if isinstance(event, QuestionAsked))
    fields = question.model_dump() | {"diff": diff}
    return QuestionAsked.model_validate(fields)


def words(row: Line) -> str:
    return "".join(text for text, _ in row)


def rows(diff: str) -> list[str]:
    shown = evidence_rows(asked(diff), edited="", width=70, proposes=True)
    return [words(row) for row in shown]


def test_the_dialog_shows_the_diff_last() -> None:
    shown = rows(DIFF)
    at = shown.index("changes in this iteration")
    assert shown[at + 1 :] == ["── calc.py", "@@ -1 +1 @@", "-return a - b", "+return a + b "]
    assert any("the agent says" in row for row in shown[:at])
    assert "changes in this iteration" not in rows("")


def test_dialog_and_decide_name_the_severity_of_a_pause() -> None:
    run = World([3] * 11, max_iterations=10, mode="attended").play(answer("continue"))
    paused = next(one for one in run.all(QuestionAsked) if one.topic == "pause")
    assert paused.severity == "high"
    shown = [words(row) for row in evidence_rows(paused, edited="", width=70, proposes=False)]
    assert any("severity" in row and "high" in row for row in shown)
    assert "severity: high" in question_text(paused.model_dump(mode="json"))


def test_decide_prints_its_beginning_above_the_answers() -> None:
    question = asked(DIFF + "+more\n" * 500)
    text = question_text(question.model_dump(mode="json"))
    lines = text.splitlines()
    at = lines.index("changes in this iteration:")
    assert lines[at + 1] == "  diff --git a/calc.py b/calc.py"
    assert lines[at + 1 + DIFF_LINES] == "  … and 446 more lines: ralph-tui attach shows them"
    assert lines.index("answer: ralph-tui decide ANSWER") > at
    assert "\x1b" not in text
