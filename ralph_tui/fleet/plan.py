"""The plan of a fleet: its loops and the limits they share; fixed when the fleet starts."""

from collections.abc import Iterator, Sequence
from typing import Any

from ralph_tui.events.base import Fact
from ralph_tui.events.text import Line, Plain
from ralph_tui.ports.clones import Choice, Isolation, Loop

HERE = "here"
"""Name of the host within the fleet's own process."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_TRIES = len(_LETTERS)
"""Maximum number of attempts at one objective; each is identified by a letter."""
MAX_AGENTS = 100
"""Maximum number of loops at once on one machine; more would exhaust its file watches."""
MAX_NAMED = 4
"""Maximum number of loops or branches that are listed by name."""
FLEET_SENDER = "the fleet"
"""Sender's name in commands that the fleet itself sends to its loops."""


class Plan(Fact):
    """A fleet as the user requested it."""

    name: Line = ""
    loops: tuple[Loop, ...] = ()
    agents: int = 2
    """Maximum number of loops at once on this machine."""
    budget_usd: float | None = None
    """For all loops together; None for no limit."""
    base: Line = "HEAD"
    """Branch or commit that every loop begins with, as the user named it."""
    isolation: Isolation = "clone"
    setup: Plain = ""
    """Shell command to run once in every new clone; empty for none."""
    copied: tuple[Line, ...] = ()
    """Files and folders ignored by git that every new clone gets; relative to the repository."""
    ports: int = 10
    """Ports reserved for each slot."""
    start_every_s: float = 5.0
    """Minimum number of seconds between two starts with one account."""
    lease_s: float = 600.0
    """Seconds that a host without contact to the fleet continues before it stops its loops."""
    accounts: dict[Line, int] = {}
    """Maximum number of loops that use an account at once."""


def expand_attempts(name: str, number: int, choice: Choice, **fields: Any) -> Iterator[Loop]:
    """Yield the loops for an objective: one, such as ``3``, or several attempts.

    Attempts are called ``3a`` and ``3b``, or ``auth-a`` and ``auth-b`` for a named objective.
    """
    if number == 1:
        yield Loop(id=name, **fields)
        return
    dash = "" if name.isdigit() else "-"
    for letter in _LETTERS[:number]:
        yield Loop(id=f"{name}{dash}{letter}", tries_at=name, choice=choice, **fields)


def host_words(name: str) -> str:
    """Return a host's name for display; the fleet's own process is "this machine"."""
    return "this machine" if name == HERE else name


def account_words(login: str) -> str:
    """Return an account's name for display; an unnamed account is the agent's own login."""
    return f"account {login}" if login else "the agent's login"


def join_names(names: Sequence[str]) -> str:
    """List names for display, such as ``3, 4, 5, 6 and 2 more``."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
