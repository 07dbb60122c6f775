"""The state file of a run, as other tools read it. All that writes is a job."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class LoopStateFile(Protocol):
    """One file, which others read and write as well."""

    def keep(self, fields: Mapping[str, Any]) -> Sequence[str]:
        """Bring these fields into it, and keep whatever others have there.

        Gives back sentences about what was set aside. Raises ``WorkspaceError``.
        """
        ...
