"""What a fleet is to run: its loops, and the limits they share. Written once, when it starts."""

from collections.abc import Iterator, Sequence
from typing import Any

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain
from ralph_tui.ports.clones import Choice, Isolation, Loop

HERE = "here"
"""The name of the host that is a part of the fleet's own process."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST_TRIES = len(_LETTERS)
"""At one objective: each has a letter."""
MOST_AGENTS = 100
"""Loops at once on one machine: beyond that its watches of files end."""
NAMED = 4
"""Loops, or branches, that are named one by one."""
SIGNED = "the fleet"
"""Who gives the commands that the fleet itself gives to its loops."""


class Plan(Fact):
    """A fleet as it was asked for."""

    name: Line = ""
    loops: tuple[Loop, ...] = ()
    agents: int = 2
    """Loops that run at once on this machine."""
    budget_usd: float | None = None
    """Over all loops; None: no limit."""
    base: Line = "HEAD"
    """The branch or commit that every loop begins with, as it was named."""
    isolation: Isolation = "clone"
    setup: Plain = ""
    """A shell command that is run once in every new tree; empty: none."""
    copied: tuple[Line, ...] = ()
    """Files and folders that git ignores, which every new tree gets; relative to the repository."""
    ports: int = 10
    """How many ports each slot has for itself."""
    start_every_s: float = 5.0
    """At least so many seconds lie between two starts on one account."""
    lease_s: float = 600.0
    """How long a host that has lost the fleet goes on before it stops its loops in order."""
    accounts: dict[Line, int] = {}
    """How many loops may use a login at once."""


def tries_at(name: str, number: int, choice: Choice, **fields: Any) -> Iterator[Loop]:
    """The loops for one objective: ``3``, or several tries ``3a``, ``3b``; of a name ``auth-a``."""
    if number == 1:
        yield Loop(id=name, **fields)
        return
    dash = "" if name.isdigit() else "-"
    for letter in _LETTERS[:number]:
        yield Loop(id=f"{name}{dash}{letter}", tries_at=name, choice=choice, **fields)


def host_words(name: str) -> str:
    """A host as people read it: that of the fleet's own process is the machine they are at."""
    return "this machine" if name == HERE else name


def account_words(login: str) -> str:
    """A login as people read it; its name is that of an agent where no account was named."""
    return f"account {login}" if login else "the login"


def some(names: Sequence[str]) -> str:
    """``3, 4, 5, 6 and 2 more``."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
