"""Whatever happens between two snapshots, either of them comes back exactly."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.examples import FEWER
from tests.workspaces import workspace_of

NAMES = st.sampled_from(["a", "b", "a b", ":x", "-c", "ü"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.tuples(
    PATHS,
    st.sampled_from(["file", "program", "link"]),
    st.binary(max_size=12).map(lambda content: content.replace(b"\0", b"\r\n")),
)


def put(root: Path, files: list[tuple[str, str, bytes]]) -> dict[str, tuple[str, bytes]]:
    """Replace the worktree by exactly these files, later ones winning; return the state."""
    for entry in root.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for path, kind, content in files:
        where = root / path
        if any(parent.is_symlink() or parent.is_file() for parent in where.parents):
            continue
        if where.is_symlink() or where.exists():
            continue
        where.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            where.symlink_to("target-" + content.hex())
        else:
            where.write_bytes(content)
            where.chmod(0o755 if kind == "program" else 0o644)
    return worktree(root)


def worktree(root: Path) -> dict[str, tuple[str, bytes]]:
    """Files, links and empty folders below a root, without git's."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if f"{name}/".startswith(".git/"):
            continue
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()).encode())
        elif path.is_file():
            kind = "program" if path.stat().st_mode & 0o100 else "file"
            found[name] = (kind, path.read_bytes())
        elif not any(path.iterdir()):
            found[name] = ("empty folder", b"")
    return found


@settings(FEWER, phases=(Phase.explicit, Phase.generate))  # shrinking takes minutes
@given(st.lists(FILES, max_size=8), st.lists(FILES, max_size=8))
def test_both_states_come_back(
    one: list[tuple[str, str, bytes]], two: list[tuple[str, str, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        workspace = workspace_of(root)
        first_files = put(root, one)
        first = workspace.snapshot(0, "one")
        second_files = put(root, two)
        live = workspace.changes(first.tree)
        second = workspace.snapshot(1, "two")
        restored = workspace.restore(first.tree)
        assert worktree(root) == first_files
        assert restored.kept == ()
        named = {row.path: row.status for row in workspace.changes(first.tree, second.tree)}
        assert {row.path: row.status for row in live} == named
        expected = {
            path
            for path in first_files.keys() | second_files.keys()
            if first_files.get(path) != second_files.get(path)
        }
        assert set(named) == expected == set(restored.changed)
        workspace.restore(second.ref)
        assert worktree(root) == second_files
        assert workspace.changes(second.tree) == ()
