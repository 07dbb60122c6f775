"""How agents that speak the Agent Client Protocol differ, one row per agent. Pure, light.

Rule: a row records the observed behaviour of a real program, and the adapter checks the row, never
a name. An agent without a row is driven by the protocol and by the capabilities it reports.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from ralph_tui.adapters.agents.description import Abilities

Usage = Literal["turn", "last call"]


class Quirks(NamedTuple):
    """The quirks of one agent; unset fields are unknown."""

    title: str
    """Product name."""
    commands: tuple[str, ...] = ()
    """Names of its program on a command line."""
    names: tuple[str, ...] = ()
    """Names it gives itself in its answer to ``initialize``, in lower case."""
    arguments: tuple[str, ...] = ()
    """Arguments that make it speak the protocol."""
    install: str = ""
    modes: Mapping[str, str] = MappingProxyType({})
    """Its equivalents of our modes ``edits``, ``ask`` and ``skip``. Any mode that asks will do."""
    refusal_ends_turn: bool = False
    """True if a refused permission ends its turn without an explanation to the model."""
    second_prompt: Literal["folded in", "queued", "ends the first", ""] = ""
    """How it treats a prompt that arrives during a turn; only ``folded in`` is useful."""
    usage: Usage = "turn"
    """What the usage in an answer covers: the whole turn, or only its last call."""
    text_may_be_error: bool = False
    """True if a failed turn ends like any other, with the service's refusal as its text."""
    resumes: bool = True
    """False if it cannot resume sessions even though it reports that it can."""
    noise: tuple[str, ...] = ()
    """Prefixes of messages from the program itself that arrive as if they came from the model."""
    lasting: frozenset[str] = frozenset()
    """Options that are never chosen because their effect outlasts the session."""
    first_title_names_tool: bool = False
    """True if the first title of a tool call is the tool's name."""
    takes_rules: bool = False
    """True if it gets extra permission rules; see `agent.with_rules`."""
    denied_by_rule: str = ""
    """Prefix of a tool's result when one of our rules denied the call."""
    model_by_flag: bool = False
    """True if the model is set on its command line."""
    login: str = "log in to the agent by hand, then start the run again"
    """Advice for the user if the agent has no access to its service."""
    abilities: Abilities = Abilities()


ANY = Quirks(title="The agent")
"""The quirks of an unknown program."""

OPENCODE = Quirks(
    title="OpenCode",
    commands=("opencode",),
    names=("opencode",),
    arguments=("acp",),
    install="npm install -g opencode-ai",
    refusal_ends_turn=True,
    second_prompt="folded in",
    takes_rules=True,
    usage="last call",
    first_title_names_tool=True,
    denied_by_rule="The user has specified a rule which prevents",
    login="run `opencode auth login`, or put a valid key into opencode.json",
    abilities=Abilities(
        questions=True,
        words_mid_turn=True,
        context="turn end",
        cost=True,
        tokens="last call",
        resume=True,
    ),
)
GEMINI = Quirks(
    title="Gemini CLI",
    commands=("gemini",),
    names=("gemini-cli",),
    arguments=("--acp",),
    install="npm install -g @google/gemini-cli",
    modes={"edits": "default", "ask": "default", "skip": "yolo"},
    second_prompt="ends the first",
    resumes=False,
    model_by_flag=True,
    noise=("[MODE_UPDATE]",),
    login="run `gemini` and log in, or set GEMINI_API_KEY to a valid key",
    abilities=Abilities(questions=True, refusal_continues=True, limits="class"),
)
CLAUDE = Quirks(
    title="Claude Code",
    commands=("claude-agent-acp", "claude-code-acp"),
    names=("@agentclientprotocol/claude-agent-acp", "claude-code-acp"),
    modes={"edits": "default", "ask": "default", "skip": "bypassPermissions"},
    second_prompt="folded in",
    login="run `claude` and then /login, or set ANTHROPIC_API_KEY to a valid key",
    abilities=Abilities(
        questions=True,
        refusal_continues=True,
        words_mid_turn=True,
        context="live",
        cost=True,
        limits="class",
        resume=True,
    ),
)
CODEX = Quirks(
    title="Codex",
    commands=("codex-acp",),
    names=("@agentclientprotocol/codex-acp", "codex-acp"),
    modes={"edits": "workspace-write", "ask": "workspace-write", "skip": "agent-full-access"},
    refusal_ends_turn=True,
    second_prompt="queued",
    text_may_be_error=True,
    noise=("Config warning:",),
    lasting=frozenset({"accept_execpolicy_amendment"}),
    login="run `codex login`, or set OPENAI_API_KEY to a valid key",
    abilities=Abilities(
        questions=True, words_mid_turn=True, context="live", limits="class", resume=True
    ),
)
KNOWN = (OPENCODE, GEMINI, CLAUDE, CODEX)


def of_command(words: list[str]) -> Quirks:
    """Return the quirks of the program in a command line, or `ANY`."""
    names = {word.rpartition("/")[2].partition("@")[0] for word in words}
    return next((row for row in KNOWN if names & set(row.commands)), ANY)


def of_name(name: str, otherwise: Quirks) -> Quirks:
    """Return the quirks of the agent that reports this name, or `otherwise`."""
    return next((row for row in KNOWN if name.strip().lower() in row.names), otherwise)
