"""``ralph-tui prune``: remove transcripts, logs and snapshots of old runs, after listing them."""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.pruning import (
    Listing,
    OldFile,
    OldRun,
    is_alive,
    known_run_ids,
    old_runs,
    remove,
)
from ralph_tui.adapters.records.runs import fleet_folders
from ralph_tui.adapters.workspace.hidden_refs import HiddenRef, delete_refs, hidden_refs, worktrees
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import confirm
from ralph_tui.text.durations import seconds
from ralph_tui.text.format import byte_size, count
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import outcome_word

DEFAULT_KEEP = 5
"""Number of newest runs to keep by default."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "List transcripts, logs and snapshots of old runs, and delete them after you "
        "confirm. Journals, prompts and results are kept: you can still replay and report on every "
        "run, but not restore its files."
    )
    parser.add_argument(
        "--keep",
        metavar="N",
        type=int,
        default=DEFAULT_KEEP,
        help=f"keep the newest N runs ({DEFAULT_KEEP})",
    )
    parser.add_argument(
        "--older-than",
        metavar="AGE",
        default="0s",
        help="only runs that ended longer ago than this, e.g. 30d",
    )
    parser.add_argument(
        "--dead",
        action="store_true",
        help="also runs without a recorded end or with a damaged journal",
    )
    parser.add_argument(
        "--orphans", action="store_true", help="also snapshots of runs whose journal is gone"
    )
    parser.add_argument("--dry-run", action="store_true", help="only list every file and ref")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(args: argparse.Namespace) -> int:
    """List, ask, remove. Raises ``RalphError`` if something cannot be listed or removed."""
    root = worktree_root(Path.cwd())
    plan = _plan(root, args)
    for line in plan.lines(whole=args.dry_run):
        print(one_line(line))  # folder names are foreign text
    if plan.empty and fleet_folders(root):
        print("for fleets use ralph-tui fleet prune")
    if args.dry_run or plan.empty:
        return ExitCode.COMPLETED
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("not a terminal; use ralph-tui prune --yes to confirm, or --dry-run")
        if not confirm(f"Remove {plan.words}?"):
            print("nothing was deleted", file=sys.stderr)
            return ExitCode.FAILED
    _remove(root, plan)
    return ExitCode.COMPLETED


@dataclass(frozen=True)
class _Plan:
    listing: Listing
    refs: dict[str, list[HiddenRef]]
    """Refs of snapshots, by run id."""
    orphans: list[HiddenRef]
    repository: Repository | None
    keep: int

    @property
    def runs(self) -> list[OldRun]:
        """The runs that have something to remove."""
        return [run for run in self.listing.runs if run.files or self.refs.get(run.run_id)]

    @property
    def files(self) -> list[OldFile]:
        return [file for run in self.listing.runs for file in run.files]

    @property
    def all_refs(self) -> list[HiddenRef]:
        return [ref for refs in self.refs.values() for ref in refs] + self.orphans

    @property
    def empty(self) -> bool:
        return not self.files and not self.all_refs

    @property
    def words(self) -> str:
        """The totals, such as ``12 files (3.1 MB) and 40 snapshots``."""
        return _words(len(self.files), sum(file.size for file in self.files), len(self.all_refs))

    def lines(self, *, whole: bool) -> list[str]:
        """Return the lines shown before the user confirms; with `whole`, every file and ref."""
        lines = [line for run in self.runs for line in self._run_lines(run, whole=whole)]
        if self.orphans:
            owners = Counter(ref.run_id for ref in self.orphans)
            lines += [
                f"orphaned run {run_id}: {_words(0, 0, number)}"
                for run_id, number in owners.items()
            ]
            lines += [f"  {ref.name}" for ref in self.orphans] if whole else []
        lines += [f"kept: {sentence}" for sentence in self.listing.left]
        if self.empty:
            kept = {0: "", 1: "; the newest run is kept"}
            whole_ones = kept.get(self.keep, f"; the newest {self.keep} runs are kept")
            return [*lines, f"nothing to prune{whole_ones}"]
        return [*lines, f"total: {self.words}; journals, prompts and results are kept"]

    def _run_lines(self, run: OldRun, *, whole: bool) -> list[str]:
        refs = self.refs.get(run.run_id, [])
        ended = f"{run.ended.astimezone():%Y-%m-%d %H:%M}"
        what = f"{outcome_word(run.outcome)} {ended}"
        lines = [f"{run.run.name}  {what}: {_words(len(run.files), run.size, len(refs))}"]
        if whole:
            lines += [f"  {file.path}" for file in run.files]
            lines += [f"  {ref.name}" for ref in refs]
        else:
            names = Counter(file.path.name for file in run.files)
            lines += [f"  {number:>4} {name}" for name, number in sorted(names.items())]
            lines += [f"  {len(refs):>4} refs/ralph/{run.run_id}/*"] if refs else []
        return lines


def _plan(root: Path, args: argparse.Namespace) -> _Plan:
    if args.keep < 0:
        raise UsageError(f"--keep takes a number of runs, not {args.keep}")
    try:
        age = timedelta(seconds=float(str(seconds(args.older_than))))
    except (ValueError, OverflowError):
        raise UsageError(
            f"--older-than takes an age such as 12h or 30d, not {args.older_than!r}"
        ) from None
    now = datetime.now(UTC)
    listing = old_runs(root, keep=args.keep, age=age, dead=args.dead, now=now)
    try:
        repository = open_repository(root)
    except UsageError:
        if args.orphans:
            raise
        # The records were copied here without their repository.
        return _Plan(listing, {}, [], None, args.keep)
    refs: dict[str, list[HiddenRef]] = {run.run_id: [] for run in listing.runs}
    orphans = []
    known = known_run_ids({root, *worktrees(repository)}) if args.orphans else None
    for ref in hidden_refs(repository):
        if ref.run_id in refs and ref.run_id not in listing.kept_ids:
            refs[ref.run_id].append(ref)
        elif known is not None and ref.run_id not in known:
            orphans.append(ref)
    return _Plan(listing, refs, orphans, repository, args.keep)


def _remove(root: Path, plan: _Plan) -> None:
    """Remove everything listed that has not changed since; always report the totals."""
    removed: list[OldFile] = []
    refs = 0
    try:
        for run in plan.listing.runs:
            if is_alive(root, run.run_id):  # resumed since
                continue
            removed += [file for file in run.files if remove(root, file)]
            if plan.repository is not None:
                refs += delete_refs(plan.repository, plan.refs.get(run.run_id, []))
        if plan.repository is not None:
            refs += delete_refs(plan.repository, plan.orphans)
        left = len(plan.files) - len(removed) + len(plan.all_refs) - refs
        if left:
            print(f"{left} kept: changed since they were listed", file=sys.stderr)
    finally:
        git = "; git frees the space of snapshots at its next gc" if refs else ""
        print(f"removed {_words(len(removed), sum(file.size for file in removed), refs)}{git}")


def _words(files: int, size: int, refs: int) -> str:
    parts = [f"{count(files, 'file')} ({byte_size(size)})"] if files or not refs else []
    return " and ".join([*parts, *([count(refs, "snapshot")] if refs else [])])
