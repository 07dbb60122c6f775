"""Compare an iteration's work with the objective by words alone.

The agent gets the benefit of the doubt: work on a calculator's lexer need not mention "calculator".
Work on an open item of the plan or on a failing test is always on course. If the objective is not
clearly English or names fewer than two things, only items and tests are compared. If they name
fewer than two things as well, nothing is compared. For a long objective, a few words are enough,
and words match loosely.
"""

from functools import lru_cache

from ralph_tui.layers.control.history import History
from ralph_tui.layers.oversight.behavior import Evidence
from ralph_tui.text.sanitize import clip
from ralph_tui.text.words import words_of

RELEVANT = 0.3
"""Minimum share of the objective's words that occur in work that is on course."""
FEWEST = 2
"""Number of distinctive words an objective needs before their absence means anything."""
ENOUGH = 10
"""Maximum number of words that the share is based on; a longer objective needs no more matches."""
SHORTEST = 3
"""Minimum number of letters in a word that names something."""
KNOWN = 4
"""Minimum number of letters that matching words share, as `config` and `configuration` do."""
LISTED = 5
MOST = 200
"""Maximum number of an objective's words to search for."""
GOALS = 100
"""Maximum number of open items, and of failing tests, that are compared."""

_ENGLISH = frozenset(
    words_of(
        "the and with from that this these those into when where which while should must then than "
        "there their they you your our its are was were been being have has had not but only also "
        "each every until without within make fix add implement write create improve update remove "
        "refactor clean ensure get run all any new failing broken missing green tests"
    )
)
"""Words rarely found in any other language; an English objective has at least one."""
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
"""Words that are common in tasks and name nothing in particular."""


@lru_cache(maxsize=8)
def named_by(objective: str) -> tuple[str, ...]:
    """Return the objective's distinctive words, each once; empty if in doubt."""
    words = frozenset(words_of(objective))
    if _ENGLISH.isdisjoint(words) or not _FOREIGN.isdisjoint(words):
        return ()
    if not all(word.isascii() for word in words):
        return ()
    return _distinctive(objective)


@lru_cache(maxsize=256)
def _distinctive(text: str) -> tuple[str, ...]:
    """Return the words that name something in particular, each once."""
    useful = (
        word
        for word in dict.fromkeys(words_of(text))
        if len(word) >= SHORTEST and not word.isdigit() and word not in _GENERAL
    )
    return tuple(useful)[:MOST]


def deviation(history: History, evidence: Evidence) -> str | None:
    """Describe a deviation: files changed, the best did not rise, and hardly any words match."""
    before = history.best_before(1)
    if not evidence.changed or history.complete or before is None or history.rose_since(before):
        return None
    work = " ".join([*evidence.changed, *evidence.failing, evidence.words])
    wanted = missing_from(evidence.objective, work)
    if not wanted and len(named_by(evidence.objective)) >= FEWEST:
        return None
    # A test that still fails is no evidence of work on it.
    apart = missing_goals(evidence, " ".join([*evidence.changed, evidence.words]))
    if apart is None or not (wanted or apart):
        return None
    whose = "the objective's words" if wanted else "the words of the open items and failing tests"
    return (
        f"The changed files{', failing tests' if wanted else ''} and report contain hardly any of "
        f"{whose} ({_listed(wanted or apart)}); "
        f"changed: {clip(', '.join(evidence.changed[:LISTED]), 120)}."
    )


def _listed(words: tuple[str, ...]) -> str:
    more = ", ..." if len(words) > LISTED else ""
    return ", ".join(clip(word, 30) for word in words[:LISTED]) + more


def missing_from(objective: str, work: str) -> tuple[str, ...]:
    """Return the objective's words if too few of them occur in `work`; else an empty tuple."""
    wanted = named_by(objective)
    return wanted if len(wanted) >= FEWEST and not _contains(work, wanted) else ()


def missing_goals(evidence: Evidence, work: str) -> tuple[str, ...] | None:
    """Return the words of open items and failing tests to compare with. Return None if `work`
    matches one of these, in any language, or a file named in the failing tests' output. Each goal
    is compared separately: an iteration works on one or a few.
    """
    goals = [named_by(evidence.objective)]
    goals += map(_distinctive, (*evidence.items[:GOALS], *evidence.failed_before[:GOALS]))
    if any(_contains(work, words) for words in goals if words):
        return None
    if any(path.rpartition("/")[2] in evidence.output_words for path in evidence.changed):
        return None
    named = [*map(named_by, evidence.items[:GOALS])]
    named += map(_distinctive, evidence.failed_before[:GOALS])
    wanted = dict.fromkeys(word for words in named for word in words)
    return tuple(wanted) if len(wanted) >= FEWEST else ()


def _contains(work: str, wanted: tuple[str, ...]) -> bool:
    """True if enough of the words occur in `work`."""
    tokens = frozenset(words_of(work))
    text = " ".join(tokens)
    found = sum(_is_in(word, tokens, text) for word in wanted)
    return found >= RELEVANT * min(len(wanted), ENOUGH)


def _is_in(word: str, tokens: frozenset[str], text: str) -> bool:
    """True if the word, its stem or a prefix of it occurs."""
    stem = word[: max(KNOWN, len(word) - 3)]
    return stem in text or any(word[:end] in tokens for end in range(KNOWN, len(word)))
