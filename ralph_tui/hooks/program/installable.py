"""Which files make up the hook program as it is copied into a project.

A test copies them into an empty folder and runs them there. Their names stay the same, so that one
implementation serves both; a package whose ``__init__`` would load more gets an empty one.
"""

from pathlib import Path

FILES = (
    "__init__.py",
    "errors.py",
    "file_lock.py",
    "git_config.py",
    "hooks/__init__.py",
    "hooks/program/__init__.py",
    "hooks/program/__main__.py",
    "hooks/program/answer.py",
    "hooks/program/call.py",
    "hooks/program/evidence.py",
    "hooks/program/given.py",
    "hooks/program/journal.py",
    "hooks/program/plan.py",
    "hooks/program/program.py",
    "hooks/program/prompt_file.py",
    "hooks/program/record.py",
    "hooks/program/rollover.py",
    "hooks/program/sessions.py",
    "hooks/program/stop.py",
    "hooks/program/store.py",
    "hooks/program/summaries.py",
    "hooks/program/transcript.py",
    "hooks/program/watch.py",
    "hooks/program/windows.py",
    "hooks/program/words.py",
    "layers/__init__.py",
    "layers/context/__init__.py",
    "layers/context/handoff.py",
    "layers/context/hashes.py",
    "layers/context/levels.py",
    "layers/context/resume.py",
    "layers/context/state_file.py",
    "layers/sensor/plan.py",
    "plain_files.py",
    "text/__init__.py",
    "text/foreign_json.py",
    "text/format.py",
    "text/git_diff.py",
    "text/quoting.py",
    "text/sanitize.py",
    "text/secrets/ORIGIN.md",
    "text/secrets/__init__.py",
    "text/secrets/assigned.py",
    "text/secrets/formats.py",
    "text/secrets/hints.py",
    "text/secrets/lines.py",
    "text/secrets/named.py",
    "text/secrets/rules.json",
    "text/secrets/values.py",
    "text/terms.py",
    "text/window.py",
)
"""Relative to this package."""
_EMPTY = ("layers/sensor/__init__.py",)


def contents() -> dict[str, bytes]:
    """The program's files by their paths in its folder; ``OSError``.

    It is run as ``python3 -I -S FOLDER post-tool-use``, and with ``stop``.
    """
    package = Path(__file__).parents[2]
    found = {f"ralph_tui/{name}": (package / name).read_bytes() for name in FILES}
    found |= {f"ralph_tui/{name}": b"" for name in _EMPTY}
    found["__main__.py"] = found["ralph_tui/hooks/program/__main__.py"]
    found[".gitignore"] = b"__pycache__/\n"
    return found
