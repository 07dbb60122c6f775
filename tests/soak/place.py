"""A project with everything a user has besides the agent's work, and its state to compare.

Nothing here writes the user's index, refs, or object store.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ralph_tui import demo

IDENTITY = ("-c", "user.name=Soak", "-c", "user.email=soak@example.invalid")
PRIVATE = "private.txt"
FILES = {
    "notes.txt": (0o644, "what nobody has committed\n"),
    "a folder/ünï cödé.txt": (0o644, "a name with a blank\n"),
    "tool.sh": (0o755, "#!/bin/sh\necho mine\n"),
    "data.bin": (0o644, "\0\r\n\r\x1b\n" * 40),
    PRIVATE: (0o600, "for my eyes\n"),
    "local.env": (0o644, "IGNORED=1\n"),
}
"""Mode and text of files that no commit has; git ignores the last one."""
LINKS = {"link": "abacus/lexer.py", "dangling": "nowhere/at/all"}


def prepare(folder: Path, scenario: str = "steady") -> Path:
    """The demo's project with staged, stashed, untracked and ignored work in it."""
    demo.prepare(folder, scenario)
    git(folder, "branch", "side")
    readme = folder / "README.md"
    readme.write_text(readme.read_text() + "\nput away\n")
    git(folder, *IDENTITY, "stash", "push", "--quiet")
    readme.write_text(readme.read_text() + "\nstaged\n")
    (folder / "added.txt").write_text("staged and new\n")
    git(folder, "add", "README.md", "added.txt")
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "exclude").write_text("local.env\n")
    for name, (mode, text) in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(mode)
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    return folder


def protected_files(folder: Path) -> dict[str, object]:
    """Everything that neither the agent nor ralph-tui may change, by name."""
    git_dir = folder / ".git"
    files = ("index", "HEAD", "config", "logs/refs/stash", "logs/HEAD", "info/exclude")
    found: dict[str, object] = {name: _content(git_dir / name) for name in files}
    refs = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    found["refs"] = [line for line in refs if not line.startswith(b"refs/ralph/")]
    for name in (*FILES, *LINKS, "README.md", "added.txt"):
        found[name] = content(folder / name)
    return found


def content(path: Path) -> tuple[int, bytes] | None:
    """Mode and bytes of a file, or where a link points to; None where nothing is."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    return mode, os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def tree_of(folder: Path) -> str:
    """The id of the tree that the worktree is now; its objects go to a scratch folder."""
    with tempfile.TemporaryDirectory(prefix="soak-tree-") as scratch:
        index = Path(scratch) / "index"
        shutil.copyfile(folder / ".git" / "index", index)
        objects = Path(scratch) / "objects"
        objects.mkdir()
        environ = {
            "GIT_INDEX_FILE": str(index),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(folder / ".git" / "objects"),
        }
        git(folder, "add", "--all", **environ)
        return git(folder, "write-tree", **environ).decode().strip()


def differences(folder: Path, tree: str) -> list[str]:
    """Paths at which the worktree is not, byte for byte, what the tree holds."""
    wrong = []
    for entry in git(folder, "ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
        about, _, name = entry.partition(b"\t")
        mode, _, blob = about.decode().split()
        found = content(folder / os.fsdecode(name))
        held = git(folder, "cat-file", "blob", blob)
        if found is None or (_git_mode(found[0]), found[1]) != (mode, held):
            wrong.append(os.fsdecode(name))
    if not wrong and tree_of(folder) != tree:
        wrong.append("a file that the snapshot does not hold")
    return wrong


def _git_mode(mode: int) -> str:
    if (mode & 0o170000) == 0o120000:
        return "120000"
    return "100755" if mode & 0o100 else "100644"


def git(folder: Path, *arguments: str, **environ: str) -> bytes:
    """Return git's output; raise if it fails."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"git {' '.join(arguments)}: {done.stderr.decode().strip()}")
    return done.stdout
