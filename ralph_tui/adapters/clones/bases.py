"""The source of the commit that loops start from, on one host.

The source is the user's repository if it is on this machine. Otherwise the host makes a copy in its
own folder, once per commit. It fetches the commit from the repository's remote, or from a bundle
that the fleet sends.
"""

import os
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ralph_tui.adapters.clones.git import clone_git
from ralph_tui.adapters.clones.making import Origin, has_commit
from ralph_tui.adapters.clones.places import fleet_folder
from ralph_tui.adapters.processes.child import STDOUT, launch
from ralph_tui.adapters.workspace.git import MISLEADING
from ralph_tui.base.errors import ProcessError, WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import make_folder, open_emptied, write_whole
from ralph_tui.ports.clones import Base, Place
from ralph_tui.text.sanitize import one_line

FETCH_S = 900.0
"""Timeout for fetching from the repository's remote, in seconds."""
ASK_S = 600.0
"""Timeout for the bundle from the fleet, in seconds."""
POLL_S = 0.2
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://[^\s-]\S*|/\S+|[\w.-]+@?[\w.-]*:[^\s:-]\S*")


class Waiting(Protocol):
    """A caller that is waiting for a commit."""

    def check(self) -> None:
        """Raise ``RalphError`` if the caller is no longer waiting."""


class Bases:
    """The copies of one host."""

    def __init__(self, base: Path, machine: str, ask: Callable[[str], None]) -> None:
        """`ask` requests a commit's bundle from the fleet."""
        self._base = base
        self._machine = machine
        self._ask = ask
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        """A lock per fleet: its first holder makes the copy, and later holders find it."""
        self._bundles: dict[tuple[str, str], bytes] = {}
        """Bundles that have arrived, by fleet and commit."""
        self._connections = 0
        """Number of connections to a fleet so far."""

    def origin_of(self, place: Place, waiting: Waiting) -> Origin:
        """Return a repository on this machine that has the commit. Raises ``RalphError``."""
        source = place.source
        if not _ID.fullmatch(source.commit):
            raise WorkspaceError("the fleet gave no base commit")
        if source.machine == self._machine and has_commit(Path(source.path), source.commit):
            return Origin(Path(source.path), users=True)
        copy = fleet_folder(self._base, place.fleet_id) / "base.git"
        lock = self._locks[place.fleet_id]
        while not lock.acquire(timeout=POLL_S):
            waiting.check()
        try:
            if not has_commit(copy, source.commit):
                self._make(copy, place, waiting)
        finally:
            lock.release()
        return Origin(copy, users=False)

    def take(self, fleet_id: str, base: Base) -> None:
        """Store a bundle that has arrived."""
        self._bundles[fleet_id, base.commit] = base.bundle

    def rerequest(self) -> None:
        """Note a new connection to the fleet, because an earlier request or bundle may be lost."""
        self._connections += 1

    def _make(self, copy: Path, place: Place, waiting: Waiting) -> None:
        commit = place.source.commit
        try:
            make_folder(copy)
        except OSError as error:
            raise workspace_error(
                f"cannot write {one_line(str(copy))}: {why(error, 'make it writable')}", error
            ) from error
        kind = "sha1" if len(commit) == 40 else "sha256"
        clone_git(copy, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
        if not self._fetch_remote(copy, place, waiting):
            self._unbundle(copy, place, waiting)
        clone_git(copy, "update-ref", f"refs/heads/base-{commit[:12]}", commit)

    def _fetch_remote(self, copy: Path, place: Place, waiting: Waiting) -> bool:
        """Fetch from the repository's remote with the user's own Git; return True on success."""
        remote, commit = place.source.remote, place.source.commit
        if not _ADDRESS.fullmatch(remote):
            return False
        for wanted in (commit, "+refs/heads/*:refs/heads/*"):
            waiting.check()
            self._fetch(copy, remote, wanted, waiting)
            if has_commit(copy, commit):
                return True
        return False

    def _fetch(self, copy: Path, remote: str, wanted: str, waiting: Waiting) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in MISLEADING}
        quiet = {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
            "GIT_SSH_COMMAND": kept.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
            "LC_ALL": "C",
        }
        words = ["git", "fetch", "--quiet", "--no-tags", "--", remote, wanted]
        try:
            with open_emptied(copy.with_name("fetch.log")) as log:
                child = launch(
                    words, cwd=copy, env=kept | quiet, run_id="", stdout=log, stderr=STDOUT
                )
        except (OSError, ProcessError):
            return  # ask the fleet instead
        deadline = time.monotonic() + FETCH_S
        try:
            while child.poll() is None and time.monotonic() < deadline:
                waiting.check()
                time.sleep(POLL_S / 2)
        finally:
            child.stop()
            child.wait()

    def _unbundle(self, copy: Path, place: Place, waiting: Waiting) -> None:
        commit = place.source.commit
        asked, deadline = -1, time.monotonic() + ASK_S
        while (bundle := self._bundles.pop((place.fleet_id, commit), None)) is None:
            waiting.check()
            if asked != self._connections:
                asked = self._connections
                self._ask(commit)
            if time.monotonic() > deadline:
                raise WorkspaceError(
                    f"the fleet did not send commit {commit[:12]} within {ASK_S / 60:.0f} minutes"
                )
            time.sleep(POLL_S / 4)
        file = copy.with_name(f"{commit[:12]}.bundle")
        try:
            write_whole(file, bundle, durable=False)
            clone_git(copy, "bundle", "unbundle", str(file))
        except OSError as error:
            raise workspace_error(
                f"cannot write {one_line(str(file))}: {why(error, '')}", error
            ) from error
        finally:
            file.unlink(missing_ok=True)
        if not has_commit(copy, commit):
            raise WorkspaceError(f"the fleet's bundle does not contain commit {commit[:12]}")
