"""Search terms of a text."""

from ralph_tui.adapters.search.terms import query_terms, stem, terms
from tests.rows import each_row


@each_row(
    "words",
    [
        "fail fails failed failing",
        "test tests tested testing tester",
        "cache caches cached caching",
        "order orders ordered ordering",
        "run runs running runner",
        "dependency dependencies",
        "class classes",
        "log logs logged logging logger",
    ],
)
def test_forms_of_a_word_are_one_term(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


def test_other_words_are_others() -> None:
    kept = ("class", "status", "access", "date", "data", "use", "user", "analysis", "2026", "größe")
    assert len({stem(word) for word in kept}) == len(kept)


def test_a_name_is_found_whole_and_by_its_parts() -> None:
    assert terms("OrderManager") == ["ordermanag", "order", "manag"]
    assert terms("OAuth") == ["oauth", "auth"]
    assert terms("read_config") == ["read", "config"]


def test_fillers_are_sought_only_alone() -> None:
    assert query_terms("the other tests after the fix") == ["test", "fix"]
    assert query_terms("to be") == ["to", "be"]
    assert query_terms("") == []
