"""``DO WORDS``: a process that writes to knowledge files as a run does, or holds their lock."""

# ruff: noqa: T201  it prints
import itertools
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ralph_tui.adapters.knowledge.locking import locked
from ralph_tui.ports.knowledge import Credit
from tests.unit.adapters.knowledge.stores import learning, store_of
from tests.waiting import until


def write(run: str, folder: str, known: str, rounds: str, patience_s: str) -> None:
    """Write this many rounds, reopening the store for each, once the folder has a file ``go``."""
    print("ready", flush=True)
    until((Path(folder) / "go").exists)
    for number in range(int(rounds)):
        store = store_of(Path(folder), run, float(patience_s))
        store.stage([learning(f"{run}thing{number} {run}way{number}")])
        store.stage([learning(f"wonder{number} door{number}")])
        store.credit([Credit(known, number, success=number % 2 == 0)])
        store.promote()


def busy(run: str, folder: str, known: str, patience_s: str) -> None:
    """Credit without end, and say how often."""
    store = store_of(Path(folder), run, float(patience_s))
    for number in itertools.count(1):
        store.credit([Credit(known, number, success=True)])
        print(number, flush=True)


def die(run: str, folder: str, known: str, written: str) -> None:
    """Be killed when this file is replaced."""
    replace = os.replace

    def killed(source: Any, target: Any, **options: Any) -> None:
        if str(target) == written:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target, **options)

    os.replace = killed  # type: ignore[assignment]
    store_of(Path(folder), run).credit([Credit(known, 1, success=True)])


def hold(lock: str) -> None:
    """Hold it until it is killed."""
    with locked(Path(lock)):
        print("held", flush=True)
        time.sleep(600)


ACTIONS: dict[str, Callable[..., None]] = {"write": write, "busy": busy, "die": die, "hold": hold}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](*sys.argv[2:])
