"""Order of learnings: unproven ones, the newer of two, one that is tried again."""

from ralph_tui.layers.memory.knowledge import with_use
from ralph_tui.layers.memory.prompt import learning_line
from ralph_tui.layers.memory.retrieval import LIMITS, Candidate, retrieve
from tests.unit.layers.memory.learnings import learning
from tests.unit.layers.memory.test_retrieval import many


def test_two_places_are_for_unproven_ones() -> None:
    proven = [one for type_ in LIMITS for one in many(type_, 4)]
    said = [Candidate(learning(text, standing="staged", confidence=0.6)) for text in "qrs"]
    sent = [one for one in retrieve([*proven, *said], "test-fix") if one.in_prompt]
    assert [one.standing for one in sent] == ["proven"] * 3 + ["staged"] * 2
    pinned = many("strategy", 5, pinned=True)
    sent = [one for one in retrieve([*pinned, *said], "test-fix") if one.in_prompt]
    assert all(one.pinned for one in sent), "pinned ones come before them"


def test_of_two_that_contradict_each_other_the_newer_comes_first_and_each_names_the_other() -> None:
    old = learning("Run the tests in parallel here", "convention", confidence=0.9)
    new = learning("Never run the tests in parallel here", "convention", confidence=0.7)
    candidates = [Candidate(old, 2.0, "2026-01-01"), Candidate(new, 1.0, "2026-02-01")]
    first, second = retrieve(candidates, "test-fix")
    assert (first.text, second.text) == (new.text, old.text)
    assert first.contradicts == [old.learning_id]
    assert second.contradicts == [new.learning_id]
    assert f"it contradicts {old.learning_id}, which is older" in first.why
    assert f"it contradicts {new.learning_id}, which is newer" in second.why
    for one in (first, second):
        assert "contradicts another note; the newer one comes first" in learning_line(one)


def test_what_was_dropped_comes_back_once_alone_after_five_runs() -> None:
    dropped = [
        learning(text, uses=2, success_rate=0.5, rested=rested)
        for text, rested in (("alpha", 5), ("beta", 5), ("gamma", 4))
    ]
    (found,) = retrieve([Candidate(one, 1.0) for one in dropped], "test-fix")
    assert found.again
    assert found.in_prompt
    assert "unproven again" in learning_line(found)
    assert "it was not used in 5 runs, so it gets another try" in found.why
    (same,) = retrieve([Candidate(one, 1.0) for one in dropped], "test-fix", found.learning_id)
    assert same == found
    tried = [with_use(one, success=False) for one in dropped[:1]]
    assert tried[0].rested == 0
    assert retrieve([Candidate(one) for one in tried], "test-fix") == []
    helped = with_use(dropped[0], success=True)
    assert (helped.uses, helped.successes, helped.rested) == (1, 1, 0)
    (back,) = retrieve([Candidate(helped)], "test-fix")
    assert not back.again
    rest = [Candidate(one, 1.0) for one in dropped[1:]]
    assert retrieve(rest, "test-fix", dropped[0].learning_id) == [], "one in a run"
