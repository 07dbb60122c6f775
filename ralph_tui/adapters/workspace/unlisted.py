"""What no snapshot holds and git does not list: it is found beside git, and told as missing.

Two kinds: what makes a folder of held files a repository of its own, which git passes over, and
what has no content (a pipe, a socket) in the place of a file that was held, which git takes for
nothing. The second kind cannot be brought back: only a snapshot tells later that it was there.
"""

import os
from collections.abc import Iterable, Set
from pathlib import Path

from ralph_tui.adapters.workspace.obstacles import FOLDER, covered, is_special, kind_of
from ralph_tui.adapters.workspace.private_repository import is_within


class Unlisted:
    """Remembers where to look: the folders of held files, and what stood in the place of one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: set[str] = set()
        self._special: set[str] = set()

    def know(self, held: Iterable[str]) -> None:
        """These files are held, or will be."""
        for path in held:
            _note_folders(path, self._folders)

    def recall(self, missing: Iterable[str]) -> None:
        """What the snapshot before, of an earlier process, did not hold."""
        self._special.update(missing)

    def repositories(self) -> set[str]:
        """What makes folders of held files repositories; folders end in ``/``."""
        top = f"{self._root}/"
        found = [f"{one}/.git" for one in self._folders if os.path.lexists(f"{top}{one}/.git")]
        return {
            f"{path}/" if kind_of(self._root / path) == FOLDER else path
            for path in found
            if is_within(self._root, path)
        }

    def in_place_of(self, gone: Iterable[str], told: Set[str]) -> set[str]:
        """What stands in the place of files that are not there any more, but for those `told`."""
        known: set[str] = set()
        for path in gone:
            known.add(path)
            _note_folders(path, known)
        places = known | self._special
        self._special = {place for place in places if is_special(self._root / place)}
        return {place for place in self._special if not covered(place, told)}


def _note_folders(path: str, known: set[str]) -> None:
    """Add the folders above a path; of one that is known, those above it are."""
    folder = path.rpartition("/")[0]
    while folder and folder not in known:
        known.add(folder)
        folder = folder.rpartition("/")[0]
