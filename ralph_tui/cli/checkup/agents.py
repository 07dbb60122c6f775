"""The agents on PATH, their versions, and signs that they are signed in.

Secrets are only checked for presence, never read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ralph_tui.adapters.agents import (
    AgentContext,
    AgentDescription,
    choose_agent,
    choose_fallbacks,
    fallback_settings,
    find_agent,
    search_places,
    selectable_agents,
)
from ralph_tui.adapters.agents.claude import CLAUDE
from ralph_tui.adapters.agents.claude import program as claude_program
from ralph_tui.adapters.agents.description import can_words
from ralph_tui.adapters.agents.installed import PROBE_S, VERSION_UNKNOWN
from ralph_tui.adapters.agents.programs import first_program
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli.checkup.finding import Finding, Level, refusal
from ralph_tui.cli.checkup.running import together
from ralph_tui.cli.checkup.surroundings import Surroundings
from ralph_tui.config.files import read_file
from ralph_tui.config.settings import AgentSettings
from ralph_tui.text.json_fields import as_map, as_text
from ralph_tui.text.sanitize import clip, one_line

WHAT = "agent"
UNSIGNED = "no sign-in found"


@dataclass(frozen=True)
class _SignIn:
    """Where a program keeps its sign-in."""

    keys: tuple[str, ...]
    """Environment variables that hold a secret."""
    folder: tuple[str, str]
    """The variable that names its folder, and the default folder below the home."""
    file: str
    """The file of that folder that holds the sign-in."""
    services: tuple[str, ...] = ()
    """Variables that select another vendor's service, with a sign-in of its own."""


SIGN_INS = {
    "claude": _SignIn(
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        folder=("CLAUDE_CONFIG_DIR", ".claude"),
        file=".credentials.json",
        services=("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"),
    ),
    # A key in the environment counts only if codex's config names it.
    "codex": _SignIn((), ("CODEX_HOME", ".codex"), "auth.json"),
    "gemini": _SignIn(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"), ("GEMINI_CLI_HOME", ".gemini"), "oauth_creds.json"
    ),
    "opencode": _SignIn(
        ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), ("", ".local/share/opencode"), "auth.json"
    ),
}
"""Where to look for a sign-in, by agent name."""


def check_agent(around: Surroundings) -> Iterator[Finding]:
    """Check the agent that a run would use, and its fallbacks."""
    settings = around.settings.agent
    try:
        agent = choose_agent(settings, around.environ)
        if agent.takes_command:
            agent.check(AgentContext(settings, around.root, environ=around.environ))
            yield _of_command(settings.command or "")
    except RalphError as error:
        yield refusal("problem", WHAT, error) if settings.name else _none(around)
        return
    if agent is CLAUDE:
        yield from _claude(around)
    elif agent.program:
        yield from _program(around, agent, settings, "problem")
    try:
        fallbacks = choose_fallbacks(settings, around.environ)
    except RalphError as error:
        yield refusal("problem", WHAT, error)
        return
    for fallback in fallbacks:
        theirs = fallback_settings(settings, fallback.name)
        if fallback.program:
            yield from _program(around, fallback, theirs, "warning")


def check_other_agents(around: Surroundings) -> Iterator[Finding]:
    """Check the other agents on PATH that the user could choose."""
    settings = around.settings.agent
    chosen = find_agent(settings, around.environ)
    told = {chosen.name if chosen else "", *settings.fallback}
    others = [
        agent
        for agent in selectable_agents()
        if agent.program and agent.name not in told and around.program(agent.program)
    ]
    yield from together(WHAT, {agent.name: partial(_other, agent) for agent in others}, around)


def _other(agent: AgentDescription, around: Surroundings) -> Iterator[Finding]:
    theirs = fallback_settings(around.settings.agent, agent.name)
    if agent is CLAUDE:
        return _claude(around, theirs)
    return _program(around, agent, theirs, "note")


def _program(
    around: Surroundings, agent: AgentDescription, settings: AgentSettings, level: Level
) -> Iterator[Finding]:
    """Check an agent by its description; `level` is the level of whatever is wrong with it."""
    context = AgentContext(settings, around.folder, environ=around.environ)
    chosen, offered_too = level == "problem", level == "note"
    where = "" if chosen else f" ({agent.name})"
    try:
        agent.check(context)
        version, _, path = agent.found(context).rpartition(", ")
    except RalphError as error:
        yield refusal(level, WHAT, error)
        return
    if version == VERSION_UNKNOWN:
        yield _silent(around.shown(Path(path)), agent.program)
        yield _abilities(agent)
        return
    says = f"{agent.title}{where} {clip(version, 40)} ({around.shown(Path(path))})"
    seen, sure = _sign(around, SIGN_INS[agent.name])
    runs = f"--agent {agent.name} selects it" if offered_too else ""
    if seen:
        yield Finding("ok" if sure or chosen else "note", WHAT, f"{says}; {seen}", runs)
    else:
        fix = f"{agent.login}; then {runs}" if runs else agent.login
        unsigned: Level = "warning" if chosen else "note"
        yield Finding(unsigned, WHAT, f"{says}; {UNSIGNED}", fix)
    yield _abilities(agent)


def _silent(place: str, program: str) -> Finding:
    """Report a program that gave no version: it may be slow or broken."""
    says = f"{place} did not report its version within {PROBE_S:g} s"
    return Finding("note", WHAT, says, f"try {program} --version; it may be slow to start")


def _abilities(agent: AgentDescription) -> Finding:
    seen = f"tested with {agent.seen_versions}: " if agent.seen_versions else ""
    return Finding("note", WHAT, f"{seen}{agent.name} {can_words(agent.abilities)}")


def _none(around: Surroundings) -> Finding:
    """Report that no agent was found: where we looked, and the two ways to get one."""
    settings, environ = around.settings.agent, around.environ
    wanted = [agent for agent in selectable_agents() if agent.program]
    looked = search_places(wanted, settings, environ)
    installed = ", ".join(f"{agent.install} ({agent.title})" for agent in wanted)
    own = '--agent-command "..." for a program of your own'
    return Finding("problem", WHAT, f"none found; looked for {looked}", f"{installed}, or {own}")


def _claude(around: Surroundings, settings: AgentSettings | None = None) -> Iterator[Finding]:
    settings = settings or around.settings.agent
    if not CLAUDE.is_ready(settings, around.environ):
        yield _none(around)
        return
    context = AgentContext(settings, around.folder, environ=around.environ)
    try:
        program = claude_program.installed_program(context)
    except RalphError as error:
        yield refusal("problem", WHAT, error)
        return
    place = around.shown(Path(program.path))
    if program.version is None:
        yield _silent(place, "claude")
        yield _abilities(CLAUDE)
        return
    says = f"Claude Code {'.'.join(map(str, program.version))} ({place})"
    seen, sure = _sign(around, SIGN_INS[CLAUDE.name])
    if seen:
        yield Finding("ok" if sure else "note", WHAT, f"{says}; {seen}")
    elif around.platform == "darwin":
        yield Finding("ok", WHAT, f"{says}; the sign-in is in the keychain, which is not checked")
    else:
        yield Finding("warning", WHAT, f"{says}; {UNSIGNED}", CLAUDE.login)
    yield _abilities(CLAUDE)


def _of_command(command: str) -> Finding:
    """Report a command that passed its check; say that its program exists if that is known."""
    word, shown = first_program(command), clip(command, 60)
    there = f", {clip(word, 40)} is there" if word else ""
    return Finding("ok", WHAT, f"the command {shown!r}{there}")


def _sign(around: Surroundings, sign_in: _SignIn) -> tuple[str, bool]:
    """Describe the signs of a sign-in, and whether they are sufficient."""
    environ = around.environ
    keys = [name for name in sign_in.keys if environ.get(name)]
    services = [name for name in sign_in.services if environ.get(name)]
    variable, below = sign_in.folder
    file = Path(environ.get(variable) or around.home / below) / sign_in.file
    if keys and file.exists():
        return f"{keys[0]} is set and overrides the sign-in in {around.shown(file)}", True
    if keys or services:
        return f"{', '.join(keys + services)} is set", True
    if not file.exists() and (named := _named_key(file.parent / "config.toml", environ)):
        return f"{named} is set, the variable that its config.toml names", True
    return (f"its sign-in is in {around.shown(file)}", True) if file.exists() else ("", False)


def _named_key(config: Path, environ: Mapping[str, str]) -> str:
    """Return the variable, if set, that holds the key of the provider chosen in `config`."""
    try:
        read = read_file(config, follow=True)
    except UsageError:
        return ""
    settings = read.table if read else {}
    providers = as_map(settings.get("model_providers"))
    key = as_text(as_map(providers.get(as_text(settings.get("model_provider")))).get("env_key"))
    return clip(one_line(key), 80) if key and environ.get(key) else ""
