"""Records without a disk."""

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.aiwg.assessment import assessment_of
from ralph_tui.adapters.records.aiwg.attempt import plan_text
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.state import RunState


class FakeRecords:
    """An attempt folder that is never written."""

    folder = Path("/r/attempt")

    def __init__(self) -> None:
        self.prompts: dict[int, str] = {}
        """The last one of each iteration."""
        self.files: dict[str, str] = {}
        """All of them by path."""
        self.written: dict[str, Any] = {}
        """Files in the iterations' folders besides prompts, by path."""
        self.projected: list[dict[str, Any]] = []

    def iteration_folder(self, iteration: int) -> Path:
        return self.folder / "results" / f"iter-{iteration:03}"

    def relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def write_prompt(self, iteration: int, prompt: str, unsent: str | None = None) -> Path:
        self.prompts[iteration] = prompt
        path = self.folder / unsent if unsent else self._next_prompt(iteration)
        self.files[path.relative_to(self.folder).as_posix()] = prompt
        return path

    def _next_prompt(self, iteration: int) -> Path:
        folder = self.iteration_folder(iteration).relative_to(self.folder).as_posix()
        number = 1 + sum(name.startswith(f"{folder}/") for name in self.files)
        name = "prompt.md" if number == 1 else f"prompt-{number}.md"
        return self.iteration_folder(iteration) / name

    def write_iteration_file(self, iteration: int, name: str, content: Any) -> Path:
        path = self.iteration_folder(iteration) / name
        self.written[self.relative(path)] = content
        return path

    def assessment(self, state: RunState, iteration: int) -> dict[str, Any] | None:
        return assessment_of(state, iteration)

    def project(self, state: RunState) -> dict[str, Any]:
        plan = plan_text(state.run.started, state.memory.plan) if state.run.started else ""
        return {"iterations": len(state.run.completions), "plan.md": plan}

    def write_projections(self, projected: Mapping[str, Any]) -> None:
        self.projected.append(dict(projected))

    def write_verification(self, iteration: int, result: GateResult) -> None:
        pass


class FakeStateFile:
    """Remembers every writing."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self.errors: deque[Exception] = deque()
        """One for each of the next writings."""
        self.problems: list[str] = []

    def keep(self, fields: Mapping[str, Any]) -> Sequence[str]:
        if self.errors:
            raise self.errors.popleft()
        self.kept.append(dict(fields))
        return self.problems
