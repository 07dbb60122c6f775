"""The environment of a new run: repository, agents, settings, a trial of its command."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from ralph_tui.adapters.agents import (
    AgentContext,
    AgentDescription,
    find_agent,
    no_agent_error,
    selectable_agents,
)
from ralph_tui.adapters.agents.description import can_words
from ralph_tui.adapters.records.drafts import read_draft, read_last_start, save_draft
from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.adapters.records.lock import Owner, holder
from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.suggestions import suggestions
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import LockHeldError, RalphError
from ralph_tui.base.plain_files import reading
from ralph_tui.config.settings import Settings
from ralph_tui.config.sources import FLAGS, Loaded, examine, problem_of
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.ports.new_runs import AgentOffer, Default, Draft, Finding, Surroundings, Trial
from ralph_tui.text.durations import format_seconds
from ralph_tui.text.sanitize import one_line

LAST_BYTES = 4096
"""Bytes at the end of a log that are searched for its last line."""


class FolderNewRuns:
    """Implements `ports.new_runs.NewRuns` for a folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is in the worktree, or outside any repository."""
        self._root = worktree_root(folder)

    def look(self) -> Surroundings:
        loaded = self._settings()
        settings = loaded.settings
        chosen = find_agent(settings.agent)
        place = Surroundings(
            folder=one_line(_from_home(self._root)),
            findings=tuple(self._findings(loaded)),
            agents=tuple(_quick_offer(agent, settings) for agent in selectable_agents()),
            chosen=chosen.name if chosen is not None else "",
            suggestions=suggestions(self._root),
            defaults={name: _default(loaded, name, self._root) for name in FLAGS},
        )
        return replace(place, last=_last_start(place, self._root))

    def agents(self) -> Sequence[AgentOffer]:
        settings = self._settings().settings
        return tuple(_ask_offer(agent, settings, self._root) for agent in selectable_agents())

    def problem(self, name: str, text: str) -> str:
        return problem_of(name, text).removeprefix(f"{name} ({FLAGS[name]}) ")

    def trial(self, command: str) -> Trial:
        timeout_s = self._settings().settings.gate.timeout_s
        return CommandTrial(self._root, command, timeout_s)

    def draft(self) -> Draft | None:
        return read_draft(self._root)

    def keep(self, draft: Draft) -> None:
        save_draft(self._root, draft)

    def _settings(self) -> Loaded:
        """Return the settings, except values that are invalid."""
        return examine(self._root, {}, os.environ)

    def _findings(self, loaded: Loaded) -> Iterator[Finding]:
        yield from _repository(self._root)
        if loaded.problems:
            first, *more = map(one_line, loaded.problems)
            yield Finding("settings", "critical", first, tuple(more))
        yield _agent(loaded.settings)
        owner = _owner(self._root)
        if owner is not None:
            name = owner.run or "another run"
            yield Finding(
                "other runs",
                "critical",
                f"{name} is running in this worktree; wait for it to end, or use another "
                "worktree (git worktree add)",
            )


class CommandTrial:
    """Implements `ports.new_runs.Trial` in a worktree."""

    def __init__(self, root: Path, command: str, timeout_s: float) -> None:
        self._root = root
        self._gate = ShellGate(command, cwd=root, run_id=str(uuid4()), timeout_s=timeout_s)
        self._log: Path | None = None

    def run(self) -> GateResult:
        owner = _owner(self._root)
        if owner is not None:
            raise LockHeldError(
                f"{owner.run or 'another run'} is running in this worktree, so the command would "
                "test unfinished edits; try it when that run has ended"
            )
        with TemporaryDirectory(prefix="ralph-tui-trial-", ignore_cleanup_errors=True) as scratch:
            self._log = Path(scratch) / "output.log"
            return self._gate.run(self._log)

    def last_line(self) -> str:
        """Return the last line of the log, which has whole lines and no secrets."""
        if self._log is None:
            return ""
        try:
            with reading(self._log) as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
                lines = log.read(LAST_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return next((one_line(line) for line in reversed(lines) if line.strip()), "")

    def cancel(self) -> None:
        self._gate.cancel()


def _repository(root: Path) -> Iterator[Finding]:
    try:
        repository = open_repository(root)
    except RalphError as error:
        yield Finding("git repository", "critical", one_line(str(error)))
        return
    yield Finding("git repository", "good", one_line(_from_home(repository.root)))
    # Not through the repository object, which would write into the repository.
    named = {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.root)}
    asked = ("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    result = run_git(
        repository.root, *asked, environment=named, accept=None, calls=repository.calls
    )
    if result.status == 0:
        yield Finding("commits", "good", f"at {result.line[:10]}")
    else:
        yield Finding(
            "commits",
            "warn",
            "none yet; a run works without one, but git diff cannot show its changes",
            ('git add . && git commit -m "Before the first run"',),
        )


def _agent(settings: Settings) -> Finding:
    chosen = find_agent(settings.agent)
    if chosen is not None and chosen.is_ready(settings.agent, os.environ):
        says = _quick_offer(chosen, settings).says
        return Finding("agent", "good", f"{chosen.name}: {says}")
    error = no_agent_error(settings.agent, os.environ)
    return Finding("agent", "warn", one_line(str(error)), tuple(map(one_line, error.ways)))


def _quick_offer(agent: AgentDescription, settings: Settings) -> AgentOffer:
    ready = agent.is_ready(settings.agent, os.environ)
    looked_for = agent.search_place(settings.agent, os.environ)
    if not looked_for:
        return AgentOffer(agent.name, True, agent.hint)
    says = agent.title if ready else f"not found; looked for {looked_for}"
    return AgentOffer(agent.name, ready, one_line(says), agent.install)


def _ask_offer(agent: AgentDescription, settings: Settings, root: Path) -> AgentOffer:
    offer = _quick_offer(agent, settings)
    if not (offer.ready and offer.install):
        return offer
    context = AgentContext(settings.agent, root)
    try:
        agent.check(context)
        says = f"{one_line(agent.found(context))}; {can_words(agent.abilities)}"
        return AgentOffer(agent.name, True, says, agent.install)
    except RalphError as error:
        return AgentOffer(agent.name, False, one_line(str(error)), agent.install)


def _last_start(place: Surroundings, root: Path) -> Draft:
    """Return how the last run was started, without an agent that no longer exists."""
    last = read_last_start(root) or Draft()
    defaults = {"agent.name": place.chosen, "agent.command": place.text("agent.command")}
    known = {agent.name for agent in place.agents}
    settings = {name: last.settings.get(name, "") for name in defaults}
    if settings["agent.name"] not in known:
        settings = {}
    return replace(
        last,
        objective="",
        settings={
            name: text for name, text in settings.items() if text not in ("", defaults[name])
        },
    )


def _default(loaded: Loaded, name: str, root: Path) -> Default:
    value = loaded.settings.by_name().get(name)
    origin = loaded.origins.get(name, "default").removeprefix(f"{root}/")
    text = "" if value is None else str(value)
    if isinstance(value, float):
        text = format_seconds(value) if name.endswith("_s") else f"{value:g}"
    return Default(text, "" if origin == "default" else one_line(origin))


def _owner(root: Path) -> Owner | None:
    with suppress(RalphError):
        return holder(ralph_folder(root) / "lock")
    return None


def _from_home(path: Path) -> str:
    with suppress(ValueError, RuntimeError):
        return str(Path("~") / path.relative_to(Path.home()))
    return str(path)
