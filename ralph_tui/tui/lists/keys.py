"""What a key does on a screen that lists something: a row of the table that such a screen has.

Bindings, footer, help and palette are made of that table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ralph_tui.text.keys import TABLE, Keys
from ralph_tui.tui.draw.spans import Line, clickable

V = TypeVar("V")
"""What is listed, and which row of it is selected."""


@dataclass(frozen=True)
class Key(Generic[V]):
    """One row."""

    name: str
    """Of its keys in `keys.TABLE`, which say what they do; empty: they are always the same."""
    verb: str
    """What the footer says."""
    task: str
    """Below which heading of the help it stands."""
    action: str
    """Of the screen, as Textual writes it; empty: it is only told in the help."""
    refusal: Callable[[V], str] = lambda _: ""
    """Why it cannot do what it does; empty when it can."""
    footer: str = ""
    """When the footer names it; empty: never. What else there is is the screen's affair."""
    fixed: str = ""
    """Textual's names, comma-separated."""
    written: str = ""
    said: str = ""
    """How fixed keys are written, and what they do in at most 27 cells."""
    details: Sequence[str] = ()
    """What the help says below that."""
    waits: bool = False
    """The app takes no other key while it is done."""

    def bound(self, keys: Keys) -> str:
        """Textual's names, comma-separated."""
        return self.fixed or ",".join(keys.of(self.name))

    def shown(self, keys: Keys) -> str:
        """How it is written."""
        return self.written or keys.shown(self.name)

    @property
    def help(self) -> str:
        """What it does."""
        return self.said or TABLE[self.name].help


def moving(task: str, first: str, last: str) -> tuple[Key[Any], ...]:
    """How a row is selected; `first` and `last` are the words for those at either end."""
    rows = (
        ("down,j", "↓ j", "the next one", "move(1)"),
        ("up,k", "↑ k", "the one before", "move(-1)"),
        ("pagedown,space", "page ↓", "a screenful further", "page(1)"),
        ("pageup", "page ↑", "a screenful back", "page(-1)"),
        ("home", "home", first, "move(-1000000)"),
        ("end", "end", last, "move(1000000)"),
        ("", "mouse", "click selects, twice opens", ""),
    )
    return tuple(
        Key("", "", task, action, fixed=keys, written=shown, said=said)
        for keys, shown, said, action in rows
    )


ALWAYS: tuple[Key[Any], ...] = (
    Key("theme", "theme", "look", "theme"),
    Key("help", "help", "look", "help", footer="always"),
    Key("leave", "leave", "leave", "leave", footer="always"),
    Key("", "", "leave", "", written="ctrl+c", said="the same"),
)
"""What every such screen has."""


def key_spans(
    shown: Sequence[Key[V]], keys: Keys, bare: int, verb: Callable[[Key[V]], str] = lambda k: k.verb
) -> Line:
    """Keys in a row, the last `bare` of them without their verbs; a click presses one."""
    spans: Line = [(" ", "")]
    for index, key in enumerate(shown):
        told: Line = [(key.shown(keys), "key")]
        if index < len(shown) - bare:
            told.append((f" {verb(key)}", "text"))
        spans += [*clickable(told, key.bound(keys).split(",")[0]), ("  ", "")]
    return spans[:-1]


def told_by_task(
    table: Sequence[Key[V]], keys: Keys, tasks: Sequence[str]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The blocks of the help: each task with its keys and what they do."""
    for task in tasks:
        rows: list[tuple[str, str]] = []
        for key in table:
            if key.task == task:
                rows += [(key.shown(keys), key.help), *(("", each) for each in key.details)]
        yield task, rows
