"""The prompt section that lists the files to open first, each once with the reasons."""

from collections.abc import Iterable

from ralph_tui.layers.intelligence.blocks import NAMED_TESTS, rank_of
from ralph_tui.layers.intelligence.budget import Block, Section, lines_of
from ralph_tui.layers.intelligence.fence import item
from ralph_tui.layers.intelligence.material import PromptInput

HEADING = "Where to look first"
LONGEST_PATH = 200


def files_section(inputs: PromptInput) -> Section:
    """List the files of failing tests, changed files and artifacts.

    The section is empty after a handoff, which already says where to continue. A test file
    that names of failing tests show is listed only if it changed. The changed files of an
    interrupted session are listed with its results instead.
    """
    files = inputs.context_files
    if files is None or inputs.handoff is not None:
        return Section(HEADING, ())
    reasons: dict[str, list[str]] = {}
    _add(reasons, _unnamed(inputs, files.test_files), "failing tests")
    if not inputs.interrupted_files:
        _add(reasons, files.recently_modified, "changed in the last iteration")
    _add(reasons, files.artifacts, "artifact changed in this run")
    lines = [f"- {item(path, LONGEST_PATH)} ({'; '.join(why)})" for path, why in reasons.items()]
    return Section(
        HEADING, (Block(lines_of(lines), rank_of("files"), "files to open first", label="Files"),)
    )


def _add(reasons: dict[str, list[str]], paths: Iterable[str], why: str) -> None:
    for path in paths:
        reasons.setdefault(path, []).append(why)


def _unnamed(inputs: PromptInput, paths: Iterable[str]) -> list[str]:
    """Return the paths that do not appear in the failing tests named in this prompt."""
    gate = inputs.gate
    shown = "\n".join(gate.failing[:NAMED_TESTS]) if gate and not gate.broken else ""
    return [path for path in paths if path not in shown]
