"""The files of an external run by the number of an iteration, wherever its form keeps them."""

from functools import cached_property

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.importers.fields import Json, as_ordinal, as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.tape import Tape

SHARED_TRANSCRIPT = "outputs/session-transcript.jsonl"
OVERSEER_LOG = "-overseer-log.json"
_SAME = 256
"""Bytes by which two transcripts are told to begin alike."""


class ExternalFiles:
    """Looks them up, each when it is asked for."""

    def __init__(self, files: RunFiles, run_id: str) -> None:
        self.files = files
        self._run_id = run_id
        self._now = ("", 0, 0)
        """The transcript that was asked for last, its length, and where its own lines begin."""

    @cached_property
    def left(self) -> frozenset[int]:
        """Numbers of which a prompt or an output lies there."""
        files = self.files
        return frozenset(
            [
                *files.numbers("prompts", "-prompt.md"),
                *files.numbers("outputs", "-stdout.log"),
                *files.numbers("logs", "-stdout.log"),
            ]
        )

    def prompt(self, number: int) -> str:
        """Its name; empty for none."""
        return self.files.first(f"prompts/{number:03}-prompt.md")

    def system_context(self, number: int) -> str:
        """As `prompt`."""
        return self.files.first(f"iterations/{number:03}/system-context.md")

    def output(self, number: int, kind: str = "stdout") -> str:
        """As `prompt`."""
        return self.files.first(
            f"outputs/{number:03}-{kind}.log",
            f"logs/{number:03}-{kind}.log",
            f"iterations/{number:03}/{kind}.log",
        )

    def transcript(self, number: int) -> tuple[str, int]:
        """The transcript in the folder of an iteration, and where its own lines begin in it.

        Ask for them in their order: one repeats those of all before it.
        """
        name = self.files.first(f"iterations/{number:03}/session-transcript.jsonl")
        if not name:
            return "", 0
        if name != self._now[0]:
            before, size = self._now[0], self._now[1]
            start = size if before and self._goes_on(before, name) else 0
            self._now = name, self.files.size(name), start
        return name, self._now[2]

    def beside(self, number: int, name: str) -> Json:
        """A JSON file in the folder of an iteration; empty where there is none."""
        return self.files.json(f"iterations/{number:03}/{name}") or {}

    def tape(self, number: int) -> Tape:
        """The transcript with the times of an iteration; ask for them in their order."""
        name, start = self.transcript(number)
        return Tape(self.files, name, start) if name else self._shared_tape

    def _goes_on(self, before: str, name: str) -> bool:
        heads = []
        for each in (before, name):
            with self.files.opened(each) as file:
                heads.append(file.read(_SAME) if file else b"")
        return heads[0] == heads[1] and self.files.size(name) >= self._now[1]

    @cached_property
    def _shared_tape(self) -> Tape:
        return Tape(self.files, SHARED_TRANSCRIPT)

    @cached_property
    def checks(self) -> dict[int, Json]:
        """The overseer's log of this run: its checks by the number of their iteration."""
        for name in self.files.names("overseer"):
            if not name.endswith(OVERSEER_LOG):
                continue
            log = self.files.json(f"overseer/{name}") or {}
            whose = log.get("loopId")
            whose = as_map(whose).get("loopId") if isinstance(whose, dict) else whose
            if self._run_id and whose == self._run_id:
                checks = map(as_map, as_list(log.get("healthCheckLog")))
                return {as_ordinal(each.get("iterationNumber")) or 0: each for each in checks}
        return {}

    @cached_property
    def analytics(self) -> Json:
        """Those of this run; empty for none."""
        return self.files.json(f"analytics/{self._run_id}.json") or {} if self._safe else {}

    @property
    def _safe(self) -> bool:
        """Whether the id can be part of a name."""
        return bool(self._run_id) and self._run_id.replace("-", "").isalnum()

    @cached_property
    def analysed(self) -> dict[int, Json]:
        """What the analytics say, by the number of an iteration."""
        rows = map(as_map, as_list(self.analytics.get("iterations")))
        return {as_ordinal(row.get("iteration_number")) or 0: row for row in rows}

    @cached_property
    def reflections(self) -> dict[int, Json]:
        """By the number of their iteration, those written since the run began."""
        found = {}
        for name in self.files.names("reflections"):
            if name.startswith("reflection-") and name.endswith(".json"):
                each = self.files.json(f"reflections/{name}") or {}
                number = as_ordinal(each.get("iteration"))
                if number and as_text(each.get("content")) and as_when(each.get("timestamp")):
                    found[number] = each
        return found
