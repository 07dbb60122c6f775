"""Start the stub of Codex, or Codex itself, on a scenario."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.doubles.launch import STUB
from tests.doubles.responses import Responses
from tests.doubles.scenario import Scenario

CODEX_STUB = STUB.with_name("codex")
KEY = "sk-test-0000"
"""Invented."""
CONFIG = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 2
"""


def real_codex() -> str | None:
    """Codex itself: `RALPH_TEST_CODEX`, or the one on PATH."""
    return os.environ.get("RALPH_TEST_CODEX") or shutil.which("codex")


def stub_environment(scenario: Path, state: Path) -> dict[str, str]:
    """The environment for the stub."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(state),
        "STUB_SCENARIO": str(scenario),
        "STUB_PYTHON": sys.executable,
        "STUB_STATE": str(state),
    }


@contextmanager
def real_environment(scenario: Scenario, root: Path, home: Path) -> Iterator[dict[str, str]]:
    """The environment for Codex itself while its service runs: nothing of ours but PATH."""
    home.mkdir(parents=True, exist_ok=True)
    with Responses(scenario, root) as service:
        (home / "config.toml").write_text(CONFIG.format(url=service.url))
        yield {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "CODEX_HOME": str(home),
            "TMPDIR": str(home),
            "LANG": "C.UTF-8",
            "SCRIPTED_KEY": KEY,
        }
