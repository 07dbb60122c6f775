"""Evidence from git: files, lines, and a hash, without the repository's runs."""

import os
from pathlib import Path

import pytest

from ralph_tui.hooks.program.evidence import ChangedFile, gather
from tests.agent_sessions import alive
from tests.hooks import Project
from tests.waiting import until

LIMIT_S = 30


def test_files_and_lines(project: Project) -> None:
    root = project.with_git.root
    (root / "calc.py").write_text("# one\n# two\ndef add(a, b):\n    return a + b\n")
    (root / "new file é.txt").write_text("x")
    (root / "empty").mkdir()
    evidence = gather(root, LIMIT_S)
    assert evidence.problem == ""
    assert evidence.files == (
        ChangedFile("calc.py", "1-2, 4", 3, 1),
        ChangedFile("new file é.txt", new=True),
    )


def test_what_the_loop_writes_itself_is_not_told(project: Project) -> None:
    root = project.with_git.root
    before = gather(root, LIMIT_S)
    for name in ("PROMPT.md", ".claude/handoffs/x.md", ".aiwg/ralph/hooks/e.jsonl"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    assert gather(root, LIMIT_S) == before
    assert before.files == ()
    assert before.state


def test_every_change_has_its_hash(project: Project) -> None:
    root = project.with_git.root
    seen = {gather(root, LIMIT_S).state}

    def changed() -> bool:
        state = gather(root, LIMIT_S).state
        known = state in seen
        seen.add(state)
        return not known

    assert not changed()
    (root / "calc.py").write_text("pass\n")
    assert changed()
    os.utime(root / "calc.py", (1, 1))
    assert not changed()
    (root / "new").write_text("a")
    assert changed()
    (root / "new").write_text("b")
    assert changed()
    project.git("add", ".")
    project.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "second")
    assert changed()
    (root / "calc.py").unlink()
    assert changed()


PROGRAM = "#!/bin/sh\ntouch {mark}\ncat\n"


@pytest.mark.parametrize(
    "key",
    ["core.fsmonitor", "filter.evil.clean", "diff.external", "diff.evil.textconv", "core.pager"],
)
def test_no_program_of_the_repository_runs(project: Project, tmp_path: Path, key: str) -> None:
    root, mark, program = project.with_git.root, tmp_path / "mark", tmp_path / "evil"
    program.write_text(PROGRAM.format(mark=mark))
    program.chmod(0o755)
    (root / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    project.git("config", key, str(program))
    (root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    assert not mark.exists()
    evidence = gather(root, LIMIT_S)
    assert "calc.py" in [file.path for file in evidence.files]
    assert not mark.exists()
    if key != "core.pager":  # no output of a test is paged
        project.git("diff")  # it would have run
        assert mark.exists()


def test_the_users_index_is_left_alone(project: Project) -> None:
    root = project.with_git.root
    index = root / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    os.utime(root / "calc.py", (1_000_000_000, 1_000_000_000))  # git would note that in its index
    gather(root, LIMIT_S)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_a_change_right_after_a_commit_is_seen(project: Project) -> None:
    """Same length, same second: only the index's own time shows it."""
    root = project.with_git.root
    then = (1_000_000_000, 1_000_000_000)
    os.utime(root / "calc.py", then)
    project.git("update-index", "--refresh")
    os.utime(root / ".git" / "index", then)
    (root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    os.utime(root / "calc.py", then)
    assert [file.path for file in gather(root, LIMIT_S).files] == ["calc.py"]


def test_what_the_user_ignores_is_not_told(project: Project) -> None:
    root = project.with_git.root
    (root / ".git" / "info" / "exclude").write_text("*.log\n")
    (root / "a.log").write_text("x")
    assert gather(root, LIMIT_S).files == ()


@pytest.mark.parametrize("case", ["none", "bare", "unborn", "late"])
def test_without_a_commit_there_is_less_evidence(project: Project, case: str) -> None:
    root = project.root
    if case == "late":
        assert "in time" in gather(project.with_git.root, 0.0).problem
        return
    if case != "none":
        project.git("init", "-q", *(["--bare"] if case == "bare" else []))
    (root / "a").write_text("x")
    evidence = gather(root, LIMIT_S)
    if case == "unborn":
        assert evidence.files == (ChangedFile("a", new=True),)
    else:
        assert evidence.problem
        assert evidence.state == ""


def test_a_git_that_hangs_is_ended(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin" / "git"
    git.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {pid}\nwait\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}{os.pathsep}{os.environ['PATH']}")
    assert "in time" in gather(project.root, 2.0).problem
    until(lambda: not alive(int(pid.read_text())))


def test_without_git_nothing_is_known(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gather(project.root, LIMIT_S).problem == "git was not found on PATH"


def test_a_linked_worktree_has_evidence_of_its_own(project: Project, tmp_path: Path) -> None:
    project.with_git.git("worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked" / "calc.py").write_text("pass\n")
    assert [file.path for file in gather(tmp_path / "linked", LIMIT_S).files] == ["calc.py"]
    assert gather(project.root, LIMIT_S).files == ()
