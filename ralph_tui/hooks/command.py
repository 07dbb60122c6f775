"""``ralph-tui hooks``: the hooks of Claude Code sessions that ralph-tui does not start."""

import argparse
import difflib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui import __version__
from ralph_tui.adapters.records.folders import named_path, worktree_root
from ralph_tui.adapters.records.runs import find_hooked
from ralph_tui.base.errors import RalphError, UsageError, why
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import confirm, text_argument
from ralph_tui.hooks.program import handoff, store, watch
from ralph_tui.hooks.program.commit import uncommitted
from ralph_tui.hooks.program.words import PROMPT, has_section, names_task, write_prompt
from ralph_tui.hooks.project import (
    FOLDER,
    CopyStatus,
    LoopFile,
    Program,
    project_root,
    read_program,
)
from ralph_tui.hooks.settings import (
    NAME,
    SettingsFile,
    are_hooks_off,
    count_others,
    find_hooks,
    read_environment,
)
from ralph_tui.layers.context import state_file
from ralph_tui.layers.context.state_file import LARGEST, MAX_ITERATIONS, PROMISE, State
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line, plain, spelled_name
from ralph_tui.text.secrets import redact

CONTEXT = 3
"""Lines of context around a change."""
END = 500
"""Number of characters shown at each end of a changed line."""
NAMED = 3
"""Maximum number of files named to the user as left out of commits."""
MAX_LEFT_OUT = 1000
"""Maximum number of files that are left out of commits; the state file lists them all."""
SEEN = 32 * END
"""Number of characters searched for secrets; a secret may extend beyond the part shown."""


def setup_notes(root: Path, settings: bytes, *, installed: bool) -> Iterator[str]:
    """Yield remarks about the loop, the settings and the set-up."""
    loop, text = LoopFile.of(root, os.environ), settings.decode("utf-8").removeprefix("\ufeff")
    yield loop.words(installed=installed)
    for path in loop.set_aside:
        yield f"{format_path(path, root)} was moved aside: it is not a valid state file"
    running = loop.running
    if running is not None and installed:
        yield from _window_notes(running, {**read_environment(text), **os.environ})
        prompt = root / PROMPT
        if has_section(prompt) and not names_task(prompt, plain(running["objective"])):
            yield f"{PROMPT} names another task; its section says to work on this one"
    if are_hooks_off(text):
        yield f"no hook runs while `disableAllHooks` is true in {NAME}"
    if shutil.which("python3") is None:
        yield "no python3 on PATH; the hooks need Python 3.11 or newer"


def _window_notes(state: State, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the size of the context window, and problems with its checkpoint."""
    known = watch.find_window(environ, state, "", None).tokens
    if known is None:
        yield (
            "if the model's name does not show the size of its context window, the hooks cannot "
            "tell how full it is; set the size with ralph-tui hooks install --window 200k"
        )
        return
    yield f"the context window holds {known:,} tokens"
    if early := watch.compacts_before(known, watch.parse_thresholds(state).checkpoint, environ):
        yield early


def format_path(path: Path, root: Path) -> str:
    """Return a path for display, relative to the project if inside."""
    return one_line(str(path.relative_to(root) if path.is_relative_to(root) else path))


def settings_diff(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Return the changed lines with context; secrets in other people's settings are masked."""
    was, will = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    # Skip equal lines first, because difflib would index every line of a large file.
    skipped = max(0, _count_equal(was, will) - CONTEXT)
    was, will = was[skipped:], will[skipped:]
    if (rest := _count_equal(was[::-1], will[::-1]) - CONTEXT) > 0:
        was, will = was[:-rest], will[:-rest]
    for line in difflib.unified_diff(was, will, NAME, NAME, lineterm="", n=CONTEXT):
        yield _shorten_line(_shift_hunk(line, skipped))


def _shorten_line(line: str) -> str:
    """Mask secrets and shorten a long line to its ends, as a whole file may be one line."""
    if len(line) <= 2 * SEEN:
        return plain(redact(line))
    begin, end = plain(redact(line[:SEEN])), plain(redact(line[-SEEN:]))
    return f"{begin[:END]} … {end[-END:]}"


def _count_equal(some: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(some), len(others)))


def _shift_hunk(line: str, skipped: int) -> str:
    """Correct the line numbers in a hunk's header; return any other line unchanged."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"([-+])(\d+)", lambda at: f"{at[1]}{int(at[2]) + skipped}", line)


ACTIONS = {
    "install": "install the hooks in a project, or update them",
    "remove": "remove the hooks and leave everything else unchanged",
    "show": "show what is installed and whether it is active",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hooks`` and its actions."""
    parser.description = (
        "For Claude Code sessions that you start yourself. The hooks measure the context window, "
        "request a handoff in time, decide whether the loop continues, and record the session for "
        f"'ralph-tui attach' and 'replay'. They are registered in the project's {NAME}; their "
        f"program in {FOLDER} needs only Python. --objective starts a loop in "
        f".claude/{state_file.NAME}. Before a file changes, a dated copy is saved. Nothing else is "
        "written."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    for name, sentence in ACTIONS.items():
        action = actions.add_parser(name, help=sentence)
        action.description = f"{sentence[0].upper()}{sentence[1:]}."
        action.set_defaults(within=action)
        action.add_argument(
            "--folder", metavar="FOLDER", help="project folder (default: the current project)"
        )
        if name != "show":
            action.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        if name == "install":
            _add_loop(action)


def _add_loop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--objective", metavar="TEXT", help="begin a loop with this task; - reads standard input"
    )
    parser.add_argument(
        "--promise", metavar="WORD", help=f"word that a session prints when it is done ({PROMISE})"
    )
    parser.add_argument(
        "--max-iterations",
        metavar="N",
        type=int,
        help=f"maximum number of iterations ({MAX_ITERATIONS})",
    )
    parser.add_argument(
        "--commit-wip",
        action="store_true",
        help="commit the session's work to your branch at each handoff",
    )
    parser.add_argument("--window", metavar="TOKENS", help="size of the context window: 200k, 1m")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action. Raises ``RalphError``, having changed nothing."""
    folder = named_path(args.folder) if args.folder else worktree_root(Path.cwd())
    root = project_root(folder)
    try:
        program = Program(root, read_program(), __version__)
    except OSError as error:
        raise RalphError(
            f"the hook program cannot be read: {why(error, 'reinstall ralph-tui')}"
        ) from error
    return int(_RUN[args.action](root, program, args))


# install --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    settings: SettingsFile
    merged: bytes
    copy_status: CopyStatus
    loop: LoopFile
    state: State | None
    """State of the loop to begin; None for no loop."""
    changes: State
    """Fields to write for a loop that is already running."""
    prompt: Path
    """The prompt file, which may have the section of an earlier loop."""

    @property
    def is_empty(self) -> bool:
        same = self.settings.content == self.merged and self.copy_status.current
        return same and not self.state and not self.changes


def _install(root: Path, program: Program, args: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    settings, loop = SettingsFile.of(root), LoopFile.of(root, os.environ)
    changes, state = _parse_changes(root, args, loop), _new_state(args, now)
    if state is not None:
        loop.refuse_running()
        state, changes = state | changes, {}
    elif loop.state is not None and handoff.FIELD in loop.state:
        changes.pop(handoff.FIELD, None)  # keep the running loop's own list
    copy_status = program.copy_status()
    plan = _Plan(settings, settings.with_hooks(), copy_status, loop, state, changes, root / PROMPT)
    if plan.is_empty:
        print(f"the hooks are already installed in {one_line(str(root))} and up to date")
    else:
        print("\n".join(_describe(plan, program)))
        _ask("install", args, "Install the hooks in this project?")
        print("\n".join(_apply_plan(plan, program, now)))
    print("\n".join(setup_notes(root, plan.merged, installed=True)))
    return ExitCode.COMPLETED


def _parse_changes(root: Path, args: argparse.Namespace, loop: LoopFile) -> State:
    """Return the fields of the loop that the options set. Raises ``RalphError``."""
    if (args.window or args.commit_wip) and args.objective is None and loop.state is None:
        option = "--window applies" if args.window else "--commit-wip applies"
        raise UsageError(f"{option} to a loop; pass --objective TEXT too")
    window = _parse_window(args)
    changes: State = {} if window is None else {watch.FIELD: window}
    if args.commit_wip:
        try:
            changed = uncommitted(root)
        except OSError as error:
            raise RalphError(f"--commit-wip needs a git repository: {error}") from error
        if len(changed) > MAX_LEFT_OUT:
            raise RalphError(
                f"{len(changed):,} files have uncommitted changes; commit or ignore them first"
            )
        changes[handoff.FIELD] = {"left_out": changed}
    return changes


def _parse_window(args: argparse.Namespace) -> int | None:
    if args.window is None:
        return None
    size = watch.parse_size(args.window)
    if size is None:
        raise UsageError(
            "--window must be a number of tokens, such as 200000, 200k or 1m, not "
            f"{one_line(args.window)}"
        )
    return size


def _new_state(args: argparse.Namespace, now: datetime) -> State | None:
    if args.objective is None:
        if args.promise is not None or args.max_iterations is not None:
            raise UsageError(
                "--promise and --max-iterations apply to a loop; pass --objective TEXT"
            )
        return None
    most = MAX_ITERATIONS if args.max_iterations is None else args.max_iterations
    if not 1 <= most <= LARGEST:
        raise UsageError("--max-iterations must be 1 or more")
    promise = PROMISE if args.promise is None else " ".join(plain(args.promise).split())
    if not promise:
        raise UsageError("--promise is empty; pass the word that ends the loop")
    return state_file.fresh(
        objective=text_argument(args.objective),
        started_at=now,
        max_iterations=most,
        completion_promise=promise,
    )


def _describe(plan: _Plan, program: Program) -> Iterator[str]:
    """Describe the changes, with a diff of the settings."""
    if plan.settings.content != plan.merged:
        yield from settings_diff(plan.settings.content, plan.merged)
    new = len(plan.copy_status.missing)
    if not plan.copy_status.there:
        yield f"{FOLDER}: the hook program, {count(len(program.files), 'file')}"
    elif not plan.copy_status.current:
        old = len(plan.copy_status.older) + len(plan.copy_status.edited)
        yield f"{FOLDER}: updated, {count(old + new, 'file')}"
    yield from _edited_lines(plan.copy_status)
    if plan.state is not None:
        what = "starts a loop" if plan.loop.content is None else "starts another loop"
        yield f"{plan.loop.name}: {what}, {count(plan.state['max_iterations'], 'iteration')}"
        if has_section(plan.prompt):
            yield f"{plan.prompt.name}: replaces the section of the previous loop"
    if (window := plan.changes.get(watch.FIELD)) is not None:
        yield f"{plan.loop.name}: the context window holds {window:,} tokens"
    if (wip := (plan.state or plan.changes).get(handoff.FIELD)) is not None:
        yield f"{plan.loop.name}: {_commit_text(wip)}"


def _commit_text(wip: Mapping[str, list[str]]) -> str:
    left_out = wip["left_out"]
    text = "each handoff commits the session's work to your branch"
    if not left_out:
        return text
    more = ", ..." if len(left_out) > NAMED else ""
    named = ", ".join(spelled_name(path) for path in left_out[:NAMED])
    return f"{text}, except {count(len(left_out), 'file')} with earlier changes: {named}{more}"


def _apply_plan(plan: _Plan, program: Program, now: datetime) -> Iterator[str]:
    """Install in a safe order: the program, then the settings that call it, then the loop."""
    kept: list[Path | None] = [*program.install(now)]
    backup = None
    try:
        if plan.settings.content != plan.merged:
            backup = plan.settings.replace(plan.merged, now)
    except RalphError:
        if not plan.copy_status.there:
            program.remove(now)
        raise
    if plan.state is not None:
        kept.append(plan.loop.begin(plan.state, now))
        if has_section(plan.prompt):  # sessions must not see text about the earlier loop
            write_prompt(plan.prompt, plan.state)
    if plan.changes:
        with store.state_file(plan.loop.path) as held:
            if held is not None:
                held.state = held.state | plan.changes
                held.save()
    yield "the hooks are installed; new sessions use them"
    yield from _saved_lines([*kept, backup], program.root)


def _saved_lines(paths: Iterable[Path | None], root: Path) -> Iterator[str]:
    return (
        f"previous version saved: {format_path(path, root)}" for path in paths if path is not None
    )


def _edited_lines(copy_status: CopyStatus) -> Iterator[str]:
    for name in copy_status.edited:
        yield f"{FOLDER}/{one_line(name)}: changed since installation; a copy is saved beside it"


# remove ---------------------------------------------------------------------------------------


def _remove(root: Path, program: Program, args: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    settings = SettingsFile.of(root)
    without, copy_status = settings.without_hooks(), program.copy_status()
    if settings.content == without and not copy_status.there:
        print(f"no ralph-tui hooks are installed in {one_line(str(root))}")
        return ExitCode.COMPLETED
    if settings.content != without:
        print("\n".join(settings_diff(settings.content, without)))
        if without is None:
            print(f"{NAME}: will be deleted; ralph-tui created it")
    if copy_status.there:
        print(f"{FOLDER}: will be deleted (hook program)")
    for line in _edited_lines(copy_status):
        print(line)
    _ask("remove", args, "Remove the hooks from this project?")
    backup = settings.replace(without, now) if settings.content != without else None
    kept = program.remove(now)
    print("the hooks are removed; running sessions keep them until they end")
    for line in _saved_lines([*kept, backup], root):
        print(line)
    loop = LoopFile.of(root, os.environ)
    loop.clear_lock()
    if loop.content is not None:
        print(f"{loop.name} stays, as do the records and handoffs of the hooks")
    return ExitCode.COMPLETED


# show -----------------------------------------------------------------------------------------


def _show(root: Path, program: Program, args: argparse.Namespace) -> int:
    del args
    settings = SettingsFile.of(root)
    try:
        found, others = find_hooks(settings.text), count_others(settings.text)
    except ValueError as error:
        raise RalphError(f"{NAME} cannot be used: {error}; correct it, or move it away") from error
    events = ", ".join(found) if found else "no ralph-tui hooks"
    rows = [
        ("project", one_line(str(root))),
        ("hooks", f"{events} in {NAME}; {count(others, 'other hook')}"),
        *(("command", plain(command)) for command in dict.fromkeys(found.values())),
        ("program", _copy_text(program.copy_status())),
        *(
            ("note", note)
            for note in setup_notes(root, settings.content or b"", installed=bool(found))
        ),
    ]
    journals = [*find_hooked(root)]
    if journals:
        rows.append(("recorded", f"{count(len(journals), 'loop')}: ralph-tui replay hooks"))
    print("\n".join(f"{name:<9} {text}" for name, text in rows))
    return ExitCode.COMPLETED


def _copy_text(copy_status: CopyStatus) -> str:
    if not copy_status.there:
        return f"not in {FOLDER}; 'ralph-tui hooks install' copies it"
    version = (
        f"version {one_line(copy_status.version)}" if copy_status.version else "unknown version"
    )
    if copy_status.current:
        return f"{version}, up to date"
    changed = (
        f", {count(len(copy_status.edited), 'file')} changed by hand" if copy_status.edited else ""
    )
    return f"{version}{changed}; 'ralph-tui hooks install' updates it"


def _ask(action: str, args: argparse.Namespace, question: str) -> None:
    """Raise ``RalphError`` unless the user agrees."""
    if args.yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"not a terminal; use --yes to confirm: ralph-tui hooks {action} --yes")
    if not confirm(question):
        raise RalphError("nothing was changed")


_RUN = {"install": _install, "remove": _remove, "show": _show}
