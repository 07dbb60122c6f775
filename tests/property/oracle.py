"""A second, deliberately naive reading of the control law and the episode rules (epic 26, L1, L4).

Every rule is a function of the whole series and k, written from its sentence and recomputed from
scratch each time; nothing is carried along but the list of decisions. It shares no code with the
package, so that an agreement of the two means something.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple

EPS = 1e-9

GAINS = {
    "damped": (0.3, 0.2, 0.5),
    "exploration": (0.3, 0.1, 0.2),
    "aggressive": (0.7, 0.3, 0.4),
    "focused": (0.5, 0.2, 0.3),
}
LEVELS = ("LOG", "WARN", "REDIRECT", "PAUSE", "ABORT")
PRIORITY = ("REGRESSING", "OSCILLATING", "STUCK")


class Settings(NamedTuple):
    """The settings that bear on the law, named as the package names them."""

    window_size: int = 5
    decay: float = 0.9
    noise_threshold: float = 0.05
    smoothing: float = 0.3
    integral_term: str = "mean"
    patience: float = 1.0


class Facts(NamedTuple):
    """What an iteration did, beside its reading."""

    strayed: bool = False
    """Files changed, and none of the work has the objective's words."""
    calls: int = 0
    conflicts: bool = False
    error: str = ""
    """The session's failure, already without its particulars; empty when it did not fail."""


class Decision(NamedTuple):
    """What the overseer did at one reading: its level, what it opened, which PAUSE was its own."""

    level: str | None
    opened: str | None
    own_pause: bool
    spent: frozenset[str]


class Series:
    """Readings in points; `c[0]` is the baseline, `c[k]` the reading after iteration k."""

    def __init__(
        self,
        progress: list[float],
        baseline: float,
        max_iterations: int,
        tests: int | None,
        settings: Settings,
    ) -> None:
        self.c = [baseline, *progress]
        self.max = max_iterations
        self.T = tests or 100  # 100 when unknown or 0
        self.settings = settings

    def best(self, k: int) -> float:
        """The best reading so far, the baseline included."""
        return max(self.c[: k + 1])

    def step(self, k: int) -> float:
        """What iteration k gained, in points."""
        return self.c[k] - self.c[k - 1]

    def steps(self, k: int, count: int) -> list[float]:
        """The last `count` steps up to k, fewer when there are fewer."""
        return [self.step(i) for i in range(1, k + 1)][-count:]

    def g(self, b: float) -> float:
        """A new best: 5 points of the way from the baseline, or a quarter of what is left."""
        return min(5 * (100 - self.c[0]) / 100, (100 - b) / 4)

    def patience(self) -> tuple[int, int]:
        """(n, N): from the plan's grain; at least a tenth of the budget. Neither above the cap."""
        cap = max(3, ceil(Fraction(self.max, 4)))
        n = min(cap, max(3, ceil(Fraction(3 * self.max, self.T))))
        longer = min(cap, max(n, ceil(Fraction(self.max, 10))))
        factor = Fraction(str(self.settings.patience))
        return ceil(n * factor), ceil(longer * factor)

    def rose_less_than_g(self, start: int, k: int) -> bool:
        """b rose by less than g between two readings; g is taken at the start's best."""
        return self.best(k) - self.best(start) < self.g(self.best(start)) - EPS

    def at_100(self, k: int) -> bool:
        return self.c[k] >= 100 - EPS


# -- the law ---------------------------------------------------------------------------------------


def error(s: Series, k: int) -> float:
    """P: one minus completion as a fraction."""
    return 1 - s.c[k] / 100


def integral(s: Series, k: int) -> float:
    """I: the decayed sum of P over the iterations, from 0."""
    return sum(s.settings.decay ** (k - i) * error(s, i) for i in range(1, k + 1))


def integral_mean(s: Series, k: int) -> float:
    """Weighted mean error: I over the sum of its weights."""
    return integral(s, k) / sum(s.settings.decay ** (k - i) for i in range(1, k + 1))


def derivative(s: Series, k: int) -> float:
    """D: the change of P, 0 when its absolute value is smaller than the noise threshold."""
    d = error(s, k) - error(s, k - 1)
    return 0.0 if abs(d) < s.settings.noise_threshold - EPS else d


def window(s: Series, k: int) -> list[float]:
    """The last window_size steps, as fractions."""
    return [step / 100 for step in s.steps(k, s.settings.window_size)]


def velocity(s: Series, k: int) -> float:
    """Mean step of the window."""
    return sum(window(s, k)) / len(window(s, k))


def volatility(s: Series, k: int) -> float:
    """Mean absolute change between neighbouring steps of the window, 0 below two steps."""
    w = window(s, k)
    changes = [abs(b - a) for a, b in pairwise(w)]
    return sum(changes) / len(changes) if changes else 0.0


def forecast_fits(s: Series, k: int) -> bool:
    """Velocity is positive, and what remains takes at most the iterations that are left."""
    v = velocity(s, k)
    return v > EPS and error(s, k) / v <= s.max - k + 1e-6


def profile(s: Series, k: int, decisions: list[Decision]) -> str:
    """Which gains reading k asks for; `decisions` are those before k."""
    episode = open_episode(s, k, decisions)
    if episode is not None and decisions[episode - 1].opened == "OSCILLATING":
        return "damped"
    if k <= min(5, max(2, ceil(Fraction(s.max, 5)))):
        return "exploration"
    wild = volatility(s, k) > 0.3 + EPS
    far = error(s, k) > 0.7 + EPS and not forecast_fits(s, k)
    if "OSCILLATING" not in alarms(s, k) and (wild or far):
        return "aggressive"
    return "focused"


def band(u: float) -> str:
    """Half-open intervals; twelve decimals of u, or its last digit would decide at a bound."""
    u = round(u, 12)
    if u < 0.3:
        return "near_completion"
    if u < 0.5:
        return "moderate"
    return "significant" if u < 0.7 else "critical"


# -- the alarms: conditions on the readings alone --------------------------------------------------


def stuck(s: Series, k: int) -> bool:
    """Small steps without a new best, small steps with too small a one, or too small a one."""
    n, long = s.patience()

    def small(count: int) -> bool:
        return k >= count and all(abs(step) < 5 - EPS for step in s.steps(k, count))

    if small(n) and s.best(k) - s.best(k - n) <= EPS:
        return True
    if small(long) and s.rose_less_than_g(k - long, k):
        return True
    return k >= 2 * long and s.rose_less_than_g(k - 2 * long, k)


def oscillating(s: Series, k: int) -> bool:
    """Three changes of direction among the large ones of the last 6 steps, no new best in 3."""
    large = [step for step in s.steps(k, 6) if abs(step) >= max(5, 200 / s.T) - EPS]
    turns = sum(1 for a, b in pairwise(large) if a * b < 0)
    return turns >= 3 and s.rose_less_than_g(k - 3, k)


def regressing(s: Series, k: int) -> bool:
    """Two losses of 5 together, or two readings far below the best without a step back up."""
    if k < 2:
        return False
    last, before = s.step(k), s.step(k - 1)
    if last < -EPS and before < -EPS and last + before <= -5 + EPS:
        return True
    depth = max(15, 200 / s.T)
    low = all(s.best(k) - s.c[i] >= depth - EPS for i in (k - 1, k))
    return low and last < 5 - EPS


def conditions(s: Series, k: int) -> set[str]:
    """The progress conditions that are up; none at 100."""
    if s.at_100(k):
        return set()
    rules = {"STUCK": stuck, "OSCILLATING": oscillating, "REGRESSING": regressing}
    return {name for name, rule in rules.items() if rule(s, k)}


def alarms(s: Series, k: int) -> set[str]:
    """The progress conditions and the budget's, 90 % of it used; none at 100."""
    budget = {"BUDGET_EXCEEDED"} if 10 * k >= 9 * s.max and not s.at_100(k) else set()
    return conditions(s, k) | budget


# -- the evidence ----------------------------------------------------------------------------------


def deviates(s: Series, k: int, facts: list[Facts]) -> bool:
    """The work strayed, and the best did not rise; nothing at 100."""
    return k >= 1 and facts[k - 1].strayed and s.best(k) - s.best(k - 1) <= EPS and not s.at_100(k)


def burns(s: Series, k: int, facts: list[Facts]) -> bool:
    """5000 tool calls at a mean completion under 30, or 1000 without a new best; not at 100."""
    if s.at_100(k):
        return False
    mean = sum(s.c[1 : k + 1]) / k
    if sum(fact.calls for fact in facts[:k]) >= 5000 and mean < 30 - EPS:
        return True
    newest = 0  # where the best last stood a whole gain above the new best before it
    for i in range(1, k + 1):
        if not s.rose_less_than_g(newest, i):
            newest = i
    return sum(fact.calls for fact in facts[newest:k]) >= 1000


def same_errors(k: int, facts: list[Facts]) -> bool:
    """Three failures in a row that read the same."""
    last = [fact.error for fact in facts[:k]][-3:]
    return len(last) == 3 and bool(last[0]) and len(set(last)) == 1


# -- episodes and levels ---------------------------------------------------------------------------


def open_episode(s: Series, k: int, decisions: list[Decision]) -> int | None:
    """The opening of the episode that is still open at k: an end at k counts at k."""
    openings = [i for i, d in enumerate(decisions, 1) if d.opened]
    if not openings:
        return None
    o = openings[-1]
    for j in range(o + 1, k + 1):
        # it ends when b has risen by g over the best at its opening, or at 100
        if s.at_100(j) or s.best(j) - s.best(o) >= s.g(s.best(o)) - EPS:
            return None
    return o


def episode_pauses(s: Series, k: int, o: int, decisions: list[Decision]) -> bool:
    """Whether the episode opened at o asks for a PAUSE at k."""
    n, long = s.patience()
    own = [i for i, d in enumerate(decisions, 1) if i > o and d.own_pause]
    mark = own[-1] if own else o
    if own and k < own[-1] + max(5, n):  # its next is at p + max(5, n) at the earliest
        return False
    wait = max(2, n - 1) if decisions[o - 1].opened in ("STUCK", "DEVIATION") else 2
    no_new_best = s.best(k) - s.best(mark) <= EPS
    if k >= o + wait and no_new_best and s.c[k] < s.c[mark] + s.g(s.c[mark]) - EPS:
        return True
    if k >= mark + 2 * long and s.rose_less_than_g(mark, k):
        return True
    return k >= o + 2 and bool(conditions(s, k) - conditions(s, mark))


def opens(s: Series, k: int, facts: list[Facts]) -> str | None:
    """What would open an episode at k: a condition, or the third deviation in a row."""
    up = conditions(s, k)
    if up:
        return next(name for name in PRIORITY if name in up)
    three = k >= 3 and all(deviates(s, i, facts) for i in (k - 2, k - 1, k))
    return "DEVIATION" if three else None


def decide(
    s: Series, k: int, decisions: list[Decision], facts: list[Facts] | None = None
) -> Decision:
    """The overseer at reading k, given its decisions before; redirects approved, pauses go on."""
    facts = facts or [Facts()] * k
    before = frozenset[str]().union(*(d.spent for d in decisions))
    if s.at_100(k):  # nothing at 100
        return Decision(None, None, False, before)
    asked: set[str] = set()
    spent = set(before)

    def once(name: str, level: str) -> None:
        if name not in before:
            asked.add(level)
            spent.add(name)

    v = velocity(s, k)
    if k >= 3 and v < (s.c[k] - s.c[0]) / 100 / k / 2 - EPS:  # below half of the run's mean
        asked.add("LOG")
    if 10 * k >= 7 * s.max:
        once("70", "WARN")
    if 10 * k >= 9 * s.max and forecast_fits(s, k):
        once("90 fits", "WARN")
    if deviates(s, k, facts):
        asked.add("WARN")
    if same_errors(k, facts):
        asked.add("ABORT")
    if k >= s.max and s.c[0] < 99.9 - EPS and s.best(k) - s.c[0] < s.g(s.c[0]) - EPS:
        asked.add("ABORT")
    own_pause = False
    opening: str | None = None
    if k < s.max:  # no REDIRECT or PAUSE at the limit
        episode = open_episode(s, k, decisions)
        opening = opens(s, k, facts) if episode is None else None
        own_pause = episode is not None and episode_pauses(s, k, episode, decisions)
        asked |= ({"REDIRECT"} if opening else set()) | ({"PAUSE"} if own_pause else set())
        if burns(s, k, facts):
            once("burn", "PAUSE")
        if facts[k - 1].conflicts and not (k > 1 and facts[k - 2].conflicts):
            asked.add("PAUSE")
        if 10 * k >= 9 * s.max and not forecast_fits(s, k):
            once("90 late", "PAUSE")
    level = max(asked, key=LEVELS.index, default=None)
    # an episode opens with its REDIRECT, so not where a PAUSE takes its place
    return Decision(level, opening if level == "REDIRECT" else None, own_pause, frozenset(spent))


# -- the table -------------------------------------------------------------------------------------


def watched(s: Series, facts: list[Facts]) -> Iterator[tuple[str | None, str | None, set[str]]]:
    """Level, what was opened, and all that shows, per iteration with its evidence."""
    decisions: list[Decision] = []
    for k in range(1, len(s.c)):
        shows = {"budget" if name == "BUDGET_EXCEEDED" else name.lower() for name in alarms(s, k)}
        if deviates(s, k, facts):
            shows.add("objective_deviation")
        if burns(s, k, facts):
            shows.add("resource_burn")
        decisions.append(decide(s, k, decisions, facts))
        yield decisions[-1].level, decisions[-1].opened, shows


def rows(
    progress: list[float],
    baseline: float,
    max_iterations: int,
    tests: int | None,
    settings: Settings,
) -> list[dict[str, Any]]:
    """One object per iteration, with the fields of `lab --json`."""
    s = Series(progress, baseline, max_iterations, tests, settings)
    decisions: list[Decision] = []
    table: list[dict[str, Any]] = []
    for k in range(1, len(progress) + 1):
        chosen = profile(s, k, decisions)
        gains: tuple[float, ...] = GAINS[chosen]
        if table:
            # 0.3 of the gains before, 0.7 of the target; none at k = 1
            old = [table[-1][name] for name in ("kp", "ki", "kd")]
            w = settings.smoothing
            gains = tuple(w * a + (1 - w) * b for a, b in zip(old, gains, strict=True))
        kp, ki, kd = gains
        accumulated = settings.integral_term == "accumulated"
        i_term = integral(s, k) if accumulated else integral_mean(s, k)
        u = min(1.0, max(0.0, kp * error(s, k) + ki * i_term + kd * derivative(s, k)))
        up = alarms(s, k)
        decision = decide(s, k, decisions)
        decisions.append(decision)
        table.append(
            {
                "iteration": k,
                "completion": s.c[k] / 100,
                "proportional": error(s, k),
                "integral": integral(s, k),
                "integral_mean": integral_mean(s, k),
                "derivative": derivative(s, k),
                "velocity": velocity(s, k),
                "volatility": volatility(s, k),
                "profile": chosen,
                "kp": kp,
                "ki": ki,
                "kd": kd,
                "output": u,
                "band": band(u),
                "alarms": sorted(up),
                "detections": sorted(
                    "budget" if name == "BUDGET_EXCEEDED" else name.lower() for name in up
                ),
                "intervention": decision.level,
            }
        )
    return table
