"""Learnings in the files: staged, proven, joined, credited, changed, looked up."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.knowledge import KnowledgeStore, files, ledger, open_knowledge
from ralph_tui.adapters.knowledge.files import checksum
from ralph_tui.base.errors import KnowledgeError
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import estimate, learning_id, text_of
from ralph_tui.layers.memory.knowledge import proven
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.ports.knowledge import Credit, Promotion
from tests.unit.adapters.knowledge.stores import (
    AIWG,
    document,
    known,
    learning,
    learnings_in,
    store_of,
    write,
)

MOCK = learning("Mock the clock before testing timeouts.")
ALIKE = learning("Mock the clock before testing any timeouts.")
RETRY = learning("Retry the flaky upload with a backoff.")


def staged_in(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(folder, "staging.json")["staged"]
    return found


def test_what_is_staged_stands_in_the_staging_file(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    held = document(tmp_path, "staging.json")
    assert held.keys() == {"version", "checksum", "lastUpdated", "staged"}
    assert held["checksum"] == checksum(held["staged"])
    (staged,) = held["staged"]
    assert staged.keys() == {"id", "learning", "status", "stagedAt", "run"}
    assert (staged["id"], staged["status"], staged["run"]) == (MOCK.learning_id, "staged", "run-a")
    assert staged["learning"]["content"] == {"approach": MOCK.text}


def test_a_later_run_finds_what_means_the_same_as_its_objective(tmp_path: Path) -> None:
    rare = "Paint the fence green before kumquat drains its long queue of letters."
    staged = learning("Mock authentication in tests/auth.py."), learning(rare)
    open_knowledge(tmp_path, "run-a", MemorySettings()).stage(staged)
    later = open_knowledge(tmp_path, "run-b", MemorySettings())

    def found(objective: str) -> list[str]:
        candidates = later.candidates(objective, "bug-fix")
        return [one.learning.text for one in candidates if one.score > 0]

    assert found("Repair the login") == [staged[0].text]
    shares_a_word = "Invoices, exports and refunds of the billing service fail on kumquat"
    assert found(shares_a_word) == [rare]
    newer = [learning(f"Water plant {number} of the garden weekly.") for number in range(198)]
    open_knowledge(tmp_path, "run-c", MemorySettings()).stage(newer)
    assert found("Repair the login") == [staged[0].text]
    open_knowledge(tmp_path, "run-d", MemorySettings()).stage(
        [learning("Prune the roses."), learning("Mow it.")]
    )
    assert found("Repair the login") == [], "only the newest 200 are compared by meaning"
    assert found(shares_a_word) == [rare]


def test_a_run_is_not_told_what_it_has_staged_itself(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    assert store_of(tmp_path, "run-a").candidates("mock the clock", "feature") == []
    (candidate,) = store_of(tmp_path, "run-b").candidates("mock the clock", "feature")
    assert candidate.learning == MOCK
    assert candidate.score > 0


def test_what_one_run_has_said_is_no_knowledge_yet(tmp_path: Path) -> None:
    store = store_of(tmp_path, "run-a")
    store.stage([MOCK])
    assert store.promote() == []
    assert not (tmp_path / "ralph-learnings.json").exists()


def test_what_two_runs_have_said_is_knowledge(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    store = store_of(tmp_path, "run-b")
    store.stage([MOCK])
    (promotion,) = store.promote()
    assert promotion.staged_id == promotion.learning.learning_id == MOCK.learning_id
    assert promotion.because == "2 runs reported it."
    assert (promotion.learning.standing, promotion.learning.runs) == ("proven", 2)
    assert promotion.learning.confidence >= 0.7
    (entry,) = learnings_in(tmp_path)
    assert entry["sourceLoops"] == ["run-a", "run-b"]
    assert entry["useCount"] == 1
    assert [one["status"] for one in staged_in(tmp_path)] == ["promoted", "promoted"]


def test_the_same_in_other_words_is_joined(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    store = store_of(tmp_path, "run-b")
    store.stage([ALIKE, RETRY])
    first, second = store.promote()
    assert (first.staged_id, first.merged) == (MOCK.learning_id, False)
    assert (second.staged_id, second.merged) == (ALIKE.learning_id, True)
    assert second.learning.learning_id == MOCK.learning_id
    (entry,) = learnings_in(tmp_path)
    assert entry["content"] == {"approach": MOCK.text}


def test_a_third_run_joins_what_is_known(tmp_path: Path) -> None:
    before = known(tmp_path, MOCK.text)
    store = store_of(tmp_path, "run-c")
    store.stage([ALIKE])
    (promotion,) = store.promote()
    assert promotion.merged
    assert promotion.learning.runs == 3
    assert promotion.learning.confidence > before.confidence
    assert learnings_in(tmp_path)[0]["useCount"] == 2


def test_a_run_that_says_it_twice_is_one_run(tmp_path: Path) -> None:
    store = store_of(tmp_path, "run-a")
    store.stage([MOCK, ALIKE])
    assert store.promote() == []


def test_other_types_and_kinds_of_task_are_not_joined(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    store = store_of(tmp_path, "run-b")
    store.stage([learning(MOCK.text, "convention"), learning(MOCK.text, task_type="bug-fix")])
    assert store.promote() == []


def test_what_is_hardly_believed_is_never_promoted(tmp_path: Path) -> None:
    unsure = learning("Perhaps restart it.", confidence=0.5)
    store_of(tmp_path, "run-a").stage([unsure])
    store = store_of(tmp_path, "run-b")
    store.stage([unsure])
    assert store.promote() == []


def test_what_one_run_has_said_and_another_used_with_success_is_knowledge(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    store = store_of(tmp_path, "run-b")
    store.credit([Credit(MOCK.learning_id, 1, success=False)])
    assert store.promote() == []
    store.credit([Credit(MOCK.learning_id, 2, success=True)])
    (promotion,) = store.promote()
    assert promotion.because == "It helped in 1 of 2 counted uses."
    assert (promotion.learning.uses, promotion.learning.successes) == (2, 1)


def estimated(iterations: float) -> Learning:
    content = estimate(iterations, None, 1)
    said = text_of("estimate", content)
    name = learning_id("estimate", "feature", said)
    return Learning(
        learning_id=name, type="estimate", task_type="feature", text=said, content=content,
        confidence=1 / 3, standing="staged",
    )  # fmt: skip


def test_estimates_of_one_kind_of_task_become_one(tmp_path: Path) -> None:
    for run, iterations in (("run-a", 2), ("run-b", 4), ("run-c", 6)):
        store = store_of(tmp_path, run)
        store.stage([estimated(iterations)])
        made = store.promote()
        assert bool(made) == (run == "run-c")  # two runs are not enough evidence
    (entry,) = learnings_in(tmp_path)
    assert entry["content"]["estimatedIterations"] == 4
    assert entry["content"]["basedOnSamples"] == 3
    assert entry["sourceLoops"] == ["run-a", "run-b", "run-c"]
    store = store_of(tmp_path, "run-d")
    store.stage([estimated(8)])
    (promotion,) = store.promote()
    assert promotion.learning.content["estimatedIterations"] == 5


def test_an_estimate_that_names_no_iterations_says_nothing_of_them(tmp_path: Path) -> None:
    theirs = {
        "id": "far",
        "type": "estimate",
        "taskType": "feature",
        "confidence": 0.8,
        "content": {"avgIterationTime": 60_000},
        "sourceLoops": ["far-1"],
    }
    (tmp_path / "ralph-learnings.json").write_text(json.dumps({"learnings": [theirs]}))
    store = store_of(tmp_path, "run-a")
    store.stage([estimated(4)])
    assert store.promote() == []
    store = store_of(tmp_path, "run-b")
    store.stage([estimated(8)])
    (promotion,) = store.promote()
    assert promotion.because == "2 runs reported it."
    assert "about 6 iterations" in promotion.learning.text
    assert "based on 2 runs" in promotion.learning.text


def test_doing_it_all_again_changes_nothing(tmp_path: Path) -> None:
    known(tmp_path, RETRY.text)
    store_of(tmp_path, "run-a").stage([MOCK])
    given = [Credit(RETRY.learning_id, 1, success=True), Credit(MOCK.learning_id, 1, success=True)]

    def all_of_it() -> Sequence[Promotion]:
        store = store_of(tmp_path, "run-c")
        store.stage([ALIKE, MOCK])
        store.credit(given)
        store.credit([Credit(RETRY.learning_id, 2, success=False)])
        made = store.promote()
        store.change(RETRY.learning_id, "pin")
        return made

    first = all_of_it()
    before = [document(tmp_path, name) for name in NAMES]
    again = all_of_it()
    assert [one.staged_id for one in again] == [one.staged_id for one in first]
    assert [strip_times(document(tmp_path, name)) for name in NAMES] == strip_times(before)


def strip_times(value: Any) -> Any:
    match value:
        case dict():
            return {key: strip_times(item) for key, item in value.items() if key not in TIMES}
        case list():
            return [strip_times(item) for item in value]
        case _:
            return value


NAMES = ("ralph-learnings.json", "staging.json")
TIMES = {"lastUpdated", "updatedAt", "checksum"}


def test_a_credit_that_was_counted_before_its_promotion_is_not_counted_after_it(
    tmp_path: Path,
) -> None:
    known(tmp_path, MOCK.text)
    store_of(tmp_path, "run-a").stage([ALIKE])  # its own promotion never came
    store = store_of(tmp_path, "run-c")
    for _ in range(2):
        store.credit([Credit(ALIKE.learning_id, 4, success=True)])
        store.promote()
    (entry,) = learnings_in(tmp_path)
    assert (entry["uses"], entry["credits"]) == (1, {"run-c": [4]})


def test_a_promotion_that_staging_does_not_tell_is_not_made_again(tmp_path: Path) -> None:
    """A crash between both files: the knowledge is written, staging is not."""
    store_of(tmp_path, "run-a").stage([MOCK])
    store = store_of(tmp_path, "run-b")
    store.stage([MOCK])
    before = (tmp_path / "staging.json").read_bytes()
    made = store.promote()
    (tmp_path / "staging.json").write_bytes(before)
    assert store_of(tmp_path, "run-b").promote() == made
    assert learnings_in(tmp_path)[0]["useCount"] == 1
    assert [one["status"] for one in staged_in(tmp_path)] == ["promoted", "promoted"]


def test_learnings_that_never_help_are_unlearned_by_their_rate(tmp_path: Path) -> None:
    before = known(tmp_path)
    store = store_of(tmp_path, "run-c")
    store.credit([Credit(before.learning_id, number, success=False) for number in (1, 2)])
    (candidate,) = store.candidates("mock the clock", "feature")
    assert candidate.learning.success_rate == 0.5
    assert candidate.learning.confidence == before.confidence


def test_what_another_tool_wrote_is_read_and_kept(tmp_path: Path) -> None:
    shutil.copytree(AIWG, tmp_path, dirs_exist_ok=True)
    before = (tmp_path / "ralph-learnings.json").read_text()
    store = store_of(tmp_path, "run-a")
    first, second = (one.learning for one in store.candidates("authentication", "feature"))
    assert first.text == "implement user authentication: reverted the other approach"
    assert (first.uses, first.success_rate, first.runs) == (0, 1.0, 1)
    assert second.type == "estimate"
    assert second.text
    assert store.take_notices() == []
    assert (tmp_path / "ralph-learnings.json").read_text() == before
    store.credit([Credit(first.learning_id, 1, success=True)])
    entry, other = learnings_in(tmp_path)
    assert entry["content"] == json.loads(before)["learnings"][0]["content"]
    assert other == json.loads(before)["learnings"][1]
    assert (entry["uses"], entry["successes"]) == (1, 1)
    assert document(tmp_path)["stats"] == json.loads(before)["stats"]


def test_unknown_fields_stay_through_every_write(tmp_path: Path) -> None:
    known(tmp_path, MOCK.text)
    (entry,) = learnings_in(tmp_path)
    entry |= {"colour": {"of": ["it"]}, "content": {**entry["content"], "weight": 1.5}}
    other = {"id": "x-1", "type": "ritual", "content": {"chant": None}, "confidence": 1}
    write(tmp_path, [entry, other], owner={"name": "me"}, stats={"mood": "good"})
    store = store_of(tmp_path, "run-c")
    store.stage([ALIKE])
    store.credit([Credit(MOCK.learning_id, 1, success=True)])
    store.promote()
    store.change(MOCK.learning_id, "mute")
    now, still = learnings_in(tmp_path)
    assert still == other
    assert (now["colour"], now["content"]["weight"], now["uses"]) == ({"of": ["it"]}, 1.5, 1)
    held = document(tmp_path)
    assert held["owner"] == {"name": "me"}
    assert held["stats"] == {
        "mood": "good",
        "totalLearnings": 2,
        "byType": {"strategy": 1, "antipattern": 0, "estimate": 0, "convention": 0, "ritual": 1},
    }


def test_unknown_types_are_never_looked_up(tmp_path: Path) -> None:
    other = {"id": "x-1", "type": "ritual", "content": {"chant": "la"}, "confidence": 1}
    write(tmp_path, [other])
    store = store_of(tmp_path, "run-a")
    assert store.candidates("chant la", "feature") == []
    with pytest.raises(KnowledgeError, match="no learning 'x-1'"):
        store.change("x-1", "pin")
    assert store.change("x-1", "delete") is None


def test_half_characters_in_the_file_reach_no_index(tmp_path: Path) -> None:
    """JSON can contain a lone surrogate; no text on disk can."""
    known(tmp_path, MOCK.text, id="learn-\ud800", content={"approach": "Mock the \udc00clock"})
    store = store_of(tmp_path, "run-c")
    (candidate,) = store.candidates("mock the clock", "feature")
    assert candidate.score > 0
    assert candidate.learning.text == "Mock the \ufffdclock"
    store.credit([Credit(candidate.learning.learning_id, 1, success=True)])
    (entry,) = learnings_in(tmp_path)
    assert (entry["id"], entry["uses"]) == ("learn-\ud800", 1)


def test_of_two_learnings_of_one_name_the_first_counts(tmp_path: Path) -> None:
    """Runs then see what the user mutes, edits or deletes."""
    known(tmp_path, MOCK.text)
    (entry,) = learnings_in(tmp_path)
    write(tmp_path, [entry, {**entry, "content": {"approach": "Wait for the clock."}}])
    store = store_of(tmp_path, "run-c")
    assert [one.learning.text for one in store.candidates("clock", "feature")] == [MOCK.text]
    store.change(entry["id"], "mute")
    assert all(one.learning.muted for one in store.candidates("clock", "feature"))
    assert len(learnings_in(tmp_path)) == 2


def test_wishes_of_the_owner(tmp_path: Path) -> None:
    name = known(tmp_path, MOCK.text).learning_id
    store = store_of(tmp_path)

    def wished(change: Any, text: str = "") -> tuple[bool, bool]:
        now = store.change(name, change, text)
        assert now is not None
        return now.pinned, now.muted

    assert wished("pin") == (True, False)
    assert wished("mute") == (False, True)
    assert wished("unpin") == (False, True)
    assert wished("unmute") == (False, False)
    assert "muted" not in learnings_in(tmp_path)[0]
    assert wished("pin") == (True, False)
    assert wished("edit", "Freeze the time.") == (True, False)
    assert learnings_in(tmp_path)[0]["content"] == {"approach": "Freeze the time."}
    assert store.change(name, "delete") is None
    assert learnings_in(tmp_path) == []


def test_a_deleted_learning_does_not_come_back_by_what_was_staged(tmp_path: Path) -> None:
    name = known(tmp_path, MOCK.text).learning_id
    store = store_of(tmp_path, "run-b")
    store.change(name, "delete")
    store.stage([MOCK])
    assert store.promote() == []
    assert store.candidates("mock", "feature") == []
    assert store_of(tmp_path, "run-b").change(name, "delete") is None  # a resumed run says it again


def test_wishes_hold_for_what_is_not_proven_yet(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK])
    store = store_of(tmp_path, "run-b")
    store.change(MOCK.learning_id, "pin")
    store.change(MOCK.learning_id, "edit", "Mock the clock first.")
    (candidate,) = store.candidates("anything", "feature")
    assert (candidate.learning.pinned, candidate.learning.text) == (True, "Mock the clock first.")
    store.change(MOCK.learning_id, "delete")
    assert store.candidates("anything", "feature") == []


def test_estimates_that_are_not_proven_yet_are_told_as_one(tmp_path: Path) -> None:
    for run, iterations in (("run-a", 2), ("run-b", 4)):
        store_of(tmp_path, run).stage([estimated(iterations)])
    (candidate,) = store_of(tmp_path, "run-c").candidates("anything", "feature")
    assert candidate.learning.content["estimatedIterations"] == 3
    assert (candidate.learning.runs, candidate.learning.standing) == (2, "staged")


def test_a_learning_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match=r"no learning 'learn-\?'"):
        store_of(tmp_path).change("learn-?", "pin")


def test_a_key_in_the_file_reaches_no_run(tmp_path: Path) -> None:
    key = "sk-ant-" + "api03-" + "a1B2c3D4" * 11
    known(tmp_path, MOCK.text)
    (entry,) = learnings_in(tmp_path)
    entry["content"] = {"approach": f"Use {key}.", "toolSequence": [key], key: {"deep": [key]}}
    write(tmp_path, [entry])
    (candidate,) = store_of(tmp_path, "run-c").candidates("use", "feature")
    assert "[redacted]" in candidate.learning.text
    assert key not in candidate.learning.model_dump_json()


def test_the_files_are_read_again_only_when_they_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(tmp_path, MOCK.text)
    store = store_of(tmp_path, "run-c")
    store.candidates("mock", "feature")
    reads: list[str] = []
    original = files._content

    def counted(path: Path) -> bytes:
        reads.append(path.name)
        return original(path)

    monkeypatch.setattr(files, "_content", counted)
    store.candidates("mock", "feature")
    assert reads == []
    store_of(tmp_path, "run-d").credit([Credit(MOCK.learning_id, 1, success=True)])
    reads.clear()
    (candidate,) = store.candidates("mock", "feature")
    assert reads == ["ralph-learnings.json"]
    assert candidate.learning.uses == 1


def test_of_many_the_few_are_chosen_that_fit_or_did_best(tmp_path: Path) -> None:
    entries = [
        {
            "id": f"learn-{number}",
            "type": "strategy",
            "taskType": "bug-fix" if number % 2 else "feature",
            "content": {"approach": f"step {number} of thing{number}"},
            "confidence": 0.7,
            "successRate": 0.6,
        }
        for number in range(2000)
    ]
    entries[1500] |= {"confidence": 0.9}
    entries[1700] |= {"pinned": True}
    entries[1900] |= {"confidence": 0.95, "muted": True}
    write(tmp_path, entries)
    found = store_of(tmp_path, "run-a").candidates("about thing1333", "feature")
    names = [candidate.learning.learning_id for candidate in found]
    assert names[0] == "learn-1333"
    assert {"learn-1500", "learn-1700"} <= set(names)
    assert "learn-1900" not in names
    assert len(names) < 100


def test_what_was_dropped_counts_the_runs_that_end_without_it_once_each(tmp_path: Path) -> None:
    store_of(tmp_path, "run-a").stage([MOCK, RETRY])
    for k in (1, 2, 3):
        store_of(tmp_path, "run-b").credit([Credit(MOCK.learning_id, k, success=False)])
    for run in ("run-c", "run-c", "run-d", "run-e"):
        looked_up = {MOCK.learning_id} if run == "run-e" else set()
        store_of(tmp_path, run).rest(looked_up)
    found = {one["id"]: one["learning"] for one in staged_in(tmp_path)}
    assert found[MOCK.learning_id]["restedRuns"] == ["run-c", "run-d"]
    assert "restedRuns" not in found[RETRY.learning_id], "it was never dropped"
    store_of(tmp_path, "run-f").credit([Credit(MOCK.learning_id, 1, success=False)])
    assert "restedRuns" not in staged_in(tmp_path)[0]["learning"]


def test_the_least_useful_of_too_many_are_archived_and_never_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ledger.MAX_KEPT == 2000
    monkeypatch.setattr(ledger, "MAX_KEPT", 3)
    folder = tmp_path / "knowledge"
    for text in ("Old and good.", "Old and poor.", "Old and pinned.", "New."):
        known(folder, text)
    old, recent = "2024-12-31T00:00:00.000Z", "2025-01-02T00:00:00.000Z"  # now is 2026-01-01
    changes: list[dict[str, Any]] = [{"updatedAt": old}, {"confidence": 0.6}]
    changes += [{"pinned": True, "updatedAt": old}, {"updatedAt": recent}]
    changes[1]["updatedAt"] = old
    write(folder, [one | more for one, more in zip(learnings_in(folder), changes, strict=True)])
    store_of(folder, "run-c").stage([learning("Another.")])
    kept = {one["content"]["approach"] for one in learnings_in(folder)}
    assert kept == {"Old and good.", "Old and pinned.", "New."}
    known(folder, "Newer.")
    known(folder, "Newest.")
    assert len(learnings_in(folder)) == 4, "what was used within a year stays"
    archived = [one["content"]["approach"] for one in document(folder, "archive.json")["learnings"]]
    assert archived == ["Old and poor.", "Old and good."]


def test_the_settings_say_when_a_learning_is_proven(tmp_path: Path) -> None:
    def known_after(runs: int, settings: MemorySettings, confidence: float = 0.6) -> int:
        root = tmp_path / f"{runs}{settings.min_uses}{settings.promote_at}{confidence}"
        for run in range(runs):
            store = open_knowledge(root, f"run-{run}", settings)
            store.stage([learning("Recurse on the right.", confidence=confidence)])
            store.promote()
        return len(store.ledger().learnings)

    assert [known_after(runs, MemorySettings(min_uses=3)) for runs in (2, 3)] == [0, 1]
    assert known_after(1, MemorySettings(min_uses=1)) == 1
    once = learning("Recurse on the right.")
    assert not proven(once)
    assert proven(once.model_copy(update={"uses": 1, "successes": 1})), "it has helped before"
    assert [known_after(runs, MemorySettings()) for runs in (1, 2)] == [0, 1]
    assert known_after(2, MemorySettings(promote_at=0.9)) == 0
    assert known_after(2, MemorySettings(), 0.55) == 0
    assert known_after(2, MemorySettings(promote_at=0.5), 0.55) == 1


@pytest.mark.parametrize("backup", [True, False])
def test_the_state_before_is_kept_if_the_settings_say_so(tmp_path: Path, *, backup: bool) -> None:
    folder = tmp_path / "knowledge"
    settings = MemorySettings(min_uses=1, backup=backup)
    for text in ("Recurse on the right side.", "Read the grammar of numbers first."):
        store = KnowledgeStore(folder, "run", settings=settings)
        store.stage([learning(text)])
        store.promote()
    assert (folder / "ralph-learnings.json.bak").exists() is backup
