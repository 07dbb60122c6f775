"""An argparse parser whose errors are one sentence with a hint; quick to import."""

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from ralph_tui.base.errors import UsageError

_SENTENCES = (
    (r"argument (.+?): invalid int value: (.*)", r"\1 takes a whole number, not \2"),
    (r"argument (.+?): invalid float value: (.*)", r"\1 takes a number, not \2"),
    (r"argument (.+?): invalid choice: (.*) \(choose from (.*)\)", r"\1 takes \3, not \2"),
    (r"argument (.+?): expected one argument", r"\1 needs a value"),
    (r"argument (.+?): expected at least one argument", r"\1 needs at least one value"),
    (r"argument (.+?): ignored explicit argument (.*)", r"\1 takes no value, not \2"),
    (r"argument (.+?): not allowed with argument (.*)", r"\1 cannot be combined with \2"),
    (r"the following arguments are required: ([^,]*)", r"\1 is missing"),
    (r"the following arguments are required: (.*)", r"missing: \1"),
    (r"one of the arguments (.*) is required", r"one of these is required: \1"),
)
"""Patterns of argparse's messages, and the sentences that replace them."""


LEAST_LIKENESS = 0.7
"""Minimum similarity of a suggestion, 0-1; below it, other words of that length match by chance."""


class Parser(argparse.ArgumentParser):
    """Raises ``UsageError`` instead of printing usage; accepts no abbreviations."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        for pattern, words in _SENTENCES:
            if found := re.fullmatch(pattern, message, re.DOTALL):
                message = found.expand(words)
        raise UsageError(f"{message}; see {self.prog} --help")

    def refuse_extras(self, extras: list[str]) -> NoReturn:
        """Refuse extra arguments, suggesting the option that was probably meant."""
        option = next((word for word in extras if word.startswith("-")), None)
        if option is None:
            self.error(f"unexpected argument {extras[0]!r} (put text with spaces in quotes)")
        option = option.partition("=")[0]
        known = list(self._option_string_actions)
        if option in known:
            raise UsageError(f"{option} belongs after its command: {self.prog} {option} ...")
        hint = did_you_mean(option, known) or f"; see {self.prog} --help"
        raise UsageError(f"{self.prog} has no option {option}{hint}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``, did you mean X?``, or an empty string if no known word is similar."""
    near = difflib.get_close_matches(word[:80], known, n=1, cutoff=LEAST_LIKENESS)
    return f", did you mean {near[0]}?" if near else ""


def add_run_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--run``, which selects a run."""
    parser.add_argument(
        "--run",
        metavar="RUN",
        help="task, task/attempt, fleet/loop, folder or journal (default: the run of this folder)",
    )
