"""Content of the cockpit's help.

Rule: keys come from the table of actions, and signs from the glossary that all panes use.
"""

from collections.abc import Sequence

from ralph_tui.text import terms
from ralph_tui.text.keys import DEFAULTS, TABLE, Keys
from ralph_tui.tui.actions import ACTIONS, TASKS, Action, is_offered
from ralph_tui.tui.modals.help import AT_WORK, Block, by_sign


def _sign(term: terms.Term, words: str = "") -> tuple[str, str]:
    return term.glyph, words or term.word


BESIDE: dict[str, Sequence[tuple[str, str]]] = {
    "watch": (
        ("1-9 tab", "go to a pane; the next pane"),
        ("↑ ↓", "move; also page, home, end"),
        ("enter", "open the selection"),
        ("esc", "close; then show all panes"),
        ("mouse", "click; shift+drag selects"),
    ),
    "steer": (("8, e", "edit the next prompt once"),),
    "go back": (
        ("3, ← →", "select an iteration"),
        ("v", "mark it to compare two"),
        ("enter", "show its changes as a diff"),
    ),
    "leave": (("ctrl+c", "like {leave}; twice skips asking"),),
    "replay": (
        ("mouse", "click the bar to go there"),
        _sign(terms.SHORTENED, "a shortened wait"),
        ("┼", "start of an iteration"),
    ),
}
"""Mouse actions and the keys of individual panes, by task; ``{name}`` becomes that action's key."""
IN_A_QUESTION: Block = (
    "in a question",
    (
        ("y n", "yes, no; a aborts"),
        ("e g", "edit; answer with guidance"),
        ("w", "answer in your own words"),
        ("space", "stop the countdown"),
        ("↑ ↓", "scroll"),
        ("esc", "answer later; {decide} reopens it"),
    ),
)
PAIRED: dict[str, tuple[str, str]] = {
    "grant": ("take_back", "add or remove an iteration"),
    "back": ("forward", "one event back, forward"),
    "back_iteration": ("forward_iteration", "one iteration back, forward"),
    "slower": ("faster", "half or double speed"),
    "start": ("end", "go to the start or end"),
    "next_mark": ("previous_mark", "next or previous alarm"),
}
"""Actions that share a row: the first maps to the second, and to the help text for both."""
LEARNINGS: Block = (
    "learnings",
    (("5, enter", "show a learning's details"), ("* m e x", "pin, mute, edit, delete it")),
)


SIGNS: tuple[Block, ...] = (
    (
        "signs",
        (
            _sign(terms.ASKED, "needs you"),
            _sign(terms.GOOD, "good, passed, helped"),
            _sign(terms.WARNING, "a warning"),
            _sign(terms.CRITICAL, "critical, or a question"),
            _sign(terms.LEVELS["owner"], "your request or answer"),
            ("└", "response or effect"),
            _sign(terms.BEST, "the best so far"),
            _sign(terms.PHASES["agent"], "running iteration"),
            _sign(terms.ROLLED_BACK, "files were restored"),
            _sign(terms.CHECKPOINTS["key"], "saved on request (◦ timer)"),
            _sign(terms.ROLLOVER, "handoff to a fresh session"),
            _sign(terms.COMPACTED, "context compacted"),
        ),
    ),
    ("run states", tuple(by_sign(terms.PHASES[name] for name in AT_WORK))),
    ("outcomes", tuple(by_sign([*terms.OUTCOMES.values(), terms.DIED]))),
    (
        "learning signs",
        tuple(
            _sign(term)
            for term in (
                terms.IN_PROMPT,
                terms.NO_HELP,
                terms.LEARNED,
                terms.PINNED,
                terms.MUTED,
                terms.UNPROVEN,
            )
        ),
    ),
    ("words", (("u", "strength of the correction"),)),
)


def _keys(actions: Sequence[Action], keys: Keys) -> list[tuple[str, str]]:
    """Return a row for each action or pair of actions."""
    second = {sections for sections, _ in PAIRED.values()}
    rows = []
    for name in (action.name for action in actions if action.name not in second):
        other, words = PAIRED.get(name, ("", TABLE[name].help))
        rows.append((" ".join(keys.shown(each) for each in (name, other) if each), words))
    return rows


def blocks(
    keys: Keys = DEFAULTS, *, live: bool, now: Sequence[Action] = (), asked: bool = False
) -> list[Block]:
    """Return this kind of screen's help, beginning with the keys in the footer (`now`) and signs.

    While a question is open (`asked`), the keys that answer it come first.
    """
    sections: list[Block] = []
    for task in TASKS:
        there = [a for a in ACTIONS if a.task == task and is_offered(a, live=live)]
        rows = _keys([a for a in there if a not in now], keys)
        if rows:
            beside = BESIDE.get(task, ()) if live or task != "steer" else ()
            sections.append((task, [*rows, *_with_keys(beside, keys)]))
    title, answers = IN_A_QUESTION
    question: list[Block] = [(title, _with_keys(answers, keys))] if live else []
    first: list[Block] = [("on this screen", _keys(now, keys))] if now else []
    before, after = (question, []) if asked else ([], question)
    return [*before, *first, *SIGNS[:2], *sections, *after, LEARNINGS, *SIGNS[2:]]


def _with_keys(rows: Sequence[tuple[str, str]], keys: Keys) -> list[tuple[str, str]]:
    return [(keys.expand(key), keys.expand(words)) for key, words in rows]
