"""The cockpit for a run that this process does not control: recorded, or live in another one."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.cli.fronts.side_screens import side_screens
from ralph_tui.cli.fronts.stage import Stage, ViewerFront
from ralph_tui.ports.source import Source
from ralph_tui.runtime.sources.recorded import opened, was_left_early
from ralph_tui.tui.app import BaseScreen
from ralph_tui.tui.cockpit.away_summary import AwayCockpit, AwayReplay
from ralph_tui.tui.cockpit.screen import CockpitScreen

if TYPE_CHECKING:
    from pathlib import Path

    from ralph_tui.adapters.records.journal import Recording


def open_replay(
    record: "Path | Recording", stage: Stage, *, note: str = "", at: int | None = None
) -> "RunViewer":
    """Return the front of a recorded run, paused at event number `at` (-1: the last).

    Without `at`, it plays from the beginning, after showing the result if the user has not seen
    the run's end. `note` is one sentence about the run.
    """
    source = opened(record, note=note, at=None if at == -1 else at)
    if at is None and was_left_early(source):
        return RunViewer(source, stage, kind=partial(AwayReplay, play=source.begin))
    if at is None:
        source.begin()
    kind = AwayCockpit if at == -1 else CockpitScreen
    return RunViewer(source, stage, kind=kind)


class RunViewer(ViewerFront):
    """The front of a run that this process does not control."""

    def __init__(
        self, source: Source, stage: Stage, *, kind: Callable[[Source], BaseScreen] = AwayCockpit
    ) -> None:
        self._kind = kind
        self.beside = side_screens(source)
        self._source = source
        self._stage = stage

    def screen(self) -> BaseScreen:
        return self._kind(self._source)

    def begin(self) -> None:
        enable_garbage_collector()
