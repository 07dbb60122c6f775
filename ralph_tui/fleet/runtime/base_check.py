"""Before a fleet starts: does a completion command pass on its base already?

Each command is run once, in a clone of the base that is thrown away. A loop whose command passes
there could never tell when its work is done, so the fleet is refused before anything is spent.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralph_tui.adapters.clones.filling import (
    SETUP,
    SETUP_LIMIT_S,
    put_copied,
    read_copied,
    run_setup,
)
from ralph_tui.adapters.clones.making import Origin, make_clone
from ralph_tui.adapters.clones.places import remove_folder
from ralph_tui.adapters.clones.probing import LIMIT_S
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.errors import UsageError, WorkspaceError
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.ports import Source
from ralph_tui.state.goal import passes_before_words
from ralph_tui.text.sanitize import clip, one_line

FILE_KEYS = (
    'criterion = "..." (without a fleet file: --criterion TEXT)',
    "until_promise = true (--until-promise)",
)


def check_base(repository: Repository, source: Source, plan: Plan, trees: Path) -> None:
    """Raises ``UsageError`` for a command that passes already; blocks while commands run.

    A set-up that fails, or a command that takes longer than `LIMIT_S`, is left to the loops: they
    measure it themselves.
    """
    commands: dict[str, str] = {}
    for loop in plan.loops:
        if loop.command and loop.criterion is None and not loop.until_promise:
            commands.setdefault(loop.command, loop.objective)
    if not commands:
        return
    copied = read_copied(repository.root, plan.copied)
    with _folder(trees) as folder:
        tree, log = folder / "tree", folder / "check.log"
        try:
            make_clone(tree, Origin(repository.root, users=True), source, "ralph-check")
            put_copied(tree, copied)
            if plan.setup.strip():
                run_setup(_gate(plan.setup, tree, SETUP_LIMIT_S, SETUP), log)
        except WorkspaceError:
            return
        for command, objective in commands.items():
            if _gate(command, tree, LIMIT_S).run(log).ok:
                why = passes_before_words(command, FILE_KEYS)
                raise UsageError(f'objective "{clip(one_line(objective), 80)}": {why}')


def _gate(
    command: str, tree: Path, limit_s: float, called: str = "completion command"
) -> ShellGate:
    env = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    return ShellGate(
        command, cwd=tree, run_id="fleet-check", timeout_s=limit_s, env=env, called=called
    )


@contextmanager
def _folder(trees: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=".check-", dir=trees))
    try:
        yield folder
    finally:
        remove_folder(folder)
