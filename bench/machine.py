"""Describe the machine and versions on which the figures depend."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def load() -> str:
    """Return the average number of running or waiting processes in the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def facts() -> dict[str, str]:
    """Return machine and versions; the load shows whether other programs were running."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False)
    return {
        "machine": f"{platform.system()} {platform.release()}, {_processor()}, "
        f"{os.cpu_count()} cores, load {load()}",
        "python": platform.python_version(),
        "textual": version("textual"),
        "git": git.stdout.removeprefix("git version").strip(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
