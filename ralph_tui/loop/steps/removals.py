"""Ask whether tests may be gone, where only that keeps a passing command from completing the run.

Until the user says yes, tests that are gone count as failing.
"""

from dataclasses import replace
from uuid import uuid4

from ralph_tui.events import AbortRequested, FilesChanged, GuidanceQueued, QuestionAsked
from ralph_tui.events.waiting import Option
from ralph_tui.layers.sensor import Reading
from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.layers.sensor.expected import gone_words
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.questions import QuestionDesk
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.text.format import count
from ralph_tui.text.terms import who_words

YES = Option(key="y", answer="yes", verb="yes: these tests may be gone")
NO = Option(key="n", answer="no", verb="no: continue, the tests have to come back")
GUIDE = Option(key="g", answer="guide", verb="no: continue, with words to the agent", takes="words")
SHOWN = 8
"""Changed test files that the question names."""


def ask_about_removal(
    run: Run, desk: QuestionDesk, k: int, reading: Reading, files: FilesChanged
) -> Reading:
    """The reading of iteration k, in which the command passes and tests are gone."""
    missing, within = reading.missing, run.settings.oversight.pause_timeout_s
    counted = reading.passed or 0, reading.total or 0, reading.expected or 0
    words = gone_words(*(reading.lost or counted), reading.gone)
    tests = [c.path for c in files.changes if categorize(c.path) == "test"]
    answer = desk.ask(
        QuestionAsked(
            iteration=k,
            question_id="",
            topic="removal",
            text=f"May {count(missing, 'test')} be gone? The command passes: {words}.",
            evidence=[f"changed test files: {', '.join(tests[:SHOWN])}"] if tests else [],
            options=[YES, NO, GUIDE, ABORT],
            default="no",
        ),
        within_s=within,
    )
    match answer.answer:
        case "yes":
            note = f"accepted by {answer.by}"
            expected = reading.expected if reading.lost else reading.total
            return replace(
                reading, completion=100.0, expected=expected, gone=(), lost=None, note=note
            )
        case "guide":
            run.record(GuidanceQueued(guidance_id=str(uuid4()), text=answer.text, by=answer.by))
        case "abort":
            run.record(AbortRequested(by=answer.by))
            raise Ended("aborted", f"aborted by {who_words(answer.by)}; the work stays as it is")
    return reading
