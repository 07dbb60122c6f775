"""Past and present runs of a worktree, and what RUN means on the command line.

RUN may be a task (``task-001``) or its folder, a fleet's loop (``fleet-001/3a``), another worktree,
or ``hooks``; then its newest run is used. It may also be an attempt (``task-001/002``), the folder
of an attempt, a loop recorded by hooks, or a journal. Without RUN, the newest run of this worktree
is used.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.folders import named_path, numbered, ralph_folder
from ralph_tui.base.errors import UsageError, why
from ralph_tui.base.extensions import COMMANDS, is_installed
from ralph_tui.base.plain_files import reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.json_fields import as_map
from ralph_tui.text.sanitize import one_line

HOOKED = "hooks"
"""Folder of loops recorded by hooks; as a RUN argument, the newest of them."""
TASKS = "tasks.json"
"""File in that folder that names the attempts of these loops."""
SILENCE_S = 900.0
"""Seconds without an event before a hooked loop counts as lost; a tool may take ten minutes."""
NAMED = 5
"""Maximum number of fleets to name if there is no run; the newest are named."""
PLACE_FILE = "place.json"
"""File next to a loop's worktree that names its loop and fleet."""
STATUS_VERSION = 2
"""Version of ``status.json``; if a file is older, the journal is folded again."""


class RecordedRun(NamedTuple):
    """A run on disk that has been found but not read."""

    journal: Path

    @property
    def folder(self) -> Path:
        """The attempt's folder."""
        return self.journal.parent

    @property
    def status(self) -> Path:
        """Path of the status file."""
        return self.folder / "status.json"

    @property
    def name(self) -> str:
        """The name: ``task-001/002`` for an attempt, ``fleet-001/3a`` for a fleet's loop.

        A loop recorded by hooks is named ``hooks/`` plus its folder's name; any other run is named
        after its folder.
        """
        if self.hooked:
            return f"{HOOKED}/{self.folder.name}"
        if self.fleet is not None:
            return f"{self.fleet.name}/{self.loop}"
        if self.folder.parent.name == "attempts":
            return f"{self.folder.parent.parent.name}/{self.folder.name}"
        return self.folder.name

    @property
    def hooked(self) -> bool:
        """True if hooks recorded the run; then no process of ours runs it or can continue it."""
        above = self.folder.absolute().parent
        return above.name == HOOKED and above.parent.name == "ralph"

    @property
    def fleet(self) -> Path | None:
        """Folder of the fleet if the run is one of its loops; otherwise None.

        The loop runs in its own clone, and this run is a mirror of its record.
        """
        places = self.folder.absolute().parents
        mirrored = len(places) > 4 and (places[2].name, places[4].name) == ("loops", "fleets")
        return places[3] if mirrored else None

    @property
    def loop(self) -> str:
        """Id of the fleet's loop that the run mirrors; empty for any other run."""
        return self.folder.absolute().parents[1].name if self.fleet is not None else ""

    @property
    def of_fleet(self) -> bool:
        """True for a loop's mirror or a run in a loop's clone, which only the fleet resumes."""
        places = self.folder.absolute().parents
        tree = places[5] if len(places) > 6 else None
        own = tree is not None and tree.name == "tree" and (tree.parent / PLACE_FILE).exists()
        return own or self.fleet is not None

    @property
    def lock(self) -> Path:
        """Path of the worktree's or fleet's lock, which may not exist."""
        if self.hooked:
            return self.folder.parent.parent / "lock"
        if self.fleet is not None:
            return self.fleet.parent / "lock"
        return self.folder.parent.parent.parent.parent / "lock"


def find_runs(root: Path) -> Iterator[RecordedRun]:
    """Yield all runs of a worktree that have a journal, in order."""
    for task in numbered(ralph_folder(root) / "tasks"):
        yield from _runs_of_task(task)


def _runs_of_task(folder: Path) -> Iterator[RecordedRun]:
    """Yield the runs in a task's folder, in order."""
    for attempt in numbered(folder / "attempts"):
        if (attempt / "events.jsonl").exists():
            yield RecordedRun(attempt / "events.jsonl")


def find_mirrors(root: Path) -> Iterator[RecordedRun]:
    """Yield the mirrored runs of the loops in a repository's fleets.

    The repository has the snapshots of loops that have been collected.
    """
    fleets = ralph_folder(root) / "fleets"
    for journal in sorted(fleets.glob("*/loops/*/attempts/*/events.jsonl")):
        yield RecordedRun(journal)


def fleet_folders(root: Path) -> list[Path]:
    """Return the folders of a repository's fleets that have a journal, in order.

    Empty if the extension with the fleet commands is missing.
    """
    if not is_installed(COMMANDS["fleet"]):
        return []
    folders = numbered(ralph_folder(root) / "fleets")
    return [folder for folder in folders if (folder / "events.jsonl").exists()]


def describe_no_runs(root: Path, what: str = "run") -> str:
    """Explain why there is no run to show, and what the user can do."""
    fleets = [folder.name for folder in fleet_folders(root)]
    if not (fleets or (root / ".git").exists()):
        return (
            f"no {what} recorded in {root} yet, and it is not in a git repository, which "
            "'ralph-tui run' needs; 'ralph-tui demo' creates its own"
        )
    if not fleets:
        return (
            f"no {what} recorded in {root} yet; start one with 'ralph-tui run' "
            "or see 'ralph-tui demo'"
        )
    more = "..., " if len(fleets) > NAMED else ""
    return (
        f"{root} has only fleet runs ({more}{', '.join(fleets[-NAMED:])}): see them with "
        "'ralph-tui fleet status' or 'ralph-tui fleet attach'"
    )


def recorded_run_ids(root: Path) -> frozenset[str]:
    """Return the ids of all runs of a worktree. For the lock's holder, all have ended."""
    return frozenset(run_names(root))


def run_names(root: Path) -> dict[str, str]:
    """Return the names of all runs of a worktree (``task-001/002``), by id."""
    names = {}
    for run in find_runs(root):
        try:
            with reading(run.journal) as file:
                first = parse_json(file.readline(1 << 20))
            names[str(first["run_id"])] = run.name
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return names


def find_hooked(root: Path) -> Iterator[RecordedRun]:
    """Yield loops recorded by hooks, ordered by name and therefore by start time."""
    folder = ralph_folder(root) / HOOKED
    with suppress(OSError):
        for each in sorted(folder.iterdir()):
            if (each / "events.jsonl").exists():
                yield RecordedRun(each / "events.jsonl")


def attempts_of_hooked(root: Path) -> dict[str, Any]:
    """Return what `hooks.tasks` wrote about the attempts of loops recorded by hooks, by loop."""
    return {**as_map((read_json(ralph_folder(root) / HOOKED / TASKS) or {}).get("loops"))}


def newest_run(root: Path, *, hooked: bool = False) -> RecordedRun | None:
    """Return the run whose journal was written last, or None.

    With `hooked`, this includes loops recorded by hooks.
    """
    runs = [*find_runs(root), *(find_hooked(root) if hooked else ())]
    return max(runs, key=lambda run: run.journal.stat().st_mtime, default=None)


def resolve_run(root: Path, name: str | None, *, hooked: bool = False) -> RecordedRun:
    """Return the run that a user names; with `hooked`, it may be a loop recorded by hooks.

    If there is no such run, raises ``UsageError`` with the names of existing runs.
    """
    if name is None:
        newest = newest_run(root, hooked=hooked)
        if newest is None:
            raise UsageError(describe_no_runs(root))
        return newest
    found = _named(root, name)
    if found.hooked and not hooked:
        raise UsageError(
            f"{one_line(found.name)} is a loop of Claude Code sessions that ralph-tui did not "
            "start; you can only attach to it ('ralph-tui attach'), replay it or report on it"
        )
    return found


def _named(root: Path, name: str) -> RecordedRun:
    path = named_path(name)
    try:
        if path.is_file():
            return RecordedRun(path)
        if (path / "events.jsonl").is_file():
            return RecordedRun(path / "events.jsonl")
        if attempts := [*_runs_of_task(path)]:
            return attempts[-1]
        if ralph_folder(path).is_dir():
            return resolve_run(path, None)
    except OSError as error:
        raise UsageError(
            f"{one_line(name)} cannot be opened: {why(error, 'choose another run')}"
        ) from error
    runs = [*find_runs(root), *find_hooked(root)]
    matches = [run for run in runs if name in (run.name, run.name.split("/")[0])]
    if matches:
        return matches[-1]
    fleet = name.partition("/")[0]
    mirrors = [run for run in find_mirrors(root) if run.name.startswith(f"{fleet}/")]
    if loops := [run for run in mirrors if run.name == name]:
        return loops[-1]
    if fleet in [folder.name for folder in fleet_folders(root)]:
        if name == fleet:
            raise UsageError(
                f"{name} is a fleet, not a run: see it with 'ralph-tui fleet status {name}' or "
                f"'ralph-tui fleet attach {name}'"
            )
        known = ", ".join(dict.fromkeys(run.name for run in mirrors)) or "none of this fleet"
        raise UsageError(
            f"no run '{one_line(name)}' here; 'ralph-tui fleet status {fleet}' shows why a loop "
            f"has none; known runs: {known}"
        )
    if name == HOOKED and is_installed(COMMANDS[HOOKED]):
        raise UsageError(
            f"no Claude Code session under the hooks is recorded in {one_line(str(root))} yet; the "
            "first one to call a tool or to stop begins the record, if 'ralph-tui hooks show' "
            "says that the hooks are active"
        )
    known = ", ".join(dict.fromkeys(run.name for run in runs))
    why_not = f"known runs: {known}" if known else describe_no_runs(root)
    raise UsageError(f"no run '{one_line(name)}' here; {why_not}")
