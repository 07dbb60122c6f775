"""Runs of the aiwg tool for tests: recorded samples, unpacked."""

import tarfile
from pathlib import Path

from tests.paths import ROOT

SAMPLES = ROOT / "tests" / "fixtures" / "runs"
NAMES = sorted(path.name.removesuffix(".tar.gz") for path in SAMPLES.glob("*.tar.gz"))


def unpacked(name: str, into: Path) -> Path:
    """A project with that run in it; gives its root."""
    root = into / name
    with tarfile.open(SAMPLES / f"{name}.tar.gz") as archive:
        archive.extractall(root, filter="data")
    return root
