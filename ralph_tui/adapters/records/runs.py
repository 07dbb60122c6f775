"""Past and present runs of a worktree, and what the command line calls RUN.

RUN is a task (``task-001``: its newest attempt), an attempt (``task-001/002``), a loop that hooks
have recorded (``hooks``: the newest), an attempt's folder, a journal, or another worktree: its
newest run; nothing at all means the newest run of this one.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.records.folders import named_path, numbered, ralph_folder
from ralph_tui.base.errors import UsageError, why
from ralph_tui.base.extensions import COMMANDS, is_there
from ralph_tui.base.plain_files import reading
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import one_line

HOOKED = "hooks"
"""The folder of the loops that hooks have recorded, and what they are called by."""
HEARD_S = 900.0
"""Of such a loop: a tool may take ten minutes, and nothing is heard of its session meanwhile."""
NAMED = 5
"""Fleets that are named where there is no run, the newest."""
PLACE_FILE = "place.json"
"""Beside the tree that a fleet has made for a loop: what it is for."""
STATUS_VERSION = 2
"""Of the fields of ``status.json``: an older file is folded from the journal again."""


@dataclass(frozen=True)
class RecordedRun:
    """A run on disk, found but not read."""

    journal: Path

    @property
    def folder(self) -> Path:
        """The attempt's folder."""
        return self.journal.parent

    @property
    def status(self) -> Path:
        """Its status projection."""
        return self.folder / "status.json"

    @property
    def name(self) -> str:
        """``task-001/002`` where the folders are ours, ``fleet-001/3a`` where it is a loop of a
        fleet, else the folder's own name.
        """
        if self.hooked:
            return f"{HOOKED}/{self.folder.name}"
        if self.fleet is not None:
            return f"{self.fleet.name}/{self.folder.absolute().parents[1].name}"
        if self.folder.parent.name == "attempts":
            return f"{self.folder.parent.parent.name}/{self.folder.name}"
        return self.folder.name

    @property
    def hooked(self) -> bool:
        """Whether hooks have recorded it: no process of ours has it, and none goes on with it."""
        above = self.folder.absolute().parent
        return above.name == HOOKED and above.parent.name == "ralph"

    @property
    def fleet(self) -> Path | None:
        """The folder of the fleet whose loop it is: it runs in a tree of its own, and this is a
        mirror of its record; None: it is none.
        """
        places = self.folder.absolute().parents
        mirrored = len(places) > 4 and (places[2].name, places[4].name) == ("loops", "fleets")
        return places[3] if mirrored else None

    @property
    def of_fleet(self) -> bool:
        """Whether it is a loop, its mirror or in its tree, that only a fleet resumes."""
        places = self.folder.absolute().parents
        tree = places[5] if len(places) > 6 else None
        own = tree is not None and tree.name == "tree" and (tree.parent / PLACE_FILE).exists()
        return own or self.fleet is not None

    @property
    def lock(self) -> Path:
        """The lock of the worktree it belongs to (it need not exist), or of its fleet."""
        if self.hooked:
            return self.folder.parent.parent / "lock"
        if self.fleet is not None:
            return self.fleet.parent / "lock"
        return self.folder.parent.parent.parent.parent / "lock"


def find_runs(root: Path) -> Iterator[RecordedRun]:
    """All runs of a worktree that have a journal, tasks in order, attempts in order."""
    for task in numbered(ralph_folder(root) / "tasks"):
        for attempt in numbered(task / "attempts"):
            if (attempt / "events.jsonl").exists():
                yield RecordedRun(attempt / "events.jsonl")


def find_mirrors(root: Path) -> Iterator[RecordedRun]:
    """The records that fleets of a repository have of their loops' runs: snapshots of those that
    were collected are in it.
    """
    fleets = ralph_folder(root) / "fleets"
    for journal in sorted(fleets.glob("*/loops/*/attempts/*/events.jsonl")):
        yield RecordedRun(journal)


def fleet_folders(root: Path) -> list[Path]:
    """The folders of all fleets of a repository that have a journal, in their order.

    None where the extension is missing whose commands show them.
    """
    if not is_there(COMMANDS["fleet"]):
        return []
    folders = numbered(ralph_folder(root) / "fleets")
    return [folder for folder in folders if (folder / "events.jsonl").exists()]


def nothing_recorded(root: Path, what: str = "run") -> str:
    """Why there is no run to show, and what there is."""
    fleets = [folder.name for folder in fleet_folders(root)]
    if not (fleets or (root / ".git").exists()):
        return (
            f"no {what} was recorded in {root} yet, and it is inside no git repository, which "
            "'ralph-tui run' needs; 'ralph-tui demo' brings its own"
        )
    if not fleets:
        return (
            f"no {what} was recorded in {root} yet; start one with 'ralph-tui run' "
            "or see 'ralph-tui demo'"
        )
    more = "..., " if len(fleets) > NAMED else ""
    return (
        f"{root} has runs of fleets only ({more}{', '.join(fleets[-NAMED:])}): see them with "
        "'ralph-tui fleet status' or 'ralph-tui fleet attach'"
    )


def recorded_run_ids(root: Path) -> frozenset[str]:
    """The ids of all runs of a worktree; to the holder of its lock all of them are over."""
    return frozenset(run_names(root))


def run_names(root: Path) -> dict[str, str]:
    """The names of all runs of a worktree (``task-001/002``) by their ids."""
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
    """The loops that hooks have recorded, in the order of their names: of when they began."""
    folder = ralph_folder(root) / HOOKED
    with suppress(OSError):
        for each in sorted(folder.iterdir()):
            if (each / "events.jsonl").exists():
                yield RecordedRun(each / "events.jsonl")


def newest_run(root: Path, *, hooked: bool = False) -> RecordedRun | None:
    """The run whose journal was written to last; None when there is none.

    `hooked`: also of the loops that hooks have recorded.
    """
    runs = [*find_runs(root), *(find_hooked(root) if hooked else ())]
    return max(runs, key=lambda run: run.journal.stat().st_mtime, default=None)


def resolve_run(root: Path, name: str | None, *, hooked: bool = False) -> RecordedRun:
    """The run a user means; `hooked`: also a loop that hooks have recorded.

    Raises ``UsageError`` when there is no such run, naming those there are.
    """
    if name is None:
        newest = newest_run(root, hooked=hooked)
        if newest is None:
            raise UsageError(nothing_recorded(root))
        return newest
    found = _named(root, name)
    if found.hooked and not hooked:
        raise UsageError(
            f"{one_line(found.name)} is a loop of Claude Code sessions that ralph-tui did not "
            "start: it can be watched ('ralph-tui attach'), replayed and reported, and no more"
        )
    return found


def _named(root: Path, name: str) -> RecordedRun:
    path = named_path(name)
    try:
        if path.is_file():
            return RecordedRun(path)
        if (path / "events.jsonl").is_file():
            return RecordedRun(path / "events.jsonl")
        if ralph_folder(path).is_dir():
            return resolve_run(path, None)
    except OSError as error:
        raise UsageError(
            f"{one_line(name)} cannot be looked at: {why(error, 'name another run')}"
        ) from error
    runs = [*find_runs(root), *find_hooked(root)]
    matches = [run for run in runs if name in (run.name, run.name.split("/")[0])]
    if matches:
        return matches[-1]
    if name in [folder.name for folder in fleet_folders(root)]:
        raise UsageError(
            f"{name} is a fleet, not a run: see it with 'ralph-tui fleet status {name}' or "
            f"'ralph-tui fleet attach {name}'"
        )
    known = ", ".join(run.name for run in runs)
    why_not = f"known runs: {known}" if known else nothing_recorded(root)
    raise UsageError(f"there is no run '{one_line(name)}' here; {why_not}")
