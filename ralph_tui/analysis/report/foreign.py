"""What another tool's own layers said of a run that it recorded."""

from ralph_tui.analysis.report.markdown import escaped
from ralph_tui.analysis.report.material import Material
from ralph_tui.state.foreign import ForeignRows


def foreign(told: Material) -> str:
    """What called for attention, in its own words, each sentence once."""
    rows, lines = ForeignRows(), list[str]()
    for iteration, verdicts in told.state.foreign.verdicts.items():
        for verdict in verdicts:
            row = rows.row(verdict)
            if row is not None:
                lines.append(f"- iteration {iteration}: {row.word} {escaped(row.text)}")
    return "\n".join(lines)
