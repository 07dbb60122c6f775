"""Measure the time to the first output: the cockpit's first paint, ``status``, ``--help``."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.places import clean_environment, minimal_app, ralph_tui, repository, run_of
from bench.result import Result, Scale, in_turns, ms, seconds_of
from bench.terminal import Terminal

PAINTED = ("progress", "leave")
"""A heading in the middle and the footer's last word, which together mean a whole first frame."""
STANDS = ("zoom",)
"""A word that only the cockpit's own footer contains."""
MINIMAL_PAINTED = "a minimal app"


def first_paint(scale: Scale) -> Iterator[Result]:
    """Yield the time from process start to the first frame, and to the cockpit, at 140x45."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        folder = repository(Path(scratch) / "repo")
        recorded = _recorded_run(Path(scratch) / "recorded")

        def until(command: list[str], cwd: Path, *words: str) -> Callable[[], float]:
            def measure() -> float:
                with Terminal(command, cwd) as terminal:
                    return terminal.wait_for(*words) - terminal.started

            return measure

        minimal, run, replay, *behind = in_turns(
            scale.of(9, 5),
            until(minimal_app(), folder, MINIMAL_PAINTED),
            until(run_of("sleep 60"), folder, *PAINTED),
            until(ralph_tui("replay"), recorded, *PAINTED),
            until(run_of("sleep 60"), folder, *STANDS),
            until(ralph_tui("replay"), recorded, *STANDS),
        )
    base = median(minimal)
    for name, times in (("run", run), ("replay", replay)):
        ratio = median(times) / base
        yield Result(
            f"first paint of `{name}`, from process start",
            f"{ratio:.2f}x ({ms(median(times))} : {ms(base)})",
            "<= 1.5x a minimal Textual app",
            ratio <= 1.5,
            {"seconds": median(times), "minimal_seconds": base, "ratio": ratio},
        )
    for name, times in zip(("run", "replay"), behind, strict=True):
        ratio = median(times) / base
        yield Result(
            f"the whole cockpit of `{name}` behind it",
            f"{ratio:.2f}x ({ms(median(times))} : {ms(base)})",
            "<= 2x a minimal Textual app",
            ratio <= 2,
            {"seconds": median(times), "minimal_seconds": base, "ratio": ratio},
        )


def short_commands(scale: Scale) -> Iterator[Result]:
    """Compare ``status`` and ``--help`` with just the import of pydantic."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as scratch:
        folder = _recorded_run(Path(scratch) / "recorded")

        def of(*command: str) -> Callable[[], float]:
            return lambda: seconds_of(lambda: _run(command, folder))

        pydantic, status, help_text = in_turns(
            scale.of(15, 7),
            of(sys.executable, "-c", "import pydantic"),
            of(*ralph_tui("status")),
            of(*ralph_tui("--help")),
        )
        loaded = _textual_modules(folder)
    base = median(pydantic)
    for name, times, most in (("status", status, 1.5), ("--help", help_text, 1.0)):
        ratio = median(times) / base
        yield Result(
            f"`ralph-tui {name}`",
            f"{ratio:.2f}x ({ms(median(times))} : {ms(base)})",
            f'<= {most:g}x python -c "import pydantic"',
            ratio <= most,
            {"seconds": median(times), "pydantic_seconds": base, "ratio": ratio},
        )
    yield Result(
        "modules of Textual that `status` and `--help` import",
        str(loaded),
        "0",
        loaded == 0,
        {"modules": loaded},
    )


def _recorded_run(folder: Path) -> Path:
    """Make a repository with one finished run of one iteration."""
    repository(folder)
    command = run_of("echo hello", "--headless", "--max-iterations", "1")
    _run(command, folder, expected=None)
    return folder


def _run(
    command: list[str] | tuple[str, ...], folder: Path, expected: int | None = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*command],
        cwd=folder,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if expected is not None and done.returncode != expected:
        raise RuntimeError(f"{' '.join(command)} exited with {done.returncode}: {done.stderr}")
    return done


def _textual_modules(folder: Path) -> int:
    program = (
        "import sys; from ralph_tui.cli import main; main(['status']); main(['--help']); "
        "print(sum(name.partition('.')[0] in ('textual', 'rich') for name in sys.modules))"
    )
    return int(_run([sys.executable, "-c", program], folder).stdout.split()[-1])
