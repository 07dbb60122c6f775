"""Names of 2000 failing tests in every iteration: the cost of a whole night."""

import tracemalloc

from ralph_tui.events import GateFinished, parse_event
from ralph_tui.layers.sensor.runners import MAX_CHARACTERS, MAX_NAMES, Tally
from ralph_tui.text.sanitize import LONGEST_NAME

NIGHT = 200
"""Number of iterations."""


def gate(names: list[str]) -> GateFinished:
    return GateFinished(iteration=1, ok=False, passed=9, failed=len(names), failing=names)


def test_a_night_that_names_2000_failing_tests_stays_in_the_megabytes() -> None:
    where = "tests/unit/adapters/package/test_module_of_it.py::TestThing::test_what_is_read"
    names = [f"{where}[parameter-{n:020}]" for n in range(2000)]
    line = gate(names).model_dump_json()
    assert len(line) * NIGHT < 60e6, "bytes of the journal"
    parse_event(line)  # one-time loading is no cost of an event
    tracemalloc.start()
    try:
        events = [parse_event(line) for _ in range(NIGHT)]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10e6, "bytes of memory: equal names are one string"
    first, last = events[0], events[-1]
    assert isinstance(first, GateFinished)
    assert isinstance(last, GateFinished)
    assert first.failing[7] is last.failing[7]


def test_the_longest_names_keep_an_event_below_a_line_that_is_read() -> None:
    tally = Tally()
    tally.name(*(f"{n}{'é' * LONGEST_NAME}" for n in range(2 * MAX_NAMES)))
    failing = [*tally.counts("pytest").failing]
    assert sum(map(len, failing)) <= MAX_CHARACTERS
    assert len(gate(failing).model_dump_json().encode()) < 1 << 20


def test_what_is_not_named_is_counted() -> None:
    event = GateFinished(iteration=1, ok=False, passed=0, failed=2500, failing=["a", "b"])
    assert event.unnamed == 2498
    assert not gate(["a", "b"]).unnamed


def test_a_secret_in_a_name_is_taken_out_each_time() -> None:
    secret = "sk-" + "a1b2c3d4" * 4
    for _ in range(2):
        assert secret not in gate([f"test[{secret}]"]).model_dump_json()
