"""The stub plays every scenario as the real binary does; this keeps it honest.

The real binary meets a scripted service on the loopback, with a home of its own and a made-up key.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doubles.arguments import as_numbers
from tests.doubles.comparing import differences, outline
from tests.doubles.driver import run
from tests.doubles.isolated import real_run
from tests.doubles.launch import KEY, environment, prepare, real_binary, stub_argv
from tests.doubles.scenario import load, names

BINARY = real_binary()
OLDEST = (2, 1, 197)
"""The oldest version the stub was compared with."""

pytestmark = [
    pytest.mark.real_agent,
    pytest.mark.skipif(
        BINARY is None, reason="no Claude Code: set RALPH_TEST_CLAUDE, or put claude on PATH"
    ),
]


@pytest.fixture(scope="module")
def version(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("version")
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "DISABLE_AUTOUPDATER": "1"}
    said = subprocess.run(
        [str(BINARY), "--version"],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "(Claude Code)" in said
    found = said.split()[0]
    if as_numbers(found) < OLDEST:
        pytest.skip(f"Claude Code {found} is older than any the stub was compared with")
    return found


@pytest.mark.parametrize("name", [name for name in names() if not load(name).differs])
def test_stub_and_real_binary_are_equal(name: str, version: str, tmp_path: Path) -> None:
    scenario = load(name)
    if as_numbers(version) < as_numbers(scenario.differs_before):
        pytest.skip(f"not so before {scenario.differs_before}")
    assert BINARY is not None
    roots = {who: tmp_path / who / "project" for who in ("stub", "real")}
    fields = {}
    for who, root in roots.items():
        scenario = load(name, root=str(root), python=sys.executable)
        prepare(scenario, root)
        if who == "stub":
            environ = {
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "CLAUDE_CODE_MAX_RETRIES": "2",
                "STUB_VERSION": version,
                **({} if scenario.subscription else KEY),
            }
            argv = [*stub_argv(scenario), "--model", scenario.model]
            done = run(argv, scenario, root, environment(name, base=environ))
        else:
            done = real_run(BINARY, scenario, root)
        fields[who] = outline(done, root)
    found = differences(_placeless(fields["stub"], roots), _placeless(fields["real"], roots))
    assert not found, "\n".join(found)


def _placeless(fields: dict[str, object], roots: dict[str, Path]) -> dict[str, object]:
    """The same, with no folder's name in it."""

    def clean(value: object) -> object:
        if isinstance(value, str):
            for root in roots.values():
                value = value.replace(str(root), "ROOT")
            return value
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return {key: clean(value) for key, value in fields.items()}
