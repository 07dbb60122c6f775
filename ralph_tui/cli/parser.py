"""argparse whose every refusal is one sentence with a hint. Imports nothing heavy: ``--help``."""

import argparse
import difflib
from collections.abc import Iterable
from typing import Any, NoReturn

from ralph_tui.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Raises ``UsageError`` where argparse prints its usage; guesses no abbreviations."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UsageError(f"{message}: see {self.prog} --help")

    def refuse_extras(self, extras: list[str]) -> NoReturn:
        """Refuse what no argument takes, naming the option that was probably meant."""
        option = next((word for word in extras if word.startswith("-")), None)
        if option is None:
            self.error(f"{extras[0]!r} is one word too many (put a text of several in quotes)")
        option = option.partition("=")[0]
        known = list(self._option_string_actions)
        if option in known:
            raise UsageError(f"{option} belongs behind its command: {self.prog} {option} ...")
        hint = did_you_mean(option, known) or f": see {self.prog} --help"
        raise UsageError(f"{self.prog} has no option {option}{hint}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``, did you mean X?``, or nothing when nothing is near."""
    near = difflib.get_close_matches(word[:80], known, n=1)
    return f", did you mean {near[0]}?" if near else ""
