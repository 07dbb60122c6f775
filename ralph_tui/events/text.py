"""The types of every text field of an event: foreign text that is sanitized."""

from typing import Annotated, Any

from pydantic import AfterValidator

from ralph_tui.text.sanitize import one_line, one_name, plain

Plain = Annotated[str, AfterValidator(plain)]
"""Untrusted text of any number of lines."""

Line = Annotated[str, AfterValidator(one_line)]
"""Untrusted text that stays on one line: names, paths, titles."""

Name = Annotated[str, AfterValidator(one_name)]
"""As `Line`, for names that come again in event after event: equal ones are one string."""


def cleaned(value: Any) -> Any:
    """Foreign JSON with every text in it sanitized, names of fields too."""
    match value:
        case str():
            return plain(value)
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {plain(str(key)): cleaned(item) for key, item in value.items()}
        case _:
            return value
