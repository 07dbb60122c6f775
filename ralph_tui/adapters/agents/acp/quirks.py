"""In what the agents that speak the Agent Client Protocol differ: one row each. Pure, light.

Rule: a row says what was seen of a real program, and the adapter asks the row, never a name. What
is in no row is driven by the protocol alone, and by what the agent says of itself at its start.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ralph_tui.adapters.agents.description import Abilities

Usage = Literal["turn", "last call"]


@dataclass(frozen=True)
class Quirks:
    """One agent; what is left out is not known of it."""

    title: str
    """What its makers call it."""
    commands: tuple[str, ...] = ()
    """Words of a command line that starts it."""
    names: tuple[str, ...] = ()
    """What it calls itself in its answer to ``initialize``, in lower case."""
    arguments: tuple[str, ...] = ()
    """Those that make it speak the protocol."""
    install: str = ""
    """The command that installs it."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """Its own mode by ours: ``edits``, ``ask``, ``skip``. One that asks will do: we answer."""
    refusal_ends_turn: bool = False
    """Whether a refused permission ends its turn without a word to its model."""
    second_prompt: Literal["folded in", "queued", "ends the first", ""] = ""
    """What becomes of a prompt that comes while one is worked on; only the first is of use."""
    usage: Usage = "turn"
    """What the usage in an answer to a prompt counts."""
    text_may_be_error: bool = False
    """Whether a turn that failed ends as one that did not, its last words the service's refusal."""
    resumes: bool = True
    """Whether it can go on with a session, where it says so."""
    noise: tuple[str, ...] = ()
    """How words of the agent's program begin that come as words of its model."""
    lasting: frozenset[str] = frozenset()
    """Options that it would keep beyond the session: never chosen."""
    first_title_names_tool: bool = False
    """Whether the title that it first gives a use of a tool is the tool's name."""
    takes_rules: bool = False
    """Whether it is given permission rules of its own, see `opencode_rules`."""
    denied_by_rule: str = ""
    """How the result of a tool begins that a rule of ours has denied."""
    model_by_flag: bool = False
    """Whether its model is named on its command line."""
    login: str = "log in to the agent by hand, then start the run again"
    """What to do where it may not use its service."""
    abilities: Abilities = field(default_factory=Abilities)


ANY = Quirks(title="The agent")
"""A program of which nothing is known."""

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
        tokens=False,
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
    abilities=Abilities(questions=True, refusal_goes_on=True, limits="class"),
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
        refusal_goes_on=True,
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
    """The row of the program that these words start; `ANY` where there is none."""
    names = {word.rpartition("/")[2].partition("@")[0] for word in words}
    return next((row for row in KNOWN if names & set(row.commands)), ANY)


def of_name(name: str, otherwise: Quirks) -> Quirks:
    """The row of the agent that calls itself so."""
    return next((row for row in KNOWN if name.strip().lower() in row.names), otherwise)
