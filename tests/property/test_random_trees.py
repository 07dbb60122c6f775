"""A restore brings back everything in a snapshot, or reports the rest."""

import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.changes import file_change
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.ports.worktree import Snapshot
from tests.property.random_trees import RandomTree, State, git, promised, state_of
from tests.workspaces import workspace_of


@dataclass(frozen=True)
class Held:
    """A snapshot, and the tree's state when it was taken."""

    snapshot: Snapshot
    state: State
    paths: set[str]


class Walk:
    """Snapshots of a tree, and ways back to them."""

    def __init__(self, root: Path, seed: int) -> None:
        self.tree = RandomTree(root, seed)
        self.root = root
        self.workspace: GitWorkspace = workspace_of(root)
        self.before: Held | None = None
        self.kept: Counter[str] = Counter()

    def reopen(self) -> None:
        """Reopen the workspace as another process would."""
        _, _, run_id = self.workspace._refs.rpartition("/")
        self.workspace.close()
        self.workspace = workspace_of(self.root, run_id)

    def hold(self) -> Held:
        state, due = state_of(self.root), promised(self.root)
        taken = self.workspace.snapshot(self.workspace.newest() + 1, "one")
        listed = git(self.root, "ls-tree", "-r", "-z", "--name-only", taken.tree, check=True)
        paths = {os.fsdecode(name) for name in listed.split(b"\0")[:-1]}
        if self.before is not None:  # once saved, a file stays saved until it is deleted
            due |= {path for path in self.before.paths if _is_file(state.get(path))}
        assert not (lost := due - paths - set(taken.missing)), f"not held: {lost}"
        assert not (odd := {p for p in paths if not _is_file(state.get(p))}), f"not there: {odd}"
        assert state_of(self.root) == state, "a snapshot only reads"
        self.before = Held(taken, state, paths)
        return self.before

    def back(self, to: Held) -> None:
        live = {row.path for row in self.workspace.changes(to.snapshot.tree)}
        present = self.hold()
        since, until = to.snapshot.tree, present.snapshot.tree
        seen = {row.path for row in self.workspace.changes(since, until)}
        assert live == seen, f"the live view said {live}, not {seen}"
        rows = self.workspace.preview_restore(to.snapshot.tree)
        foretold = {row.path for row, why in rows if why}
        restored = self.workspace.restore(to.snapshot.tree)
        now = state_of(self.root)
        kept = {one.path for one in restored.kept}
        assert all(one.why for one in restored.kept)
        assert foretold <= {file_change(path, "added", 0, 0).path for path in kept}, (
            f"{foretold} was foretold, not {kept}"
        )
        for path in to.paths | present.paths:
            wanted = to.state[path] if path in to.paths else None
            if (path in kept) is (as_git(now.get(path)) == as_git(wanted)):
                what = "kept needlessly" if path in kept else "not named"
                raise AssertionError(f"{what}: {path!r}: {now.get(path)}, not {wanted}")
        needed = {*to.paths, *(str(above) for path in to.paths for above in Path(path).parents)}
        for path in present.state.keys() - present.paths:
            if present.state[path][0] == "special" and path in needed and path not in kept:
                continue  # it has no content: it gave way
            assert now.get(path) == present.state[path], f"touched: {path!r}"
        others = now.keys() - to.paths - present.paths - present.state.keys()
        assert not others, f"made: {others}"
        for path in kept:
            self.kept[self.why(path, to, present)] += 1
        self.hold()

    def why(self, path: str, to: Held, present: Held) -> str:
        """Return the obstacle that explains why a path was left alone."""
        free = present.state.keys() - present.paths
        parts = path.split("/")
        if path in present.paths and path not in to.paths:
            return "deletion"
        if path in free:
            return "itself"
        if any("/".join(parts[:n]) in free for n in range(1, len(parts))):
            return "above"
        if any(other.startswith(f"{path}/") for other in free):
            return "below"
        if any(
            (self.root.joinpath(*parts[:n]) / ".git").exists() for n in range(1, len(parts) + 1)
        ):
            return "nested"
        for other in {*to.snapshot.missing, *present.snapshot.missing}:
            if path == other or (other.endswith("/") and path.startswith(other)):
                return "missing"
        raise AssertionError(f"left alone without a reason: {path!r}")


def as_git(thing: tuple[str, bytes] | None) -> tuple[str, bytes] | None:
    """Normalise permissions: git records only whether the user may execute a file."""
    if thing is None or not thing[0].startswith("0o"):
        return thing
    return "program" if int(thing[0], 8) & 0o100 else "file", thing[1]


def _is_file(thing: tuple[str, bytes] | None) -> bool:
    return thing is not None and thing[0] != "special"


def walk(root: Path, seed: int, kept: Counter[str] | None = None) -> None:
    walker = Walk(root, seed)
    random = walker.tree.random
    try:
        one = walker.hold()
        walker.tree.change(random.randint(1, 8))
        known = [one]
        for _ in range(random.randint(1, 3)):
            if random.random() < 0.5:
                walker.reopen()
            if random.random() < 0.3:
                known.append(walker.hold())
                walker.tree.change(random.randint(1, 5))
            present = walker.hold()
            walker.back(random.choice(known))
            if random.random() < 0.5:
                walker.reopen()
            walker.back(present)
            known.append(present)
            walker.tree.change(random.randint(0, 3))
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n" + "\n".join(walker.tree.did)) from error
    if kept is not None:
        kept.update(walker.kept)


SEEDS: tuple[int, ...] = (3, 28, 113, 118, 219)
"""They leave files alone for each of the reasons that random trees bring about."""
if "RALPH_TEST_FUZZ" in os.environ:
    SEEDS += (11, 25, 37, 147, 156, 181, 563)


@pytest.mark.hypothesis  # `make fuzz` walks from all of them
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_snapshot_holds_comes_back_or_is_named(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        walk(Path(folder).resolve(), seed)
