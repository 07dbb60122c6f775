"""A second, deliberately naive reading of the control law and the episode rules (epic 26, L1, L4).

Every rule is a function of the whole series and k, written from its sentence and recomputed from
scratch each time; nothing is carried along but the list of decisions. It shares no code with the
package, so that an agreement of the two means something.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
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
    stuck_after: int | None = None
    oscillations: int = 3
    falls: int = 2
    budget_warning: float = 0.9
    first_profile: str = "exploration"


class Facts(NamedTuple):
    """Facts of an iteration beside its measurement."""

    deviated: bool = False
    """Files changed, and none of the work has the objective's words."""
    calls: int = 0
    conflicts: bool = False
    error: str = ""
    """The session's failure, already without its particulars; empty when it did not fail."""


class Mark(NamedTuple):
    """Facts of a measurement beside its number."""

    grew: bool = False
    rolled_back: bool = False
    undone: int = 0
    """Readings before it that the rollback undid."""
    novel: bool = False


class Decision(NamedTuple):
    """The overseer's decision: its level, what it opened, and which PAUSE was its own."""

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
        marks: dict[int, Mark] | None = None,
    ) -> None:
        self.c = [baseline, *progress]
        self.max = max_iterations
        self.T = tests or 100  # 100 when unknown or 0
        self.settings = settings
        self.marks = marks or {}
        self._taken = [
            sum(max(0.0, -self.step(j)) for j in range(1, k + 1) if self.excused(j))
            for k in range(len(self.c))
        ]
        self._rises: list[int] = []
        for k in range(1, len(self.c)):
            last = self._rises[-1] if self._rises else 0
            e = self.best(last, k)
            up = self.best(k) - e
            if up > EPS and up >= min(self.g(e), self.pace(k) / 4) - EPS:
                self._rises.append(k)

    def mark(self, k: int) -> Mark:
        return self.marks.get(k, Mark())

    def excused(self, k: int) -> bool:
        """A grown total or a rollback made step k."""
        return self.mark(k).grew or self.mark(k).rolled_back

    def taken(self, i: int, k: int) -> float:
        """Points lost to grown totals and rollbacks after measurement i, up to measurement k."""
        return self._taken[k] - self._taken[i]

    def now(self, value: float, i: int, k: int) -> float:
        """A value of measurement i, adjusted to measurement k."""
        return value - self.taken(i, k)

    def best(self, i: int, k: int | None = None) -> float:
        """The best reading up to i, the baseline included, as it counts at k (at i itself)."""
        at = i if k is None else k
        return max(self.now(self.c[j], j, at) for j in range(i + 1))

    def step(self, k: int) -> float:
        """The gain of iteration k, in points."""
        return self.c[k] - self.c[k - 1]

    def alarm_step(self, k: int) -> float:
        return 0.0 if self.excused(k) else self.step(k)

    def paced_step(self, i: int, k: int) -> float:
        """Step i as the metrics see it at reading k: 0 when a rollback made it or undid it."""
        if self.mark(i).rolled_back or self.is_undone(i, k):
            return 0.0
        return max(0.0, self.step(i)) if self.mark(i).grew else self.step(i)

    def is_undone(self, i: int, k: int) -> bool:
        """A rollback up to reading k undid step i."""
        return any(
            self.mark(j).rolled_back and i >= j - self.mark(j).undone for j in range(i + 1, k + 1)
        )

    def pace_steps(self, k: int, count: int) -> list[float]:
        """The steps among the last `count` up to k that tell a pace, in points: one after a
        rollback from the restored reading on, and no gain that was undone.
        """
        steps = []
        for i in range(max(1, k - count + 1), k + 1):
            mark = self.mark(i)
            gained = self.paced_step(i, i)
            if mark.rolled_back and 0 < mark.undone < i:
                restored = i - 1 - mark.undone
                gained = self.c[i] - self.now(self.c[restored], restored, i - 1)
                gained = max(0.0, gained) if mark.grew else gained
            if not self.is_undone(i, k):
                steps.append(gained)
            elif gained <= EPS:
                steps.append(0.0)
        return steps

    def alarm_steps(self, k: int, count: int) -> list[float]:
        """The last `count` steps up to k as alarms see them, fewer when there are fewer."""
        return [self.alarm_step(i) for i in range(1, k + 1)][-count:]

    def g(self, b: float) -> float:
        """A new best: 5 points of the way from the baseline, or a quarter of what is left."""
        return min(5 * (100 - self.c[0]) / 100, (100 - b) / 4)

    def pace(self, k: int) -> float:
        """m: what the best rose by per iteration, with what was taken off made good."""
        return (self.best(k) - self.now(self.c[0], 0, k)) / k

    def rises(self, k: int) -> list[int]:
        """Iterations up to k whose best is far enough above that of the previous rise."""
        return [i for i in self._rises if i <= k]

    def waits(self, k: int) -> tuple[int, int, int]:
        """(t, t', L): since something new, since a rise, and the longest that a rise took."""
        rises = [0, *self.rises(k)]
        news = [0, *(i for i in range(1, k + 1) if self.mark(i).novel or i in rises)]
        longest = max((b - a for a, b in pairwise(rises)), default=0)
        return k - news[-1], k - rises[-1], longest

    def stride(self) -> int:
        return min(10, ceil(Fraction(self.max, 30)))

    def patience(self, k: int) -> tuple[int, int]:
        """(n, N) at reading k."""
        cap = max(3, ceil(Fraction(self.max, 4)))
        if self.settings.stuck_after is not None:
            n = self.settings.stuck_after
            return n, max(n, min(cap, ceil(Fraction(self.max, 10))))
        known = [3, self.stride(), 3 * self.waits(k)[2]]
        if len(self.rises(k)) < 5:
            known.append(ceil(Fraction(3 * self.max, self.T)))
        b = self.best(k)
        if b >= 80 - EPS and self.T * (100 - b) / 100 <= max(3, 0.05 * self.T) + EPS:
            known.append(ceil(Fraction(12 * self.max, 100)))
        n = min(cap, max(known))
        longer = min(cap, max(n, ceil(Fraction(self.max, 10))))
        factor = Fraction(str(self.settings.patience))
        return ceil(n * factor), ceil(longer * factor)

    def rise_since(self, start: int, k: int) -> float:
        return self.best(k) - self.best(start, k)

    def rose_less_than_g(self, start: int, k: int) -> bool:
        """b rose by less than g between two readings; g is taken at the start's best."""
        return self.rise_since(start, k) < self.g(self.best(start, k)) - EPS

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
    d = 0.0 if s.mark(k).rolled_back else error(s, k) - error(s, k - 1)
    return 0.0 if abs(d) < s.settings.noise_threshold - EPS else d


def window(s: Series, k: int) -> list[float]:
    """The last window_size steps, as fractions."""
    return [s.paced_step(i, k) / 100 for i in range(1, k + 1)][-s.settings.window_size :]


def velocity(s: Series, k: int) -> float:
    """Mean step of the window."""
    return _mean(s.pace_steps(k, s.settings.window_size))


def mean_step(s: Series, k: int) -> float:
    """Mean step of the whole run, as a fraction."""
    return _mean(s.pace_steps(k, k))


def _mean(steps: list[float]) -> float:
    return sum(steps) / len(steps) / 100


def volatility(s: Series, k: int) -> float:
    """Mean absolute change between neighbouring steps of the window, 0 below two steps."""
    w = window(s, k)
    changes = [abs(b - a) for a, b in pairwise(w)]
    return sum(changes) / len(changes) if changes else 0.0


def forecast_fits(s: Series, k: int) -> bool:
    """True if the remainder fits the iterations left at the better of the two paces."""
    v = max(velocity(s, k), mean_step(s, k))
    return v > EPS and error(s, k) / v <= s.max - k + 1e-6


def profile(s: Series, k: int, decisions: list[Decision]) -> str:
    """Which gains reading k asks for; `decisions` are those before k."""
    episode = open_episode(s, k, decisions)
    if episode is not None and decisions[episode - 1].opened == "OSCILLATING":
        return "damped"
    if "STUCK" in alarms(s, k) and "OSCILLATING" not in alarms(s, k):
        return "aggressive"
    if k <= min(5, max(2, ceil(Fraction(s.max, 5)))):
        return s.settings.first_profile
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
    """No progress for long, and small steps or hardly any rise in twice N."""
    n, long = s.patience(k)
    t, t_rise, _ = s.waits(k)
    if t < n and t_rise < 3 * n:
        return False
    if k >= n and all(abs(step) < 5 - EPS for step in s.alarm_steps(k, n)):
        return True
    if k < 2 * long:
        return False
    rise, start = s.rise_since(k - 2 * long, k), s.best(k - 2 * long, k)
    return rise <= EPS or rise < min(s.g(start), long * s.pace(k) / 2) - EPS


def deep(s: Series) -> float:
    return max(15, 200 / s.T)


def swing(s: Series, k: int) -> float:
    """h: four times the usual fall of some iterations back, within bounds."""
    falls = sorted(
        -s.alarm_step(i) for i in range(max(1, k - 25), k - 6 + 1) if s.alarm_step(i) < -EPS
    )
    f = falls[len(falls) // 2] if falls else 0.0  # of two in the middle the larger
    return min(deep(s), max(5, 200 / s.T, 4 * f))


def oscillating(s: Series, k: int) -> bool:
    """Changes of direction among the large ones of the last 6 steps, no new best in 3."""
    if k < 3:
        return False
    h = swing(s, k)
    steps = s.alarm_steps(k, 6)
    large = [step for step in steps if abs(step) >= h - EPS]
    turns = sum(1 for a, b in pairwise(large) if a * b < 0)
    recent = any(abs(step) >= h - EPS for step in steps[-2:])
    return turns >= s.settings.oscillations and recent and s.rose_less_than_g(k - 3, k)


def regressing(s: Series, k: int) -> bool:
    """Falls in a row that lose enough together, or two readings far below the best."""
    falls = []
    for i in range(k, 0, -1):
        if s.alarm_step(i) >= -EPS:
            break
        falls.append(-s.alarm_step(i))
    if (
        len(falls) >= s.settings.falls
        and sum(falls) >= min(deep(s), max(swing(s, k), s.max / 20)) - EPS
    ):
        return True
    if k < 2:
        return False
    low = all(s.best(k) - s.now(s.c[i], i, k) >= deep(s) - EPS for i in (k - 1, k))
    return low and s.alarm_step(k) < 5 - EPS


@lru_cache(maxsize=10_000)
def conditions(s: Series, k: int) -> frozenset[str]:
    """The progress conditions that are up; none at 100."""
    if s.at_100(k):
        return frozenset()
    rules = {"STUCK": stuck, "OSCILLATING": oscillating, "REGRESSING": regressing}
    return frozenset(name for name, rule in rules.items() if rule(s, k))


def nearly_used(s: Series, k: int) -> bool:
    """The share of the budget is used from which the overseer warns."""
    return k >= Fraction(str(s.settings.budget_warning)) * s.max


def alarms(s: Series, k: int) -> frozenset[str]:
    """The progress conditions and the budget's; none at 100."""
    budget = {"BUDGET_EXCEEDED"} if nearly_used(s, k) and not s.at_100(k) else set()
    return conditions(s, k) | budget


# -- the evidence ----------------------------------------------------------------------------------


def deviates(s: Series, k: int, facts: list[Facts]) -> bool:
    """The work strayed, and the best did not rise; nothing at 100."""
    return k >= 1 and facts[k - 1].deviated and s.rise_since(k - 1, k) <= EPS and not s.at_100(k)


def burns(s: Series, k: int, facts: list[Facts]) -> bool:
    """5000 tool calls at a mean completion under 30, or 1000 without a new best; not at 100."""
    if s.at_100(k):
        return False
    mean = sum(s.c[1 : k + 1]) / k
    if sum(fact.calls for fact in facts[:k]) >= 5000 and mean < 30 - EPS:
        return True
    newest = 0  # where the best was last a whole gain above the previous best
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
        if s.at_100(j) or not s.rose_less_than_g(o, j):
            return None
    return o


def episode_pauses(s: Series, k: int, o: int, decisions: list[Decision]) -> bool:
    """True if the episode opened at o asks for a PAUSE at k."""
    up = conditions(s, k)
    if not up:
        return False
    n, _ = s.patience(k)
    own = [i for i, d in enumerate(decisions, 1) if i > o and d.own_pause]
    only_stuck = max(2, 2 * s.stride(), n - 1)
    w = only_stuck if up == {"STUCK"} else max(2, s.stride())
    due = own[-1] + max(5, n) * 2 ** (len(own) - 1) if own else o + w
    if k < due:
        return False
    mark = own[-1] if own else o
    c_mark = s.now(s.c[mark], mark, k)
    if "OSCILLATING" not in up and s.c[k] >= c_mark + s.g(c_mark) - EPS:
        return False
    t, t_rise, _ = s.waits(k)
    return up != {"STUCK"} or t >= n + only_stuck or 2 * t_rise >= s.max


def opens(s: Series, k: int, facts: list[Facts]) -> str | None:
    """True if k opens an episode: a condition, or the third deviation in a row."""
    up = conditions(s, k)
    if up:
        return next(name for name in PRIORITY if name in up)
    three = k >= 3 and all(deviates(s, i, facts) for i in (k - 2, k - 1, k))
    return "DEVIATION" if three else None


def decide(
    s: Series, k: int, decisions: list[Decision], facts: list[Facts] | None = None
) -> Decision:
    """The overseer's decision at k after earlier ones; redirects approved, pauses continued."""
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

    lately = range(max(1, k - s.settings.window_size + 1), k + 1)
    if (
        k >= 3
        and mean_step(s, k) > 0
        and velocity(s, k) < mean_step(s, k) / 2 - EPS
        and not any(s.mark(i).rolled_back for i in lately)
    ):
        asked.add("LOG")
    if 10 * k >= 7 * s.max:
        once("70", "WARN")
    if nearly_used(s, k) and forecast_fits(s, k):
        once("90 fits", "WARN")
    if deviates(s, k, facts):
        asked.add("WARN")
    if same_errors(k, facts):
        asked.add("ABORT")
    gained = k * s.pace(k)
    if k >= s.max and s.c[0] < 99.9 - EPS and gained < s.g(s.c[0]) - EPS:
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
        if nearly_used(s, k) and not forecast_fits(s, k):
            once("90 late", "PAUSE")
    level = max(asked, key=LEVELS.index, default=None)
    # an episode opens with its REDIRECT, so not where a PAUSE takes its place
    return Decision(level, opening if level == "REDIRECT" else None, own_pause, frozenset(spent))


# -- the table -------------------------------------------------------------------------------------


def watched(s: Series, facts: list[Facts]) -> Iterator[tuple[str | None, str | None, set[str]]]:
    """Level, opened episodes and visible state, per iteration with its evidence."""
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
    marks: dict[int, Mark] | None = None,
) -> list[dict[str, Any]]:
    """One object per iteration, with the fields of `lab --json`."""
    s = Series(progress, baseline, max_iterations, tests, settings, marks)
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
