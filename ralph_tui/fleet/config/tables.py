"""The tables of a fleet's file: what can stand in each, and what is said of anything else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ralph_tui.config.files import SettingsFile
from ralph_tui.config.problems import closest, sentence
from ralph_tui.config.settings import Settings, Words
from ralph_tui.fleet.plan import MOST_AGENTS, MOST_TRIES
from ralph_tui.ports.clones import Isolation
from ralph_tui.text.durations import DAY, Seconds
from ralph_tui.text.sanitize import clip

OF_RUN = {
    "agent": "agent.name",
    "agent_command": "agent.command",
    "model": "agent.model",
    "max_iterations": "limits.max_iterations",
    "budget_usd": "limits.budget_usd",
    "timeout": "limits.session_timeout_s",
    "permissions": "permissions.mode",
}
"""Keys of an objective that are settings of its runs."""
Number = Annotated[int, Field(ge=1, le=1000)]


class Table(BaseModel):
    """Any of them: values have their types, and nothing else stands there."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Told(Table):
    """What an objective can say, and ``[fleet]`` for all of them."""

    command: Words | None = None
    criterion: Words | None = None
    until_promise: bool | None = None
    agent: Any = None
    agent_command: Any = None
    model: Any = None
    max_iterations: Any = None
    timeout: Any = None
    permissions: Any = None
    best_of: Annotated[int, Field(ge=1, le=MOST_TRIES)] | None = None
    choice: Literal["best", "first", "all"] | None = None
    """``all`` is the earlier name of ``best``."""
    account: Words | None = None


class FleetTable(Told):
    """What all loops share; `Plan` says what each means."""

    name: Words | None = None
    agents: Annotated[int, Field(ge=0, le=MOST_AGENTS)] | None = None
    """0: others run its loops, see ``--listen``."""
    budget_usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    base: Words | None = None
    isolation: Isolation | None = None
    setup: Words | None = None
    copied: list[Words] | None = Field(default=None, alias="copy", max_length=100)
    ports: Annotated[int, Field(ge=0, le=1000)] | None = None
    start_every: Annotated[Seconds, Field(ge=0, le=DAY)] | None = None
    lease: Annotated[Seconds, Field(ge=1, le=DAY)] | None = None


class AccountTable(Table):
    """A login."""

    agents: Number = 1
    """Loops at once."""


class ObjectiveTable(Told):
    """One objective."""

    text: Words | None = None
    issue: Annotated[int, Field(ge=1)] | None = None
    budget_usd: Any = None
    name: Words | None = None
    after: list[int | str] | None = Field(default=None, max_length=100)


T = TypeVar("T", bound=Table)
HERE = "\0"
"""In a sentence: the place of what it is about. No file has the character."""
SECTIONS: Mapping[str, type[Table]] = {
    "fleet": FleetTable, "account": AccountTable, "objective": ObjectiveTable,
}  # fmt: skip
HEADERS = {
    "fleet": "[fleet]",
    "account": "[account.NAME]",
    "objective": "[[objective]]",
}
"""How a table begins."""


@dataclass
class FileRead:
    """A file that is being checked, and what is wrong with it so far."""

    file: SettingsFile
    agents: Mapping[str, bool] = field(default_factory=dict)
    """The names that there are, and whether each runs an ``agent_command``; empty: any."""
    problems: list[tuple[int, str]] = field(default_factory=list)

    def place(self, name: str) -> str:
        """``path:line`` of a dotted name, or of what it stands in."""
        while name and not self.line(name):
            name = name.rpartition(".")[0]
        return self.file.place_of(name)

    def line(self, name: str) -> int:
        """The line on which a dotted name stands; 0: it does not."""
        place = self.file.place_of(name).rpartition(":")[2]
        return int(place) if place.isdigit() else 0

    def wrong(self, name: str, what: str) -> None:
        """`what` has `HERE` where the place belongs."""
        place = self.place(name)
        line = place.rpartition(":")[2]
        self.problems.append((int(line) if line.isdigit() else 0, what.replace(HERE, place)))


def settings_of(read: FileRead, table: Told, where: str) -> dict[str, str]:
    """What runs are told, by dotted name, checked as `run` would."""
    found: dict[str, str] = {}
    for key, name in OF_RUN.items():
        value = getattr(table, key, None)
        if value is None or (key == "budget_usd" and isinstance(table, FleetTable)):
            continue
        section, _, leaf = name.partition(".")
        try:
            Settings.model_validate({section: {leaf: value}}, strict=True)
        except ValidationError as error:
            shown = f"{where.partition('.')[0]}.{key}"
            said = sentence(error.errors(include_url=False)[0], HERE).replace(name, shown, 1)
            read.wrong(f"{where}.{key}", said)
        else:
            found[name] = str(value)
    return found


def checked(read: FileRead, model: type[T], table: Any, where: str) -> T | None:
    """A table with its types, without what is wrong in it; None where it is none."""
    section = where.partition(".")[0]
    if not isinstance(table, dict):
        name = f"account.{where.partition('.')[2]}" if section == "account" else where
        wanted = "[account.NAME] with agents = 1" if section == "account" else f"[{section}]"
        read.wrong(where, f"{name} ({HERE}) must be a table: write {wanted}")
        return None
    try:
        return model.model_validate(table)
    except ValidationError as error:
        bad: dict[str, Any] = {}
        for problem in error.errors(include_url=False):
            bad.setdefault(str(problem["loc"][0]), problem)
    for key, problem in bad.items():
        if problem["type"] == "extra_forbidden":
            known = [each.alias or name for name, each in model.model_fields.items()]
            read.wrong(f"{where}.{key}", unknown(key, known, HEADERS[section]))
        else:
            shown = where if section == "account" else section
            told = {**problem, "loc": (shown, problem["loc"][0])}
            read.wrong(f"{where}.{key}", sentence(told, HERE))
    return model.model_validate({key: value for key, value in table.items() if key not in bad})


def unknown(name: str, known: Iterable[str], where: str) -> str:
    """What is said of a key, or a section, that is none."""
    known = list(known)
    guess = closest(name, known)
    hint = f"did you mean {guess}?" if guess else f"known are {', '.join(known)}"
    return f"{clip(name, 80)!r} ({HERE}) is not known in {where}: {hint}"
