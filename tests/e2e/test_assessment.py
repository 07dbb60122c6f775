"""Each iteration's assessment is saved beside its other files and matches what happened."""

import json
from pathlib import Path
from typing import Any

from tests.e2e.cli import GATE, ONE_MORE, here, project, run

ATTEMPT = Path(".aiwg/ralph/tasks/task-001/attempts/001")
COMMITS = "git add done-$n.txt; git -c user.name=a -c user.email=a@b commit -qm 'Add file '$n"
LOOP = json.dumps({"active": False, "currentIteration": 2, "status": "success"})
INNER = f"echo '{LOOP}' > .aiwg/ralph/current-loop.json"
TICKS = 'sed -i.bak "s/\\[ \\] file $n/[x] file $n/" PLAN.md; rm PLAN.md.bak'


def read_assessment(root: Path, iteration: int) -> dict[str, Any]:
    path = root / ATTEMPT / f"results/iter-{iteration:03}/assessment.json"
    found = json.loads(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def ran(root: Path, agent: str, *options: str) -> list[dict[str, Any]]:
    """The events of a run with an agent of these commands."""
    how = ("--agent", "command", "--agent-command", agent, *options)
    done = run("run", "Make the checks pass", "-c", GATE, *how, "--json", cwd=project(root))
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_commits_tests_ticks_and_a_loop_inside_are_what_was_done(git_repo: Path) -> None:
    (git_repo / "PLAN.md").write_text("".join(f"- [ ] file {n}\n" for n in range(4)))
    events = ran(git_repo, f"{ONE_MORE}; {COMMITS}; {TICKS}; {INNER}", "--plan", "PLAN.md")
    readings = [event for event in events if event["kind"] == "reading_taken"]
    assert [event["next_item"] for event in readings] == [*(f"file {n}" for n in range(4)), ""]
    first = read_assessment(git_repo, 1)
    assert dict(
        zip(first["evidence"]["accomplishments"], first["accomplishments"], strict=True)
    ) == {
        "tests": "done-0.txt now passes",
        "plan": "ticked in the plan: file 0",
        "commits": "committed: Add file 0",
        "files": "files: 1 added (done-0.txt), 1 modified (PLAN.md)",
        "loop": "a loop inside the session reached its goal at iteration 2",
    }
    assert first["testStatus"]["passed"] == 1
    assert first["recommendedNextStep"] == "Make done-1.txt pass."
    assert first["missing"] == ["the agent's report", "tool calls"]
    last = read_assessment(git_repo, 4)
    assert (last["phase"], last["pendingTasks"]) == ("complete", [])
    assert read_assessment(git_repo, 0)["summary"] == "0 of 4 tests pass."


def test_artifacts_that_git_ignores_are_followed_through_the_run(git_repo: Path) -> None:
    (git_repo / ".gitignore").write_text(".aiwg/\n")
    note = "mkdir -p .aiwg/specs; echo x > .aiwg/specs/$n.md; rm -f .aiwg/specs/0.md"
    note += "; test $n != 0 || echo x > .aiwg/specs/0.md"
    note += "; test $n = 0 || echo $n >> .aiwg/specs/log.md"
    ran(git_repo, f"{ONE_MORE}; {note}")
    listed = [read_assessment(git_repo, k)["contextFiles"]["artifacts"] for k in (1, 2, 3)]
    assert listed == [
        [".aiwg/specs/0.md"],
        [".aiwg/specs/1.md", ".aiwg/specs/log.md"],
        [".aiwg/specs/2.md", ".aiwg/specs/log.md", ".aiwg/specs/1.md"],
    ]
    assert (
        "artifacts: 1 changed (.aiwg/specs/0.md)" in read_assessment(git_repo, 1)["accomplishments"]
    )
    prompt = (git_repo / ATTEMPT / "results/iter-004/prompt.md").read_text("utf-8")
    assert "- .aiwg/specs/1.md (artifact changed in this run)" in prompt


def test_an_agent_that_spoils_its_assessments_and_its_plan_spoils_nothing_else(
    git_repo: Path,
) -> None:
    where = f"{ATTEMPT}/results/iter-00$n/assessment.json"
    other = f"0) mkdir {where};; 1) mkfifo {where};; *) echo '{{' > {where};;"
    spoil = f"rm -rf {where}; case $n in {other} esac"
    diff = f"mkdir -p {ATTEMPT}/results/iter-00$((n + 1))/snapshot-diff.json"
    (git_repo / "PLAN.md").write_text("- [x] begin\n- [ ] go on\n")
    gone = "rm -f PLAN.md; mkfifo PLAN.md"
    events = ran(git_repo, f"{ONE_MORE}; {spoil}; {diff}; {gone}", "--plan", "PLAN.md")
    warned = [e for e in events if e["kind"] == "noticed" and "PLAN.md" in e["text"]]
    assert [(e["level"], e["source"]) for e in warned] == [("warn", "sensor")]
    assert here("rebuild", cwd=git_repo).returncode == 0
    for k in range(5):
        assert read_assessment(git_repo, k)["iteration"] == k
    assert "commits" in read_assessment(git_repo, 2)["missing"]
    assert read_assessment(git_repo, 3)["pendingTasks"][-1] == "in the plan: go on"
