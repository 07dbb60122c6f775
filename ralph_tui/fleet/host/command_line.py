"""How a loop's run is started: the command line that a user could have typed, and its environment.

Everything that the fleet decides is an argument; nothing is read from a file in the tree.
"""

import os
import sys
from collections.abc import Mapping

from ralph_tui.adapters.processes.sweep import FLEET_MARK
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.config.sources import FLAGS
from ralph_tui.fleet.ports import Place

_RALPH = (sys.executable, "-P", "-m", "ralph_tui")
"""-P: a file in the tree must not pass for a module."""
_TAKEN_ANEW = "outreach."
"""Settings that a run's record leaves out, as they may be secrets."""


def run_words(place: Place, descriptor: int) -> list[str]:
    """The command line of a new run; its host speaks to it through `descriptor`."""
    loop = place.loop
    words = [*_RALPH, "run", *_asks(place), f"--commands-from={descriptor}"]
    if loop.command is not None:
        words.append(f"--command={loop.command}")
    if loop.criterion is not None:
        words.append(f"--criterion={loop.criterion}")
    if loop.until_promise:
        words.append("--until-promise")
    return [*words, *_settings(_given(place)), "--", loop.objective]


def resume_words(place: Place, run: str, descriptor: int) -> list[str]:
    """The command line of a run that goes on; `run` is its task and attempt.

    The limits it was given before hold.
    """
    settings = place.loop.settings.items()
    given = {name: value for name, value in settings if name.startswith(_TAKEN_ANEW)}
    words = [*_RALPH, "resume", *_asks(place), f"--commands-from={descriptor}"]
    if place.loop.command is not None:
        words.append(f"--command={place.loop.command}")
    return [*words, *_settings(given), "--", run]


def environment(place: Place, slot: int, ports: tuple[int, int] | None) -> Mapping[str, str]:
    """That of a loop's run; see `fleet_environment`."""
    named = (place.fleet_id, place.fleet, place.loop.id, place.attempt)
    return fleet_environment(*named, slot, ports)


def fleet_environment(
    fleet_id: str, fleet: str, loop: str, attempt: int, slot: int, ports: tuple[int, int] | None
) -> Mapping[str, str]:
    """This process's, without what would lead git elsewhere, with where a loop stands."""
    kept = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    told = {
        FLEET_MARK: fleet_id,
        "RALPH_FLEET": fleet,
        "RALPH_FLEET_LOOP": loop,
        "RALPH_FLEET_ATTEMPT": str(attempt),
        "RALPH_FLEET_SLOT": str(slot),
    }
    if ports is not None:
        told["PORT_BASE"] = str(ports[0])
        told["PORT_COUNT"] = str(ports[1] - ports[0] + 1)
    return kept | told


def _asks(place: Place) -> list[str]:
    """Without a terminal it has no screen; it is told that there is nobody to ask, either."""
    return ["--headless"] if place.unattended else []


def _given(place: Place) -> dict[str, str]:
    """The loop's settings; its limit of money, and its patience, are what the fleet gives it."""
    given = dict(place.loop.settings)
    if place.budget_usd is not None:
        given["limits.budget_usd"] = f"{place.budget_usd:.4f}"
    if place.after_limit_s:
        given["agent.after_limit_s"] = f"{place.after_limit_s:g}"
    return given


def _settings(given: Mapping[str, str]) -> list[str]:
    flags = [f"{FLAGS[name]}={value}" for name, value in given.items() if name in FLAGS]
    others = [f"--set={name}={value}" for name, value in given.items() if name not in FLAGS]
    return [*flags, *others]
