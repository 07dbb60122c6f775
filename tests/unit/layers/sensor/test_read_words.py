"""What was read from a completion command's output, in words."""

from ralph_tui.events.sensor import PLAIN_TOTALS, GateFinished
from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.layers.sensor.gate import Counts, GateResult, read_words
from tests.rows import each_row


@each_row(
    ("counts", "said"),
    [
        (Counts("RSpec", 3, 1), "RSpec: 3 of 4 pass, 1 fails"),
        (Counts("pytest", 4), "pytest: 4 of 4 pass"),
        (Counts("bun", 3, 2, 1, 4), "bun: 3 of 6 pass, 2 fail, 1 error, 4 skipped"),
        (Counts("ExUnit", 0, skipped=3), "ExUnit: no tests ran, 3 skipped"),
        (Counts("go", 0, 0, 1, broken="no"), "go: 0 of 1 pass, 1 error; the build is broken: no"),
        (None, "no counts: progress comes from a plan or the agent's report"),
    ],
)
def test_the_reader_and_its_numbers(counts: Counts | None, said: str) -> None:
    assert read_words(GateResult(ok=False, exit_code=1, counts=counts)) == said


def test_doubted_counts_are_said_to_be_doubted() -> None:
    doubted = GateResult(ok=False, exit_code=1, doubt="it reports too many.")

    assert read_words(doubted) == "it reports too many"


def test_a_plain_line_of_totals_is_said_to_be_one() -> None:
    plain = GateFinished(iteration=1, ok=False, exit_code=1, runner=PLAIN_TOTALS, passed=3)

    assert plain.line() == "tests   3 of 3 pass by a plain line of totals, exit 1 (0s)"
    counts = count_tests(["3 passed, 1 failed"])
    said = read_words(GateResult(ok=False, exit_code=1, counts=counts))
    assert said == "a plain line of totals: 3 of 4 pass, 1 fails"
