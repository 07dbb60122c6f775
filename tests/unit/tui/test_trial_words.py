"""The result of a trial of the completion command, in words."""

from dataclasses import replace

from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.tui.home.form import MARKS, last_lines, outcome
from tests.rows import each_row

FAILED = GateResult(ok=False, exit_code=1, duration_s=2.3, tail="one\n\ntwo\nthree\nfour")
COUNTS = Counts("pytest", passed=41, failed=25)


@each_row(
    ("result", "tone", "said"),
    [
        (replace(FAILED, counts=COUNTS), "plain",
         "ready: pytest: 41 of 66 pass, 25 fail, exit 1 after 2.3s; "
         "a run would start at 62 %"),
        (replace(FAILED, ok=True, exit_code=0, counts=Counts("tap", passed=1)), "warn",
         "tap: 1 of 1 pass, exit 0 after 2.3s; it already passes"),
        (replace(FAILED, ok=True, exit_code=0), "warn", "exit 0 after 2.3s; it already passes"),
        (FAILED, "plain", "exit 1 after 2.3s; no counts: progress comes from a plan"),
        (replace(FAILED, counts=Counts("pytest", passed=0)), "warn", "pytest: no tests ran"),
        (replace(FAILED, counts=Counts("pytest", passed=3)), "warn", "but the command fails"),
        (replace(FAILED, exit_code=127, error="it was not found (exit 127); install it"), "bad",
         "it was not found (exit 127); install it"),
        (replace(FAILED, exit_code=None, timed_out=True), "bad", "gate.timeout_s"),
        (replace(FAILED, exit_code=None, cancelled=True), "dim", "stopped after 2.3s"),
    ],
)  # fmt: skip
def test_one_sentence_says_what_it_came_to(result: GateResult, tone: str, said: str) -> None:
    how, sentence = outcome(result)
    assert how == tone
    assert said in sentence
    assert "\n" not in sentence
    assert how in MARKS


def test_the_end_of_the_output_stands_below_where_counts_do_not_tell() -> None:
    assert last_lines(FAILED) == ["two", "three", "four"]
    assert last_lines(replace(FAILED, counts=COUNTS)) == []
    assert last_lines(replace(FAILED, cancelled=True)) == []
