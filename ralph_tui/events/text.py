"""Types for text fields of events: foreign text that is sanitized."""

from typing import Annotated, Any

from pydantic import AfterValidator

from ralph_tui.text.sanitize import one_line, one_name, plain

Plain = Annotated[str, AfterValidator(plain)]
"""Untrusted text of any number of lines."""

Line = Annotated[str, AfterValidator(one_line)]
"""Untrusted text on one line: names, paths, titles."""

Name = Annotated[str, AfterValidator(one_name)]
"""Like `Line`, for names that recur in many events: equal ones share one string."""


def cleaned(value: Any) -> Any:
    """Sanitize every text in foreign JSON, including the names of fields."""
    match value:
        case str():
            return plain(value)
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {plain(str(key)): cleaned(item) for key, item in value.items()}
        case _:
            return value
