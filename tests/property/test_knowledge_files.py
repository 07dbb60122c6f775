"""A run reads on whatever is in place of a knowledge file, then writes valid ones."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui.adapters.knowledge import KnowledgeStore
from ralph_tui.adapters.knowledge.files import checksum
from ralph_tui.adapters.knowledge.javascript import stringify
from ralph_tui.ports.knowledge import Credit
from ralph_tui.text.foreign_json import parse_json
from tests.examples import FEWER
from tests.unit.adapters.knowledge.stores import learning

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
GOOD: dict[str, Any] = {
    "id": "learn-1",
    "type": "strategy",
    "taskType": "feature",
    "content": {"approach": "Go."},
    "confidence": 0.8,
    "sourceLoops": ["a"],
    "useCount": 1,
    "successRate": 0.5,
    "uses": 2,
    "successes": 1,
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:00:00.000Z",
    "pinned": False,
    "muted": False,
    "credits": {"a": [1]},
    "promotedFrom": [{"id": "x", "run": "a", "by": "b", "because": "so", "merged": False}],
}
ENTRIES = st.builds(
    lambda changed, more: {**GOOD, **changed, **more},
    st.dictionaries(st.sampled_from(sorted(GOOD)), VALUES | st.sampled_from([0, 1, 0.5, "", []])),
    st.dictionaries(st.text(), VALUES, max_size=2),
)
STAGED = st.builds(
    lambda entry, changed: {"id": "learn-1", "learning": entry, "status": "staged", **changed},
    ENTRIES,
    st.dictionaries(st.sampled_from(["id", "learning", "status", "run", "stagedAt"]), VALUES),
)


@given(VALUES)
def test_what_is_written_is_read_as_the_same_and_written_as_the_same(value: Any) -> None:
    text = stringify(value)
    assert stringify(parse_json(text)) == text
    assert stringify(parse_json(stringify(value, 2))) == text
    text.encode("utf-8")


@example([], [{"id": "learn-1", "learning": {**GOOD, "id": None}, "status": "staged"}])
@example([{**GOOD, "": 9007199254740993}], [])
@FEWER
@given(st.lists(ENTRIES, max_size=3), st.lists(STAGED, max_size=3))
def test_any_values_are_read_or_set_aside(learnings: list[Any], staged: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        main, staging = folder / "ralph-learnings.json", folder / "staging.json"
        main.write_text(json.dumps({"version": "1.0.0", "learnings": learnings}))
        staging.write_text(json.dumps({"version": "1.0.0", "staged": staged}))
        store = KnowledgeStore(folder, "run-1")
        found = [one.learning for one in store.candidates("go", "feature")]
        store.stage([learning("Go.")])
        store.credit([Credit(one.learning_id, 1, success=True) for one in found])
        store.promote()
        for one in found:
            if any(entry["id"] == one.learning_id for entry in store.ledger().learnings):
                store.change(one.learning_id, "mute")
        for path, held in ((main, "learnings"), (staging, "staged")):
            if path.exists():
                document = parse_json(path.read_bytes())
                assert document["checksum"] == checksum(document[held])
        again = KnowledgeStore(folder, "run-1")
        assert stringify(again.ledger().learnings) == stringify(store.ledger().learnings)
        assert again.take_notices() == []


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_any_bytes_are_set_aside(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "ralph-learnings.json").write_bytes(content)
        store = KnowledgeStore(folder, "run-1")
        assert store.candidates("go", "feature") == []
        (notice,) = store.take_notices()
        assert "\n" not in notice
        (aside,) = folder.glob("*.damaged.*")
        assert aside.read_bytes() == content
