"""``python -P -m ralph_tui.demo.agent``: works in the current folder until its stdin ends."""

import argparse
import os
import sys
import uuid
from pathlib import Path

from ralph_tui.demo.agent.answers import answer
from ralph_tui.demo.agent.asking import AskingWorker
from ralph_tui.demo.agent.planned import PlannedWorker
from ralph_tui.demo.agent.scenario import SCENARIOS
from ralph_tui.demo.agent.turn import Session
from ralph_tui.demo.agent.window import FullError, window_of
from ralph_tui.demo.agent.wire import Interrupted, Terminated, Wire
from ralph_tui.demo.agent.work import Limited, Worker

BEAT_S = 0.55
WORKERS: dict[str, type[Worker]] = {"context": PlannedWorker, "asking": AskingWorker}
"""Workers of scenarios that need a special one."""
FAST_BEAT_S = {"context": 0.05}
"""Seconds between actions with ``--fast``, for scenarios in which the loop acts in between."""


def main() -> int:
    """Run the agent; return 143 after SIGTERM, as a shell would."""
    parser = argparse.ArgumentParser(prog="ralph-tui demo agent")
    parser.add_argument("--scenario", choices=SCENARIOS, default="steady")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--session-id", default=str(uuid.uuid4()))
    # The flags of a real agent are ignored.
    options, _ = parser.parse_known_args()
    if not Path("abacus", "lexer.py").is_file():
        sys.stderr.write("The demo's agent works only in its project: use `ralph-tui demo`.\n")
        return 1
    if options.ask:
        return answer(0.0 if options.fast else 3 * BEAT_S)
    window = window_of(options.scenario)
    wire = Wire(options.session_id, window.size)
    beat = FAST_BEAT_S.get(options.scenario, 0.0) if options.fast else BEAT_S
    session = Session(wire, beat, window)
    iteration = os.environ.get("RALPH_ITERATION", "")
    works = WORKERS.get(options.scenario, Worker)
    worker = works(session, options.scenario, int(iteration) if iteration.isdigit() else 1)
    try:
        wire.listen()
        _converse(wire, session, worker)
    except Interrupted:
        return 0
    except Terminated:
        return 143
    except BrokenPipeError:
        # The reader is gone; Python would report that again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _converse(wire: Wire, session: Session, worker: Worker) -> None:
    while not wire.leaving and (message := wire.next_message()) is not None:
        try:
            session.begin(*message)
            session.end(worker.turn())
        except Interrupted:
            session.end_interrupted()
        except Limited as limited:
            session.refuse(limited.resets_at)
        except FullError:
            session.overflow()
        # Any message after the first turn was sent by the user.
        session.guided = True


if __name__ == "__main__":
    sys.exit(main())
