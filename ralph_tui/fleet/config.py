"""Read a fleet file (TOML): the objectives of a fleet and its limits.

All errors are reported together, each as a sentence with ``path:line``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ralph_tui.base.errors import SettingsError, UsageError
from ralph_tui.config.files import SettingsFile, read_file
from ralph_tui.config.problems import closest, sentence
from ralph_tui.config.settings import Settings, Words
from ralph_tui.fleet.plan import MAX_AGENTS, MAX_TRIES, Plan, expand_attempts
from ralph_tui.ports.clones import Isolation, Loop
from ralph_tui.text.durations import DAY, Seconds
from ralph_tui.text.sanitize import clip

RUN_SETTINGS = {
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
    """A table of a fleet file; values are typed strictly and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _GivenKeys(Table):
    """Keys that are valid in an objective, and in ``[fleet]`` as defaults for all objectives."""

    command: Words | None = None
    criterion: Words | None = None
    until_promise: bool | None = None
    agent: Any = None
    agent_command: Any = None
    model: Any = None
    max_iterations: Any = None
    timeout: Any = None
    permissions: Any = None
    best_of: Annotated[int, Field(ge=1, le=MAX_TRIES)] | None = None
    choice: Literal["best", "first", "all"] | None = None
    """``all`` is the earlier name of ``best``."""
    account: Words | None = None


class FleetTable(_GivenKeys):
    """Values that all loops share; `Plan` documents each."""

    name: Words | None = None
    agents: Annotated[int, Field(ge=0, le=MAX_AGENTS)] | None = None
    """0 if only other hosts run its loops (see ``--listen``)."""
    budget_usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    base: Words | None = None
    isolation: Isolation | None = None
    setup: Words | None = None
    copied: list[Words] | None = Field(default=None, alias="copy", max_length=100)
    ports: Annotated[int, Field(ge=0, le=1000)] | None = None
    start_every: Annotated[Seconds, Field(ge=0, le=DAY)] | None = None
    lease: Annotated[Seconds, Field(ge=1, le=DAY)] | None = None


class AccountTable(Table):
    """An account that loops use."""

    agents: Number = 1
    """Maximum number of loops at once."""


class ObjectiveTable(_GivenKeys):
    """An ``[[objective]]`` table."""

    text: Words | None = None
    issue: Annotated[int, Field(ge=1)] | None = None
    budget_usd: Any = None
    name: Words | None = None
    after: list[int | str] | None = Field(default=None, max_length=100)


T = TypeVar("T", bound=Table)
PLACE = "\0"
"""Placeholder for the position that a message refers to; no file contains this character."""
SECTIONS: Mapping[str, type[Table]] = {
    "fleet": FleetTable, "account": AccountTable, "objective": ObjectiveTable,
}  # fmt: skip
HEADERS = {"fleet": "[fleet]", "account": "[account.NAME]", "objective": "[[objective]]"}
"""The header to write for each kind of table."""


@dataclass
class FileRead:
    """A file being checked, with the problems found so far."""

    file: SettingsFile
    agents: Mapping[str, bool] = field(default_factory=dict)
    """Known agents, and whether each runs an ``agent_command``; if empty, any name is accepted."""
    problems: list[tuple[int, str]] = field(default_factory=list)

    def place(self, name: str) -> str:
        """Return ``path:line`` of a dotted name, or of the nearest table that contains it."""
        while name and not self.line(name):
            name = name.rpartition(".")[0]
        return self.file.place_of(name)

    def line(self, name: str) -> int:
        """Return the line of a dotted name; 0 if the file does not contain it."""
        place = self.file.place_of(name).rpartition(":")[2]
        return int(place) if place.isdigit() else 0

    def add_problem(self, name: str, what: str) -> None:
        """Record a problem; `PLACE` in `what` is replaced by the place of `name`."""
        place = self.place(name)
        line = place.rpartition(":")[2]
        self.problems.append((int(line) if line.isdigit() else 0, what.replace(PLACE, place)))


def run_settings(read: FileRead, table: _GivenKeys, where: str) -> dict[str, str]:
    """Return the run settings of a table by dotted name, checked as `run` would check them."""
    found: dict[str, str] = {}
    for key, name in RUN_SETTINGS.items():
        value = getattr(table, key, None)
        if value is None or (key == "budget_usd" and isinstance(table, FleetTable)):
            continue
        section, _, leaf = name.partition(".")
        try:
            Settings.model_validate({section: {leaf: value}}, strict=True)
        except ValidationError as error:
            shown = f"{where.partition('.')[0]}.{key}"
            said = sentence(error.errors(include_url=False)[0], PLACE).replace(name, shown, 1)
            read.add_problem(f"{where}.{key}", said)
        else:
            found[name] = str(value)
    return found


def validate_table(read: FileRead, model: type[T], table: Any, where: str) -> T | None:
    """Validate a table and leave out invalid keys; return None if it is not a table."""
    section = where.partition(".")[0]
    if not isinstance(table, dict):
        name = f"account.{where.partition('.')[2]}" if section == "account" else where
        wanted = "[account.NAME] with agents = 1" if section == "account" else f"[{section}]"
        read.add_problem(where, f"{name} ({PLACE}) must be a table: write {wanted}")
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
            read.add_problem(f"{where}.{key}", describe_unknown(key, known, HEADERS[section]))
        else:
            shown = where if section == "account" else section
            value_given = {**problem, "loc": (shown, problem["loc"][0])}
            read.add_problem(f"{where}.{key}", sentence(value_given, PLACE))
    return model.model_validate({key: value for key, value in table.items() if key not in bad})


def describe_unknown(name: str, known: Iterable[str], where: str) -> str:
    """Describe an unknown key or section."""
    known = list(known)
    guess = closest(name, known)
    hint = f"did you mean {guess}?" if guess else f"choose from {', '.join(known)}"
    return f"{clip(name, 80)!r} ({PLACE}) is not known in {where}: {hint}"


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
MAX_SENTENCES = 500
"""Maximum number of problems reported; high, so that users can fix them all at once."""
RESERVED = frozenset({"all"})
"""Names that have another meaning in commands."""


def read_fleet_file(
    path: Path,
    agents: Mapping[str, bool] = MappingProxyType({}),
    is_commit: Callable[[str], bool] = lambda _: True,
) -> Plan:
    """Return the plan that a file describes; objectives that name an issue have no text yet.

    `agents` is as in `FileRead`. `is_commit` tests whether a base is a commit.

    Raises ``SettingsError`` with everything that is wrong, ``UsageError`` if the file cannot be
    read.
    """
    file = read_file(path, follow=True)
    if file is None:
        raise UsageError(f"there is no file {path}: create it, or pass another file")
    read = FileRead(file, agents)
    plan = _build_plan(read)
    _check_agents(read)
    if not is_commit(plan.base):
        read.add_problem(
            "fleet.base",
            f"fleet.base ({PLACE}) is {clip(repr(plan.base), 80)}, which is not a commit here: "
            "use a branch or a commit",
        )
    if read.problems:
        ordered = sorted(read.problems, key=lambda each: each[0])
        value_given = list(dict.fromkeys(sentence for _, sentence in ordered))
        raise SettingsError(value_given, MAX_SENTENCES)
    return plan


def _build_plan(read: FileRead) -> Plan:
    table = read.file.table
    for name in table:
        if name not in SECTIONS:
            read.add_problem(name, describe_unknown(name, SECTIONS, "a fleet's file"))
    fleet = validate_table(read, FleetTable, table.get("fleet", {}), "fleet") or FleetTable()
    _check_paths(read, fleet)
    accounts = _parse_accounts(read, table.get("account", {}))
    value_given = _check_objectives(read, table.get("objective", []))
    objectives = [
        validate_table(read, ObjectiveTable, one, f"objective.{place}")
        for place, one in enumerate(value_given)
    ]
    loops = list(
        _build_loops(read, fleet, [one or ObjectiveTable() for one in objectives], accounts)
    )
    times = {"start_every_s": fleet.start_every, "lease_s": fleet.lease}
    given = fleet.model_dump(include={*Plan.model_fields}) | times
    known = {name: value for name, value in given.items() if value is not None}
    return Plan.model_validate({**known, "loops": loops, "accounts": accounts})


def _check_objectives(read: FileRead, value_given: Any) -> list[Any]:
    if isinstance(value_given, dict):
        read.add_problem(
            "objective", f"objective ({PLACE}) must be written as [[objective]], once per objective"
        )
    elif not isinstance(value_given, list):
        read.add_problem("objective", f"objective ({PLACE}) must be a table: write [[objective]]")
    elif not value_given:
        read.add_problem("", f"{PLACE} has no [[objective]]: add one with a text and a command")
    return value_given if isinstance(value_given, list) else []


def _parse_accounts(read: FileRead, value_given: Any) -> dict[str, int]:
    if not isinstance(value_given, dict):
        read.add_problem("account", f"account ({PLACE}) must be a table: write [account.NAME]")
        return {}
    tables = {
        name: validate_table(read, AccountTable, value, f"account.{name}")
        for name, value in value_given.items()
    }
    return {name: table.agents if table else 1 for name, table in tables.items()}


def _build_loops(
    read: FileRead, fleet: FleetTable, objectives: list[ObjectiveTable], accounts: Mapping[str, int]
) -> Iterator[Loop]:
    ids = list(_objective_ids(read, objectives))
    _check_after(read, objectives, ids)
    common = run_settings(read, fleet, "fleet")
    made: set[str] = set()
    for place, one in enumerate(objectives):
        where = f"objective.{place}"
        if one.text is not None and one.issue is not None:
            read.add_problem(
                where, f"the objective ({PLACE}) has both text and an issue: leave one out"
            )
        if (
            one.text is None
            and one.issue is None
            and not _has_problem(read, place, "text", "issue")
        ):
            read.add_problem(where, f"the objective ({PLACE}) is empty: add text or an issue")
        goal = _end_condition(read, fleet, one, place)
        for loop in expand_attempts(
            ids[place],
            one.best_of or fleet.best_of or 1,
            "first" if (one.choice or fleet.choice) == "first" else "all",
            objective=one.text or "",  # an issue's text is fetched later
            **goal,
            issue=one.issue,
            account=_find_account(read, fleet, one, where, accounts),
            after=tuple(_after_ids(one, ids)),
            settings=_merge_settings(read, common, run_settings(read, one, where)),
        ):
            # Branch names become files, and some file systems ignore case.
            if loop.id.casefold() in made:
                twice = f"two loops would be called {loop.id!r} ({PLACE})"
                read.add_problem(f"{where}.name", f"{twice}: give one objective another name")
            made.add(loop.id.casefold())
            yield loop


def _end_condition(
    read: FileRead, fleet: FleetTable, one: ObjectiveTable, place: int
) -> dict[str, Any]:
    """Return the loop's fields that determine when an objective is complete."""
    own = one.command is not None or one.criterion is not None
    table = one if own else fleet
    promise = one.until_promise if one.until_promise is not None else fleet.until_promise
    if table.command is table.criterion and not _has_problem(read, place, "command", "criterion"):
        read.add_problem(
            f"objective.{place}",
            f"the objective ({PLACE}) has no completion command; add a command, or a "
            "criterion in words",
        )
    elif one.until_promise and (table.criterion is not None or table.command is None):
        read.add_problem(
            f"objective.{place}.until_promise",
            f"until_promise ({PLACE}) needs a command and no criterion; with a criterion, you "
            "are asked at each promise anyway",
        )
    return {
        "command": table.command,
        "criterion": table.criterion,
        "until_promise": bool(promise) and table.criterion is None,
    }


def _find_account(
    read: FileRead, fleet: FleetTable, one: ObjectiveTable, where: str, accounts: Mapping[str, int]
) -> str:
    account = one.account or fleet.account or ""
    if account and account not in accounts:
        guess = closest(account, accounts)
        hint = f"did you mean {guess}?" if guess else f"add [account.{account}] with agents = 1"
        read.add_problem(
            f"{where}.account" if one.account else "fleet.account",
            f"account {clip(account, 40)!r} ({PLACE}) is not in the file: {hint}",
        )
    return account


def _objective_ids(read: FileRead, objectives: list[ObjectiveTable]) -> Iterator[str]:
    """Yield the name of each objective, or its number, counted from 1."""
    seen: set[str] = set()
    for place, one in enumerate(objectives):
        name, where = one.name, f"objective.{place}.name"
        if name is not None and not _NAME.fullmatch(name):
            read.add_problem(
                where,
                f"objective.name ({PLACE}) must be a letter and then up to 39 letters, digits, "
                f"- and _, not {clip(repr(name), 80)}",
            )
            name = None
        if name in RESERVED:
            read.add_problem(
                where,
                f"objective.name ({PLACE}) cannot be {name!r}: in commands it means all loops; "
                "give it another name",
            )
            name = None
        if name in seen:
            read.add_problem(where, f"two objectives have the name {name!r} ({PLACE}): rename one")
            name = None
        if name is not None:
            seen.add(name)
        yield name or str(place + 1)


def _after_ids(one: ObjectiveTable, ids: list[str]) -> Iterator[str]:
    """Yield the ids of the objectives that this one waits for; skip unknown ones."""
    for value_given in dict.fromkeys(one.after or []):
        if isinstance(value_given, int) and 1 <= value_given <= len(ids):
            yield ids[value_given - 1]
        elif isinstance(value_given, str) and value_given in ids:
            yield value_given


def _check_after(read: FileRead, objectives: list[ObjectiveTable], ids: list[str]) -> None:
    waits = {ids[place]: list(_after_ids(one, ids)) for place, one in enumerate(objectives)}
    # An objective whose name was refused has a number for now; do not suggest that number.
    real = [name for name, one in zip(ids, objectives, strict=True) if one.name in (None, name)]
    for place, one in enumerate(objectives):
        where = f"objective.{place}.after"
        for value_given in one.after or []:
            known = (
                value_given in ids if isinstance(value_given, str) else 1 <= value_given <= len(ids)
            )
            if not known:
                guess = closest(str(value_given), real)
                known_are = f"choose from {', '.join(real[:20])}" if real else "leave it out"
                hint = f"did you mean {guess}?" if guess else known_are
                read.add_problem(
                    where,
                    f"after ({PLACE}) names {clip(repr(value_given), 80)}, "
                    f"not an objective: {hint}",
                )
        if _has_path(ids[place], ids[place], waits):
            read.add_problem(
                where, f"objective {ids[place]} waits for itself (after, {PLACE}): leave that out"
            )


def _has_path(begin: str, end: str, waits: Mapping[str, list[str]]) -> bool:
    seen: set[str] = set()
    left = list(waits[begin])
    while left:
        name = left.pop()
        if name == end:
            return True
        if name not in seen:
            seen.add(name)
            left += waits[name]
    return False


def _check_agents(read: FileRead) -> None:
    agents = read.agents
    value_given = read.file.table.get("objective")
    tables = {"fleet": read.file.table.get("fleet")}
    if isinstance(value_given, list):
        tables |= {f"objective.{place}": one for place, one in enumerate(value_given)}
    for where, table in tables.items():
        name = table.get("agent") if isinstance(table, dict) else None
        if not agents or not isinstance(table, dict) or not isinstance(name, str):
            continue
        if name not in agents:
            guess = closest(name, agents)
            hint = f"did you mean {guess}?" if guess else f"choose from {', '.join(agents)}"
            said = f"agent {clip(repr(name), 80)} ({PLACE}) is not known: {hint}"
            read.add_problem(f"{where}.agent", said)
        elif "agent_command" in table and not agents[name]:
            takers = " and ".join(one for one, takes in agents.items() if takes)
            read.add_problem(
                f"{where}.agent_command",
                f"agent_command ({PLACE}) is only for the agents {takers}, but agent is {name}: "
                "leave out one of the two",
            )


def _check_paths(read: FileRead, fleet: FleetTable) -> None:
    for path in fleet.copied or ():
        if Path(path).is_absolute() or ".." in Path(path).parts or path.startswith("~"):
            read.add_problem(
                "fleet.copy",
                f"fleet.copy ({PLACE}) must name paths within the repository, "
                f"not {clip(repr(path), 80)}",
            )


def _merge_settings(
    read: FileRead, common: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """Merge the shared settings with this objective's own, so that agent and command match.

    A shell command is run by the agent named ``command``, unless a named agent runs commands. An
    objective that names another agent does not inherit the shared command.
    """
    settings = {**common, **own}
    runs_it = read.agents.get(settings.get("agent.name", ""), False)
    if "agent.command" in own and "agent.name" not in own and not runs_it:
        settings["agent.name"] = "command"
    elif "agent.name" in own and "agent.command" not in own and not runs_it:
        settings.pop("agent.command", None)
    if "agent.command" in settings:
        settings.setdefault("agent.name", "command")
    return settings


def _has_problem(read: FileRead, place: int, *keys: str) -> bool:
    """True if one of these keys was given, here or in ``[fleet]``, so its error was reported."""
    objectives, fleet = read.file.table["objective"], read.file.table.get("fleet")
    one = objectives[place] if place < len(objectives) else {}
    given = {*one, *(fleet if isinstance(fleet, dict) else ())} if isinstance(one, dict) else None
    return given is None or not given.isdisjoint(keys)
