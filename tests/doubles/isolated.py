"""Run the real binary on a scenario, with no network but the loopback.

As a program, in a network namespace of its own: ``python -m tests.doubles.isolated BINARY SCENARIO
ROOT``. It prints the run as JSON.
"""

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.doubles.api import Api
from tests.doubles.driver import Run, run
from tests.doubles.launch import real_argv, real_environment
from tests.doubles.scenario import Scenario, load

LIMIT_S = 50.0
SIGINT_TRIES = 3
REPOSITORY = Path(__file__).parents[2]
SET_FLAGS = 0x8914
UP_AND_RUNNING = 0x41


def real_run(binary: str, scenario: Scenario, root: Path) -> Run:
    """A run of the real binary in a project that is prepared; isolated where that can be had."""
    done = _one_run(binary, scenario, root)
    for _ in range(SIGINT_TRIES):
        # About once in eight times SIGINT ends the real binary before it says its result.
        if done.result is None and any(action.do == "SIGINT" for action in scenario.actions):
            done = _one_run(binary, scenario, root)
    return done


def _one_run(binary: str, scenario: Scenario, root: Path) -> Run:
    fence = namespace()
    if fence is None:
        return _here(binary, scenario, root)
    program = [sys.executable, "-m", "tests.doubles.isolated", binary, scenario.name, str(root)]
    done = subprocess.run(
        [*fence, *program], cwd=REPOSITORY, capture_output=True, timeout=LIMIT_S + 5, check=False
    )
    if done.returncode:
        raise AssertionError(f"the run broke: {done.stderr.decode(errors='replace')[-2000:]}")
    return Run(**json.loads(done.stdout))


def namespace() -> list[str] | None:
    """The command that opens a network namespace; None if that is not possible."""
    fence = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    if shutil.which("unshare") is None:
        return None
    probe = subprocess.run([*fence, "true"], capture_output=True, check=False)
    return None if probe.returncode else fence


def _here(binary: str, scenario: Scenario, root: Path) -> Run:
    with Api(scenario) as api:
        environ = real_environment(api.url, root.with_name(f"{root.name}.home"), scenario)
        return run(real_argv(binary, scenario), scenario, root, environ, LIMIT_S)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        fcntl.ioctl(channel, SET_FLAGS, struct.pack("16sh14s", b"lo", UP_AND_RUNNING, b""))


def main(arguments: Sequence[str]) -> int:
    """Run it here and print."""
    binary, name, folder = arguments
    _loopback_up()
    root = Path(folder)
    done = _here(binary, load(name, root=folder, python=sys.executable), root)
    json.dump(asdict(done), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
