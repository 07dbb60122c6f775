"""A list screen's key as a row of the screen's key table.

Bindings, footer, help and palette are derived from that table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ralph_tui.text.keys import TABLE, Keys
from ralph_tui.tui.draw.spans import Line, clickable

V = TypeVar("V")
"""The list and its selection."""


@dataclass(frozen=True)
class Key(Generic[V]):
    """One row of the key table."""

    name: str
    """Name in `keys.TABLE`, which describes the key; empty if the key cannot be changed."""
    verb: str
    """Label in the footer."""
    task: str
    """Heading in the help."""
    action: str
    """The screen's action, in Textual's syntax; empty if the row appears only in the help."""
    refusal: Callable[[V], str] = lambda _: ""
    """Returns why the action is unavailable; empty if it is available."""
    footer: str = ""
    """When the footer shows the key; empty means never. The screen defines further values."""
    fixed: str = ""
    """Textual's names for keys that cannot be changed, comma-separated."""
    notation: str = ""
    about: str = ""
    """Notation of fixed keys, and their description in at most 27 cells."""
    details: Sequence[str] = ()
    """Further lines in the help."""
    blocking: bool = False
    """True if the app accepts no other key until the action is done."""

    def key_names(self, keys: Keys) -> str:
        """Return Textual's key names, comma-separated."""
        return self.fixed or ",".join(keys.of(self.name))

    def shown(self, keys: Keys) -> str:
        """Return the key's notation."""
        return self.notation or keys.shown(self.name)

    @property
    def help(self) -> str:
        """The key's description."""
        return self.about or TABLE[self.name].help


def move_keys(task: str, first: str, last: str) -> tuple[Key[Any], ...]:
    """Return the keys that move the selection; `first` and `last` describe home and end."""
    rows = (
        ("down,j", "↓ j", "next row", "move(1)"),
        ("up,k", "↑ k", "previous row", "move(-1)"),
        ("pagedown,space", "page ↓", "one page down", "page(1)"),
        ("pageup", "page ↑", "one page up", "page(-1)"),
        ("home", "home", first, "move(-1000000)"),
        ("end", "end", last, "move(1000000)"),
        ("", "mouse", "click selects; twice opens", ""),
    )
    return tuple(
        Key("", "", task, action, fixed=keys, notation=shown, about=about)
        for keys, shown, about, action in rows
    )


ALWAYS: tuple[Key[Any], ...] = (
    Key("theme", "theme", "look", "theme"),
    Key("help", "help", "look", "help", footer="always"),
    Key("leave", "leave", "leave", "leave", footer="always"),
    Key("", "", "leave", "", notation="ctrl+c", about="the same"),
)
"""Keys of every list screen."""


def key_spans(
    shown: Sequence[Key[V]], keys: Keys, bare: int, verb: Callable[[Key[V]], str] = lambda k: k.verb
) -> Line:
    """Draw keys in a row, the last `bare` without their verbs; a click presses one."""
    spans: Line = [(" ", "")]
    for index, key in enumerate(shown):
        hint: Line = [(key.shown(keys), "key")]
        if index < len(shown) - bare:
            hint.append((f" {verb(key)}", "text"))
        spans += [*clickable(hint, key.key_names(keys).split(",")[0]), ("  ", "")]
    return spans[:-1]


def help_by_task(
    table: Sequence[Key[V]], keys: Keys, tasks: Sequence[str]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Return the blocks of the help: each task with its keys and their descriptions."""
    for task in tasks:
        rows: list[tuple[str, str]] = []
        for key in table:
            if key.task == task:
                rows += [(key.shown(keys), key.help), *(("", each) for each in key.details)]
        yield task, rows
