"""A real disk of a few hundred kB, mounted in a namespace of users and mounts of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

MOUNT = 'mount -t tmpfs -o size="$SIZE" tmpfs "$DISK" && cd "$DISK" && exec "$@"'
WORDS = """\
import os
from pathlib import Path

def fill():
    with open("filler", "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(1024)):
                pass
        except OSError:
            pass

def make_room():
    os.unlink("filler")

"""


def mounted(folder: Path, size: str = "256k") -> tuple[list[str], dict[str, str]]:
    """The command prefix and environment that give a command a disk of this size.

    Skips the test where no disk can be mounted.
    """
    disk = folder / "disk"
    disk.mkdir()
    environ = {**os.environ, "DISK": str(disk), "SIZE": size, "PYTHONPATH": str(ROOT)}
    words = ["unshare", "-rm", "sh", "-c", MOUNT, "sh"]
    try:
        tried = subprocess.run(
            [*words, "true"], env=environ, check=False, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare(1) to make a small disk with")
    if tried.returncode:
        pytest.skip(f"no small disk can be mounted here: {tried.stderr}")
    return words, environ


def run_on_small_disk(script: str, folder: Path, *, size: str = "256k") -> str:
    """Output of a `script` in the disk's folder; it may `fill` it and `make_room`.

    Skips the test where no disk can be mounted.
    """
    words, environ = mounted(folder, size)
    done = subprocess.run(
        [*words, sys.executable, "-c", WORDS + script],
        env=environ,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
