"""``python -m tests.soak``: kill runs at many moments; exit 1 when anything was lost."""

# ruff: noqa: T201  a table is printed
import argparse
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from ralph_tui.base.errors import RalphError
from tests.soak.figures import Figures
from tests.soak.killing import Trial

SCENARIOS = ("steady", "stuck", "oscillating", "regressing")
KILLS_PER_RUN = 14
"""Then a run may come to its end."""
ENOUGH = 20
"""Problems."""


def main() -> int:
    """Kill and resume until there were enough kills."""
    parser = argparse.ArgumentParser(prog="soak", description="Kills runs at random moments.")
    parser.add_argument("--seed", type=int, default=None, help="of the moments; default: a new one")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument(
        "--rollovers", action="store_true", help="kill only while a session hands over to another"
    )
    parser.add_argument("--keep", metavar="FOLDER", help="leave everything in FOLDER")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ralph-soak-", ignore_cleanup_errors=True) as scratch:
        place = Path(options.keep or scratch)
        figures = soak(place, seed, options.kills, rollovers=options.rollovers)
    print(f"\nseed {seed}")
    print("\n".join(figures.table(time.monotonic() - began)))
    return 1 if figures.problems else 0


def soak(folder: Path, seed: int, kills: int, *, rollovers: bool = False) -> Figures:
    """Runs, one after the other, each killed several times."""
    figures, number = Figures(), 0
    scenarios = ("context",) if rollovers else SCENARIOS
    while figures.killed < kills and len(figures.problems) < ENOUGH:
        number += 1
        # The moments of a run depend only on the seed and the run's number.
        rng, known = Random(f"{seed}/{number}"), len(figures.problems)
        scenario = scenarios[number % len(scenarios)]
        place = folder / f"run-{number:03}"
        trial = Trial(place, scenario, rng, figures, rollovers=rollovers)
        try:
            trial.play(min(KILLS_PER_RUN, kills - figures.killed))
        except (AssertionError, OSError, RalphError, subprocess.SubprocessError):
            figures.problems.append(f"{place.name}: {traceback.format_exc()}")
        finally:
            trial.close()
        for problem in figures.problems[known:]:
            print(problem, file=sys.stderr)
        said = f"run {number:3}  {scenario:<12} {figures.killed:4} kills"
        print(f"{said}, {len(figures.problems)} problems", file=sys.stderr, flush=True)
    return figures


if __name__ == "__main__":
    sys.exit(main())
