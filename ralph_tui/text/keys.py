"""Table of configurable keys, and the user's changes to it.

Rule: code that shows a key of the cockpit, home or a fleet's screen gets it from `Keys`.
Dialogs, panes and text fields have their own keys. This module is imported before the first frame,
so it imports next to nothing.
"""

import re
import string
import unicodedata
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import combinations
from typing import Literal, NamedTuple

Where = Literal["live", "replay", "everywhere", "home", "fleet", "fleet too", "home too"]
"""Screens that offer an action; ``everywhere`` is the cockpit, live or in replay.

``fleet too`` adds the fleet's screen, ``home too`` adds that and home.
"""


class KeyRow(NamedTuple):
    """The keys of one action."""

    keys: str
    """As written in a settings file, comma-separated; the first one is shown."""
    help: str
    """At most 27 cells, half a line of a small terminal."""
    where: Where = "everywhere"
    moves: bool = False
    """True if the action moves along the timeline and may share its keys with panes."""
    former: str = ""
    """The key in earlier versions, used again if the user assigns `keys` to another action."""


TABLE: Mapping[str, KeyRow] = {
    "decide": KeyRow("d", "answer the open question", "live"),
    "diff": KeyRow("f", "diff of the whole run", former="d"),
    "report": KeyRow("o", "report on the finished run"),
    "resume": KeyRow("u", "resume a run that ended"),
    "again": KeyRow("N", "run it again from the start", former="n"),
    "retry": KeyRow("w", "retry now without waiting", "live"),
    "pause": KeyRow("p", "pause or unpause the run", "live"),
    "guide": KeyRow("g", "send guidance to the agent", "live"),
    "abort": KeyRow("a", "abort the run (asks)", "live"),
    "checkpoint": KeyRow("c", "checkpoint the files now", "live"),
    "roll_over": KeyRow("C", "hand off to a new session", "live"),
    "interrupt": KeyRow("i", "interrupt this turn", "live"),
    "grant": KeyRow("+", "allow one more iteration", "live"),
    "take_back": KeyRow("-", "allow one fewer iteration", "live"),
    "restore": KeyRow("r", "restore a snapshot (asks)"),
    "play": KeyRow("space", "play or pause", "replay", moves=True),
    "back": KeyRow("left,comma", "go one event back", "replay", moves=True),
    "forward": KeyRow("right,.", "go one event forward", "replay", moves=True),
    "back_iteration": KeyRow("<,shift+left", "go one iteration back", moves=True),
    "forward_iteration": KeyRow(">,shift+right", "go one iteration forward", moves=True),
    "slower": KeyRow("[", "play at half the speed", "replay", moves=True),
    "faster": KeyRow("]", "play at double the speed", "replay", moves=True),
    "start": KeyRow("home", "go to the beginning", "replay", moves=True),
    "end": KeyRow("end", "go to the end", "replay", moves=True),
    "next_mark": KeyRow("m", "next alarm or question", "replay", moves=True),
    "previous_mark": KeyRow("M", "previous alarm or question", "replay", moves=True),
    "copy_text": KeyRow("y", "copy the pane's text"),
    "export": KeyRow("E", "export text, picture, JSON", former="e"),
    "zoom": KeyRow("z", "zoom one pane, or show all"),
    "prompt": KeyRow("P", "prompt as it was sent"),
    "search": KeyRow("/", "search all runs here", "home too"),
    "palette": KeyRow(":,ctrl+p", "find any command by name", "fleet too"),
    "theme": KeyRow("t", "theme: dark, light, ANSI", "home too"),
    "help": KeyRow("?,f1", "help: keys and signs", "home too"),
    "leave": KeyRow("q,ctrl+q,ctrl+c", "leave this screen", "home too"),
    "home_new": KeyRow("n", "start a new run (form)", "home"),
    "home_resume": KeyRow("u", "resume an ended run", "home", former="r"),
    "home_demo": KeyRow("D", "try it on a sample project", "home", former="d"),
    "home_fleet": KeyRow("F", "open the fleet", "home", former="f"),
    "fleet_decide": KeyRow("d", "answer a loop's question", "fleet"),
    "fleet_pause": KeyRow("p", "pause or unpause the loop", "fleet"),
    "fleet_pause_all": KeyRow("P", "pause or unpause all loops", "fleet"),
    "fleet_guide": KeyRow("g", "send guidance to its agent", "fleet"),
    "fleet_guide_all": KeyRow("G", "send guidance to all loops", "fleet"),
    "fleet_abort": KeyRow("a", "abort the loop (asks)", "fleet"),
    "fleet_abort_all": KeyRow("A", "abort all loops (asks)", "fleet"),
    "fleet_stop": KeyRow("s", "stop the fleet (asks)", "fleet"),
    "fleet_log": KeyRow("l", "show the log or the loops", "fleet"),
}
"""Keys by action name, which is also the setting's name."""

_NAMED = ("space", "left", "right", "home", "end", "insert", "delete")
_FUNCTION = tuple(f"f{number}" for number in range(1, 25))
_MOVE_KEYS = frozenset({"space", "left", "right", "home", "end", "shift+left", "shift+right"})
"""Pane keys that a replay uses to move in time, whichever pane has the focus."""
_FIXED_KEYS = frozenset(
    {"escape", "esc", "enter", "return", "tab", "shift+tab", "up", "down", "pageup", "pagedown",
     "backspace", "j", "k", "v", *string.digits}
)  # fmt: skip
"""Keys reserved for panes, dialogs and text fields."""
_SENT_AS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+h": "backspace"}
"""Keys that terminals send as another key, mapped to that key."""
_LEAVE_KEYS = ("ctrl+c", "ctrl+q")
"""Keys that leave every screen, in any configuration."""
_SIGNS = {
    **{sign: unicodedata.name(sign).lower().replace("-", "_").replace(" ", "_")
       for sign in string.punctuation},
    "/": "slash", "\\": "backslash", "@": "at", "-": "minus", "+": "plus", "_": "underscore",
}  # fmt: skip
"""Textual's names for punctuation keys."""
_SHOWN = {
    **{name: sign for sign, name in _SIGNS.items()},
    "left": "←",
    "right": "→",
    "shift+left": "shift+←",
    "shift+right": "shift+→",
}
_COCKPITS = frozenset({"live", "replay"})
_SCREENS: Mapping[Where, frozenset[str]] = {
    "live": frozenset({"live"}),
    "replay": frozenset({"replay"}),
    "everywhere": _COCKPITS,
    "home": frozenset({"home"}),
    "fleet": frozenset({"fleet"}),
    "fleet too": _COCKPITS | {"fleet"},
    "home too": _COCKPITS | {"fleet", "home"},
}
"""The screens that each value of `Where` covers."""
_EXAMPLES = "must be a key such as p, P, f5, ctrl+g or space"


def checked(action: str, text: str) -> str:
    """Return the keys set for an action. Raises ``ValueError`` if they are not allowed."""
    text = text.strip()
    allowed = _MOVE_KEYS if TABLE[action].moves else frozenset()
    for name in _names(text):
        if name in _LEAVE_KEYS and action != "leave":
            raise ValueError(f"must be another key: {name} always leaves")
        if name in _SENT_AS:
            raise ValueError(f"must be another key: terminals send {_SENT_AS[name]} for {name}")
        if name in _FIXED_KEYS or name in _MOVE_KEYS - allowed:
            raise ValueError(f"must be another key: panes and dialogs need {_shown(name)}")
    return text


def conflicts(chosen: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield pairs of actions on the same screen that share a key, with that key as shown."""
    of = {name: set(_names(text)) for name, text in _resolved(chosen).items()}
    for first, second in combinations(TABLE, 2):
        both = of[first] & of[second]
        # One key may serve two actions that never apply at the same time.
        meet = both and _overlap(TABLE[first].where, TABLE[second].where)
        if meet and not _default_keys(TABLE[first]) & _default_keys(TABLE[second]):
            yield first, second, _shown(min(both))


def _resolved(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of each action; a default yields to the former key if assigned elsewhere."""
    written = {name: chosen.get(name, row.keys) for name, row in TABLE.items()}
    for name, row in TABLE.items():
        others = (other for other in TABLE if written[other] != TABLE[other].keys)
        taken = {
            key
            for other in others
            if _overlap(row.where, TABLE[other].where)
            for key in _names(written[other])
        }
        if row.former and written[name] == row.keys and taken & {*_names(row.keys)}:
            written[name] = row.former
    return written


def _default_keys(row: KeyRow) -> set[str]:
    """Return the current and former default keys of an action."""
    return {*_names(row.keys), *(_names(row.former) if row.former else ())}


class Keys:
    """The configured keys of each action, as Textual names them."""

    def __init__(self, chosen: Mapping[str, object] | None = None) -> None:
        """`chosen` maps actions to keys as written; invalid ones are replaced by the defaults."""
        written = {
            name: text
            for name, text in (chosen or {}).items()
            if name in TABLE and isinstance(text, str) and _is_valid(name, text)
        }
        written = _resolved({} if any(conflicts(written)) else written)
        self._of = {name: tuple(_names(text)) for name, text in written.items()}

    def of(self, action: str) -> tuple[str, ...]:
        """Return Textual's names for an action's keys."""
        return self._of[action]

    def shown(self, action: str) -> str:
        """Return an action's key as shown to users."""
        return _shown(self._of[action][0])

    def expand(self, sentence: str) -> str:
        """Replace each action name in braces with that action's key."""
        return re.sub(r"\{([a-z_]+)\}", lambda found: self._named(found[1], found[0]), sentence)

    def _named(self, action: str, otherwise: str) -> str:
        return self.shown(action) if action in self._of else otherwise


def _names(text: str) -> Iterator[str]:
    for written in text.split(","):
        yield _name(written.strip())


def _name(written: str) -> str:
    """Return Textual's name for a key. Raises ``ValueError`` if there is no such key."""
    if len(written) == 1:
        if not written.isprintable() or written.isspace():
            raise ValueError(_EXAMPLES)
        return _SIGNS.get(written, written)
    held, plus, key = written.lower().rpartition("+")
    known = (
        *_NAMED,
        *_FUNCTION,
        *(name for name in _FIXED_KEYS if len(name) > 1 and "+" not in name),
    )
    if not plus and (key in known or key in _SIGNS.values()):
        return key
    if held == "shift" and re.fullmatch("[a-z]", key):
        return key.upper()
    if held in ("ctrl", "alt", "shift") and (key in known or re.fullmatch("[a-z]", key)):
        return f"{held}+{key}"
    # If the modifier may be the mistake, do not guess another key.
    right = plus and (len(key) == 1 or held not in ("ctrl", "alt", "shift"))
    meant = [] if right else get_close_matches(key[:20], (*known, *_SIGNS.values()), n=1)
    guess = f" (did you mean {held}{plus}{meant[0]}?)" if meant else ""
    raise ValueError(f"{_EXAMPLES}{guess}")


def _shown(name: str) -> str:
    return _SHOWN.get(name, name)


def _is_valid(action: str, text: str) -> bool:
    try:
        checked(action, text)
    except ValueError:
        return False
    return True


def _overlap(one: Where, other: Where) -> bool:
    """True if two actions can exist on the same screen."""
    return bool(_SCREENS[one] & _SCREENS[other])


DEFAULTS = Keys()
