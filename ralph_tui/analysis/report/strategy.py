"""The report's sections on layer 2: the strategies in turn, and the validation's issues."""

from collections import defaultdict

from ralph_tui.analysis.report.markdown import escaped
from ralph_tui.analysis.report.material import Material
from ralph_tui.events import StrategyPlanned


def strategies(material: Material) -> str:
    """Return each approach with its reason; empty if the run only persisted."""
    planned = material.state.intelligence.strategies
    if not any(one.approach != "persist" for one in planned.values()):
        return ""
    stretches: list[tuple[int, int, StrategyPlanned]] = []
    for k in sorted(planned):
        one = planned[k]
        if stretches and _same(stretches[-1][2], one):
            stretches[-1] = (stretches[-1][0], k, stretches[-1][2])
        else:
            stretches.append((k, k, one))
    return "\n".join(
        f"- {_where(first, last)}: {escaped(one.row().text)}" for first, last, one in stretches
    )


def issues(material: Material) -> str:
    """Return each kind of issue with its latest wording and its iterations."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    latest: dict[str, str] = {}
    for (k, _), done in sorted(material.state.intelligence.validations.items()):
        for issue in (one for one in done.issues if not one.is_note):
            found[issue.name].append(k)
            latest[issue.name] = issue.text
    lines = []
    for name, iterations in found.items():
        where = _where(iterations[0], iterations[-1])
        times = f", {len(iterations)} times" if len(iterations) > 1 else ""
        lines.append(f"- {where}{times}: {escaped(latest[name])}")
    return "\n".join(lines)


def _same(one: StrategyPlanned, other: StrategyPlanned) -> bool:
    return (one.approach, one.approach == "persist" or one.focus) == (
        other.approach,
        other.approach == "persist" or other.focus,
    )


def _where(first: int, last: int) -> str:
    return f"iteration {first}" if first == last else f"iterations {first} to {last}"
