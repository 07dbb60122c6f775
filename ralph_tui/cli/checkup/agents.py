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
from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding, Level, refusal
from ralph_tui.cli.checkup.runner import run_parallel
from ralph_tui.config.files import read_file
from ralph_tui.config.settings import AgentSettings
from ralph_tui.text.json_fields import as_map, as_text
from ralph_tui.text.sanitize import clip, one_line

SUBJECT = "agent"
UNSIGNED = "no sign-in found"


@dataclass(frozen=True)
class _SignIn:
    """Where a program stores its sign-in."""

    keys: tuple[str, ...]
    """Environment variables that hold a secret."""
    folder: tuple[str, str]
    """The variable that names its folder, and the default folder below the home."""
    file: str
    """The file in that folder that holds the sign-in."""
    services: tuple[str, ...] = ()
    """Variables that select another vendor's service, which has its own sign-in."""


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


def check_agent(env: Environment) -> Iterator[Finding]:
    """Check the agent that a run would use, and its fallbacks."""
    settings = env.settings.agent
    try:
        agent = choose_agent(settings, env.environ)
        if agent.takes_command:
            agent.check(AgentContext(settings, env.root, environ=env.environ))
            yield _report_command(settings.command or "")
    except RalphError as error:
        yield refusal("problem", SUBJECT, error) if settings.name else _report_none(env)
        return
    if agent is CLAUDE:
        yield from _check_claude(env)
    elif agent.program:
        yield from _check_program(env, agent, settings, "problem")
    try:
        fallbacks = choose_fallbacks(settings, env.environ)
    except RalphError as error:
        yield refusal("problem", SUBJECT, error)
        return
    for fallback in fallbacks:
        theirs = fallback_settings(settings, fallback.name)
        if fallback.program:
            yield from _check_program(env, fallback, theirs, "warning")


def check_other_agents(env: Environment) -> Iterator[Finding]:
    """Check the other agents on PATH that the user could choose."""
    settings = env.settings.agent
    chosen = find_agent(settings, env.environ)
    in_use = {chosen.name if chosen else "", *settings.fallback}
    others = [
        agent
        for agent in selectable_agents()
        if agent.program and agent.name not in in_use and env.program(agent.program)
    ]
    yield from run_parallel(
        SUBJECT, {agent.name: partial(_check_other, agent) for agent in others}, env
    )


def _check_other(agent: AgentDescription, env: Environment) -> Iterator[Finding]:
    theirs = fallback_settings(env.settings.agent, agent.name)
    if agent is CLAUDE:
        return _check_claude(env, theirs)
    return _check_program(env, agent, theirs, "note")


def _check_program(
    env: Environment, agent: AgentDescription, settings: AgentSettings, level: Level
) -> Iterator[Finding]:
    """Check an agent by its description; `level` is the level of any problem found."""
    context = AgentContext(settings, env.folder, environ=env.environ)
    chosen, offered_too = level == "problem", level == "note"
    where = "" if chosen else f" ({agent.name})"
    try:
        agent.check(context)
        version, _, path = agent.found(context).rpartition(", ")
    except RalphError as error:
        yield refusal(level, SUBJECT, error)
        return
    if version == VERSION_UNKNOWN:
        yield _report_silence(env.short_path(Path(path)), agent.program)
        yield _report_abilities(agent)
        return
    says = f"{agent.title}{where} {clip(version, 40)} ({env.short_path(Path(path))})"
    seen, sure = _describe_sign_in(env, SIGN_INS[agent.name])
    runs = f"--agent {agent.name} selects it" if offered_too else ""
    if seen:
        yield Finding("ok" if sure or chosen else "note", SUBJECT, f"{says}; {seen}", runs)
    else:
        fix = f"{agent.login}; then {runs}" if runs else agent.login
        unsigned: Level = "warning" if chosen else "note"
        yield Finding(unsigned, SUBJECT, f"{says}; {UNSIGNED}", fix)
    yield _report_abilities(agent)


def _report_silence(place: str, program: str) -> Finding:
    """Report a program that gave no version: it may be slow or broken."""
    says = f"{place} did not report its version within {PROBE_S:g} s"
    return Finding("note", SUBJECT, says, f"try {program} --version; it may be slow to start")


def _report_abilities(agent: AgentDescription) -> Finding:
    seen = f"tested with {agent.seen_versions}: " if agent.seen_versions else ""
    return Finding("note", SUBJECT, f"{seen}{agent.name} {can_words(agent.abilities)}")


def _report_none(env: Environment) -> Finding:
    """Report that no agent was found, with the places searched and two remedies."""
    settings, environ = env.settings.agent, env.environ
    wanted = [agent for agent in selectable_agents() if agent.program]
    looked = search_places(wanted, settings, environ)
    installed = ", ".join(f"{agent.install} ({agent.title})" for agent in wanted)
    own = '--agent-command "..." for a program of your own'
    head = "none found" if settings.name or settings.binary else "no known agent is installed"
    return Finding("problem", SUBJECT, f"{head}; looked for {looked}", f"{installed}, or {own}")


def _check_claude(env: Environment, settings: AgentSettings | None = None) -> Iterator[Finding]:
    settings = settings or env.settings.agent
    if not CLAUDE.is_ready(settings, env.environ):
        yield _report_none(env)
        return
    context = AgentContext(settings, env.folder, environ=env.environ)
    try:
        program = claude_program.installed_program(context)
    except RalphError as error:
        yield refusal("problem", SUBJECT, error)
        return
    place = env.short_path(Path(program.path))
    if program.version is None:
        yield _report_silence(place, "claude")
        yield _report_abilities(CLAUDE)
        return
    says = f"Claude Code {'.'.join(map(str, program.version))} ({place})"
    seen, sure = _describe_sign_in(env, SIGN_INS[CLAUDE.name])
    if seen:
        yield Finding("ok" if sure else "note", SUBJECT, f"{says}; {seen}")
    elif env.platform == "darwin":
        yield Finding(
            "ok", SUBJECT, f"{says}; the sign-in is in the keychain, which is not checked"
        )
    else:
        yield Finding("warning", SUBJECT, f"{says}; {UNSIGNED}", CLAUDE.login)
    yield _report_abilities(CLAUDE)


def _report_command(command: str) -> Finding:
    """Report a command that passed its check, and its program if one was found."""
    word, shown = first_program(command), clip(command, 60)
    found = f"; {clip(word, 40)} exists" if word else ""
    return Finding("ok", SUBJECT, f"the command {shown!r}{found}")


def _describe_sign_in(env: Environment, sign_in: _SignIn) -> tuple[str, bool]:
    """Describe the signs of a sign-in, and whether they are sufficient."""
    environ = env.environ
    keys = [name for name in sign_in.keys if environ.get(name)]
    services = [name for name in sign_in.services if environ.get(name)]
    variable, below = sign_in.folder
    file = Path(environ.get(variable) or env.home / below) / sign_in.file
    if keys and file.exists():
        return f"{keys[0]} is set and overrides the sign-in in {env.short_path(file)}", True
    if keys or services:
        return f"{', '.join(keys + services)} is set", True
    if not file.exists() and (named := _find_key_variable(file.parent / "config.toml", environ)):
        return f"{named} is set, the variable that its config.toml names", True
    return (f"its sign-in is in {env.short_path(file)}", True) if file.exists() else ("", False)


def _find_key_variable(config: Path, environ: Mapping[str, str]) -> str:
    """Return the variable, if set, that holds the key of the provider chosen in `config`."""
    try:
        read = read_file(config, follow=True)
    except UsageError:
        return ""
    settings = read.table if read else {}
    providers = as_map(settings.get("model_providers"))
    key = as_text(as_map(providers.get(as_text(settings.get("model_provider")))).get("env_key"))
    return clip(one_line(key), 80) if key and environ.get(key) else ""
