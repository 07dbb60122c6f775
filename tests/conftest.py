"""Every test sees the same machine: no colours, keys, settings, ignored signals or git identity.

Git finds no identity at all and must not guess one: whatever works here works for anybody.
"""

import gc
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.processes import let_children_hear_signals
from tests.workspaces import close_workspaces

FOREIGN = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM", "COLUMNS", "LINES", "TMUX", "LC_ALL")
ANEW = "PYTHONDONTWRITEBYTECODE"
"""If set, every process that a test starts compiles the whole program."""
FOREIGN_PREFIXES = ("TEXTUAL", "RALPH_", "GIT_", "XDG_")

GIT_CONFIG = """\
[user]
    useConfigOnly = true
[init]
    defaultBranch = main
[commit]
    gpgSign = false
"""

settings.register_profile(
    "fixed",
    deadline=None,
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz", settings.get_profile("fixed"), derandomize=False, max_examples=1000
)
settings.load_profile("fuzz" if "RALPH_TEST_FUZZ" in os.environ else "fixed")

# At once, not in a fixture: Textual reads some of these while tests are collected.
for _name in list(os.environ):
    # The first was just set by its plugin, the others are for the tests themselves.
    if _name == "TEXTUAL_SNAPSHOT_TEMPDIR" or _name.startswith("RALPH_TEST_"):
        continue
    if _name in (*FOREIGN, ANEW) or _name.startswith(FOREIGN_PREFIXES):
        del os.environ[_name]
# With LANGUAGE, argparse searches no folder for translations: it would for each of its words.
os.environ |= {"TZ": "UTC", "LANG": "C.UTF-8", "LANGUAGE": "C", "GIT_CONFIG_NOSYSTEM": "1"}
time.tzset()
let_children_hear_signals()
gc.disable()  # while tests are collected: these objects all stay


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the modules of whole programs among those that compute: they wait much.

    Workers begin with a stretch of this order each: one that had all of the programs would still
    wait for them when the others have nothing left. Tests of a module stay together.
    """
    programs = Path(__file__).parent / "e2e"
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    kinds = [
        [tests for path, tests in modules.items() if path.is_relative_to(programs) is waits]
        for waits in (True, False)
    ]
    placed: list[tuple[float, list[pytest.Item]]] = []
    for kind in kinds:
        whole, before = sum(map(len, kind)), 0
        for tests in kind:
            placed.append((before / whole, tests))
            before += len(tests)
    placed.sort(key=lambda each: each[0])
    items[:] = [item for _, tests in placed for item in tests]


def pytest_collection_finish() -> None:
    """Freeze imported and collected objects: scanning them takes a third of a short test."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty home folder for the whole session."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".gitconfig").write_text(GIT_CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        for name in ("CONFIG", "CACHE", "DATA", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def sockets() -> Iterator[None]:
    """Sockets in a folder of our own: runs knock at those of others, to clear up deserted ones.

    Its path is as short as sockets need it. Where several workers test, the same run has one in
    each of them.
    """
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def closed_workspaces() -> Iterator[None]:
    """No test leaves a git that waits for the next snapshot."""
    yield
    close_workspaces()


@pytest.fixture(scope="session")
def first_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Template of `git_repo`: creating it takes three calls of git."""
    root = tmp_path_factory.mktemp("first") / "repo"
    root.mkdir()
    (root / "README.md").write_text("# sample\n")
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


@pytest.fixture
def git_repo(first_repo: Path, tmp_path: Path) -> Path:
    """A repository with one committed file, and no identity."""
    return Path(shutil.copytree(first_repo, tmp_path / "repo", symlinks=True))
