"""What the zoomed chart shows, in plain words: every line, number and sign. Pure."""

from ralph_tui.layers.control import BAND_BOUNDS, profile_words, push_words
from ralph_tui.state import RunState
from ralph_tui.text.format import percent
from ralph_tui.text.terms import BEST, CRITICAL, ROLLED_BACK, WARNING
from ralph_tui.tui.draw.chart import KINDS, Heights
from ralph_tui.tui.draw.course import Course
from ralph_tui.tui.draw.spans import Line, wrap
from ralph_tui.tui.draw.terms import signed
from ralph_tui.tui.draw.words import fraction
from ralph_tui.tui.panes.pane import padded

PROFILES = {
    "exploration": "gentle, while the work is explored",
    "focused": "the usual weights",
    "aggressive": "harder: it is too slow, or unsteady",
    "damped": "calmer, until it goes up and down no more",
}
"""What each set of gains, the weights of P, I and D, is for."""
SIGNS: Line = [
    (WARNING.glyph, "warn"),
    (" alarm  ", "dim"),
    (CRITICAL.glyph, "bad"),
    (" serious alarm, or a question  ", "dim"),
    (ROLLED_BACK.glyph, "owner"),
    (" files restored  ", "dim"),
    (BEST.glyph, "good"),
    (" best", "dim"),
]
NAME, VALUE = 11, 14
"""Cells of the name and of the value."""


def explanation(state: RunState, course: Course, drawn: Heights, width: int) -> list[Line]:
    """A row for each line and number, and the signs below the axis."""
    rows: list[Line] = []
    signal = state.control.latest
    values = _values(state, course)
    for kind in KINDS:
        sample = " " if kind.letter in drawn.not_drawn else kind.sample
        mark = f"{sample * 3} {kind.letter}"
        value = values.get(kind.letter, "")
        rows.append(
            [
                (padded(mark, 7), f"{kind.style} strong"),
                (padded(kind.name, NAME), "text"),
                (padded(value, VALUE), "text"),
                (kind.meaning, "dim"),
            ]
        )
        if kind.letter == "u":
            bounds = ", ".join(
                f"{fraction(bound).rstrip('0')} {push_words(band)}"
                for band, bound in BAND_BOUNDS.items()
            )
            rows.append([(" " * (7 + NAME + VALUE), ""), (f"from {bounds}", "dim")])
    if signal is not None:
        gains = " ".join(gain(value) for value in (signal.kp, signal.ki, signal.kd))
        told = f"{profile_words(signal.profile)}: {PROFILES[signal.profile]}"
        rows += [
            _plain("reports", f"{signal.issue_load:.1f}", "learnings and blockers told; they fade"),
            _plain("kp ki kd", gains, told),
        ]
    return [*_imported(state, width), *rows, [(" " * 7, ""), *SIGNS]]


def _imported(state: RunState, width: int) -> list[Line]:
    """Whose numbers these are, and what the tool that led the run had of its own."""
    tool = state.foreign.tool
    if not tool:
        return []
    told = f"{tool} recorded the readings; pace, push, gains and alarms are recomputed"
    room = max(8, width - 7)
    rows: list[Line] = [[(" " * 7, ""), (row, "warn")] for row in wrap(told, room, 3)]
    own = state.foreign.control(state.run.iteration)
    if own is not None and own.values:
        numbers = " ".join(f"{name} {gain(value)}" for name, value in own.values.items())
        rows += [
            [(padded("" if place else f"{tool}:", 7), "warn"), (row, "text")]
            for place, row in enumerate(wrap(numbers, room, 3))
        ]
    return rows


def gain(value: float) -> str:
    """A number in short: ``.5``, ``.35``, ``−.1``, ``1.0``, ``0``."""
    text = signed(value)
    return text if text.endswith("1.0") else text.rstrip("0").rstrip(".") or "0"


def _plain(name: str, value: str, meaning: str) -> Line:
    return [
        (" " * 7, ""),
        (padded(name, NAME), "text"),
        (padded(value, VALUE), "text"),
        (meaning, "dim"),
    ]


def _values(state: RunState, course: Course) -> dict[str, str]:
    """What each line says now."""
    now, ahead, signal = course.now, course.ahead, state.control.latest
    found = {"c": percent(now[1])} if now else {}
    found["⋰"] = f"{percent(ahead.points)} at {ahead.at}" if ahead else "none now"
    if signal is not None:
        found |= {
            "u": f"{fraction(signal.output)} {push_words(signal.band)}",
            "P": fraction(signal.proportional),
            "I": fraction(signal.integral_mean),
            "D": signed(signal.derivative),
            "v": signed(signal.velocity),
            "σ": fraction(signal.volatility),
        }
    return found
