"""Compare an iteration's work with the objective by words alone.

The agent gets the benefit of the doubt. The objective's topics, the open items of the plan and the
failing tests with their files, belong to it: one word of them in the work is enough. An objective
that is not clearly English, or names fewer than two things, is judged by them alone. For a long
objective a few words are enough, and words match loosely.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ralph_tui.layers.control import History
from ralph_tui.layers.oversight.behavior import Evidence
from ralph_tui.text.sanitize import clip
from ralph_tui.text.words import words_of

RELEVANT = 0.3
"""Share of the objective's words found in the work of a loop on course."""
FEWEST = 2
"""Words an objective must name before their absence means anything."""
ENOUGH = 10
"""Maximum words that the share refers to; a longer objective needs no more matches."""
SHORTEST = 3
"""Minimum letters of a word that names something."""
KNOWN = 4
"""Minimum letters that two words share, such as `config` and `configuration`."""
LISTED = 5
MOST = 200
"""Maximum words of an objective to search for."""

_ENGLISH = frozenset(
    words_of(
        "the and with from that this these those into when where which while should must then than "
        "there their they you your our its are was were been being have has had not but only also "
        "each every until without within make fix add implement write create improve update remove "
        "refactor clean ensure get run all any new failing broken missing green tests"
    )
)
"""Words hardly found in any other language; an English objective has at least one."""
_FOREIGN = frozenset(
    words_of(
        "der die das den dem des ein eine und ist nicht mit von zu auf bei alle bitte "
        "le la les un une du aux et est pas pour avec dans sur que qui "
        "el los las una y por con para del al como il lo gli di della che non "
        "os um uma da dos em de het een en voor niet van met zijn "
        "och att det som inte med og til ikke ja nie na si sa"
    )
)
"""Common words of other languages; an objective with one of them is not compared."""
_GENERAL = _ENGLISH | frozenset(
    words_of(
        "able about above after again against allow always another app application apps around as "
        "at available back base based before behavior behaviour below best better between both "
        "bug bugs build builds can case cases change changed changes check checks code codebase "
        "command complete completed completely completion configure convert correct correctly "
        "could current currently did disable do document does doing done down during easy either "
        "else enable end error errors even everything example existing expected extend fail "
        "failed fails failure failures fast faster feature features few file files find finish "
        "finished first fixed fixes fixing folder for full fully function functions general given "
        "good green handle happen help how implementation implemented implementing important "
        "improved improvement improving increase instead integrate introduce issue issues job "
        "just keep kind last least less let like line lines list look made making many may might "
        "migrate module modules more most move much need needed needs never next nice nothing now "
        "off old once one open optimize other others out over own package part parts pass passed "
        "passes passing perform performance please port possible present prevent problem problems "
        "program project projects proper properly provide quality ready reduce refactored "
        "refactoring release rename repair replace repo repository required resolve rewrite right "
        "same see set setup several show simple since small software solve some something still "
        "such suite support sure task tasks test tested testing them thing things three todo too "
        "turn two under unit unless use used using very via want way well what whole why will "
        "work working works would wrong yet"
    )
)
"""Words of any task, which name nothing in particular."""


@lru_cache(maxsize=8)
def named_by(objective: str) -> tuple[str, ...]:
    """Return the objective's distinctive words, each once; empty in case of doubt."""
    words = dict.fromkeys(words_of(objective))
    if _ENGLISH.isdisjoint(words) or not _FOREIGN.isdisjoint(words):
        return ()
    if not all(word.isascii() for word in words):
        return ()
    return _distinctive(words)


def _distinctive(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that name something in particular, each once."""
    useful = (
        word
        for word in dict.fromkeys(words)
        if len(word) >= SHORTEST and not word.isdigit() and word not in _GENERAL
    )
    return tuple(useful)[:MOST]


def deviation(history: History, evidence: Evidence) -> str | None:
    """Describe a deviation: files changed, the best did not rise, and hardly any words match."""
    before = history.best_before(1)
    if not evidence.changed or history.complete or before is None or history.rose_since(before):
        return None
    wanted = _missing(evidence)
    if not wanted:
        return None
    listed = ", ".join(clip(word, 30) for word in wanted[:LISTED])
    more = ", ..." if len(wanted) > LISTED else ""
    return (
        "The changed files, failing tests and report contain hardly any words of "
        f"{_whose(evidence)} ({listed}{more}); changed: "
        f"{clip(', '.join(evidence.changed[:LISTED]), 120)}."
    )


def _missing(evidence: Evidence) -> tuple[str, ...]:
    """Return the words that the work lacks; empty if it is on course, or in case of doubt."""
    topics = _distinctive(words_of(" ".join(evidence.topics)))
    done = words_of(" ".join([*evidence.changed, evidence.words]))
    if _occurring(topics, done):
        return ()
    if len(named_by(evidence.objective)) >= FEWEST:
        return missing_from(evidence.objective, " ".join([*done, *evidence.failing]))
    return topics if len(topics) >= FEWEST else ()


def _whose(evidence: Evidence) -> str:
    named = len(named_by(evidence.objective)) >= FEWEST
    return "the objective" if named else "the plan or the failing tests"


def missing_from(objective: str, work: str) -> tuple[str, ...]:
    """Return the objective's words if too few of them occur in `work`; else an empty tuple."""
    wanted = named_by(objective)
    if len(wanted) < FEWEST:
        return ()
    found = _occurring(wanted, words_of(work))
    return wanted if found < RELEVANT * min(len(wanted), ENOUGH) else ()


def _occurring(wanted: Sequence[str], work: Iterable[str]) -> int:
    """Count the wanted words that occur in the work."""
    tokens = frozenset(work)
    text = " ".join(tokens)
    return sum(_is_in(word, tokens, text) for word in wanted)


def _is_in(word: str, tokens: frozenset[str], text: str) -> bool:
    """True if the word, its stem or a prefix of it occurs."""
    stem = word[: max(KNOWN, len(word) - 3)]
    return stem in text or any(word[:end] in tokens for end in range(KNOWN, len(word)))
