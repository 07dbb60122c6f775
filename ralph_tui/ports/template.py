"""A layout of prompts that the user brings."""

from collections.abc import Callable
from dataclasses import dataclass

from ralph_tui.layers.intelligence.template import Template


@dataclass(frozen=True)
class PromptTemplate:
    """A template's file as it was read when the run began: later changes of it do not count."""

    name: str
    """As it was set."""
    text: str
    template: Template
    read: Callable[[], str]
    """Its text now; blocking, a job. Raises ``UsageError``."""
