"""Records without a disk."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.state import RunState


class FakeRecords:
    """A folder that nobody writes to."""

    folder = Path("/r/attempt")

    def __init__(self) -> None:
        self.prompts: dict[int, str] = {}
        self.projected: list[dict[str, Any]] = []

    def iteration_folder(self, iteration: int) -> Path:
        return self.folder / "results" / f"iter-{iteration:03}"

    def relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def write_prompt(self, iteration: int, prompt: str) -> Path:
        self.prompts[iteration] = prompt
        return self.iteration_folder(iteration) / "prompt.md"

    def project(self, state: RunState) -> dict[str, Any]:
        return {"iterations": len(state.run.completions)}

    def write_projections(self, projected: Mapping[str, Any]) -> None:
        self.projected.append(dict(projected))

    def write_verification(self, iteration: int, result: GateResult) -> None:
        pass
