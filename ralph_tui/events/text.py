"""The types of every text field of an event: foreign text that is sanitized."""

from typing import Annotated

from pydantic import AfterValidator

from ralph_tui.text.sanitize import one_line, plain

Plain = Annotated[str, AfterValidator(plain)]
"""Untrusted text of any number of lines."""

Line = Annotated[str, AfterValidator(one_line)]
"""Untrusted text that stays on one line: names, paths, titles."""
