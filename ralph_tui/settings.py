"""What a user can set: types, ranges, defaults. ``config.py`` says where values come from."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ralph_tui.control.settings import ControlSettings
from ralph_tui.oversight.settings import OversightSettings

DAY = 86_400.0

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhd])")


def _seconds(value: object) -> object:
    """``"90"``, ``"90s"``, ``"30m"``, ``"1.5h"`` as seconds; what is not text stays."""
    if not isinstance(value, str):
        return value
    if match := _DURATION.fullmatch(value.strip()):
        return float(match[1]) * _UNITS[match[2]]
    try:
        return float(value)
    except ValueError:
        raise ValueError("must be seconds or a duration such as 90s, 30m or 8h") from None


def _lines(value: object) -> object:
    """Text as the list of its lines: how environment and ``--set`` write one."""
    return (
        [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
    )


def _words(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


def _none_if_empty(value: object) -> object:
    """Empty text takes back what a file has set."""
    return None if value == "" else value


Seconds = Annotated[float, BeforeValidator(_seconds)]
Words = Annotated[str, Field(max_length=10_000), AfterValidator(_words)]
NoneIfEmpty = BeforeValidator(_none_if_empty)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AgentSettings(_Section):
    """Who works on the prompt."""

    name: Annotated[Words | None, NoneIfEmpty] = None
    """Which adapter runs it: ``claude``, ``command``; None: Claude Code where it is installed."""
    binary: Words = "claude"
    """Claude Code's program: a name on PATH, or a path."""
    silence_s: Seconds = Field(default=600.0, ge=10, le=DAY)
    """Seconds without output or a changed file, after which the owner is asked."""
    silence_answer_s: Seconds = Field(default=300.0, ge=1, le=DAY)
    """Seconds after which that question is answered by its default."""
    command: Annotated[Words | None, NoneIfEmpty] = None
    """For ``command``: a shell command that takes the prompt on stdin."""
    model: Annotated[Words | None, NoneIfEmpty] = None
    """Passed on to the agent; None leaves the choice to it."""


class PermissionSettings(_Section):
    """What the agent may do without being asked."""

    mode: Literal["edits", "skip"] = "edits"
    """``edits``: file edits and the completion command; ``skip``: everything."""
    allow: Annotated[tuple[Words, ...], BeforeValidator(_lines), Field(strict=False)] = ()
    """Further tools, one permission line each."""


class LimitSettings(_Section):
    """When a run ends without having completed."""

    max_iterations: int = Field(default=10, ge=1, le=1000)
    """Iterations."""
    session_timeout_s: Seconds = Field(default=8 * 3600.0, ge=1, le=7 * DAY)
    """Seconds one agent session may take, or text such as ``"90m"``."""
    budget_usd: Annotated[float | None, Field(gt=0, le=1_000_000), NoneIfEmpty] = None
    """US dollars for the whole run; None: no limit."""
    iteration_budget_usd: Annotated[float | None, Field(gt=0, le=1_000_000), NoneIfEmpty] = None
    """US dollars for one iteration; None: no limit."""
    iteration_budget_tokens: Annotated[int | None, Field(gt=0, le=10**12), NoneIfEmpty] = None
    """Tokens for one iteration; None: no limit."""
    budget_tokens: Annotated[int | None, Field(gt=0, le=10**12), NoneIfEmpty] = None
    """Tokens for the whole run; None: no limit."""


class GateSettings(_Section):
    """How the completion command is run."""

    timeout_s: Seconds = Field(default=1800.0, ge=1, le=DAY)
    """Seconds, or text such as ``"10m"``; a command that takes longer has failed."""


class CheckpointSettings(_Section):
    """When the present is captured while an agent works."""

    interval_s: Seconds = Field(default=1800.0, ge=10, le=DAY)
    """Seconds between checkpoints within a session, or text such as ``"15m"``."""


class UiSettings(_Section):
    """How the cockpit looks."""

    theme: Annotated[Words | None, NoneIfEmpty] = None
    """Name of a Textual theme; None: its default."""


class Settings(_Section):
    """Everything a user can set; immutable, passed explicitly, never global."""

    agent: AgentSettings = AgentSettings()
    permissions: PermissionSettings = PermissionSettings()
    limits: LimitSettings = LimitSettings()
    gate: GateSettings = GateSettings()
    control: ControlSettings = ControlSettings()
    oversight: OversightSettings = OversightSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    ui: UiSettings = UiSettings()
    progress: Literal["auto", "tests", "plan", "agent", "estimate"] = "auto"
    """Which source says how complete the work is."""

    def by_name(self) -> dict[str, str | float | int | bool | list[str] | None]:
        """Every value under its dotted name."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in leaves(self.model_dump())
        }


def leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values of nested tables; an empty table has none."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


NAMES = tuple(Settings().by_name())
"""Every setting's dotted name."""
