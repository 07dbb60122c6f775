"""The form's content as a command line, and its errors. Pure."""

import shlex
from collections.abc import Callable, Iterator

from ralph_tui.ports.new_runs import Draft, Surroundings

DEMO_AGENT = "demo"
"""The agent that works only in its own project; choosing it plays the demo."""
OPTIONS = {
    "agent.name": "--agent",
    "agent.command": "--agent-command",
    "agent.model": "--model",
    "limits.max_iterations": "--max-iterations",
    "limits.budget_usd": "--budget",
    "limits.session_timeout_s": "--timeout",
    "permissions.mode": "--permissions",
}
"""The settings of the form and their options, in the order of the command line."""
NO_OBJECTIVE = "describe what the agent should achieve"
NO_COMMAND = "enter a command that exits with 0 when the work is done, or choose “you agree”"
NO_CRITERION = "describe when the work is done, or choose a command"
NO_PROGRAM = {
    "command": "enter the program's command line; it reads the prompt on stdin",
    "acp": "enter the command line that starts the program with the Agent Client Protocol",
}
"""The error for each agent that needs a command but has none."""

COMMAND_HINTS = {
    "command": "any program that reads the prompt on stdin",
    "acp": "a program that speaks ACP, such as my-agent --acp",
}
"""The placeholder of the command field for each of these agents."""


def agent_of(draft: Draft, place: Surroundings) -> str:
    """Return the agent that would work; empty if none is available."""
    return draft.settings.get("agent.name") or place.chosen


def arguments(draft: Draft, place: Surroundings) -> list[str]:
    """Return the arguments that follow ``ralph-tui``."""
    agent = agent_of(draft, place)
    if agent == DEMO_AGENT:
        return ["demo"]
    objective = draft.objective.strip()
    words = ["run"] if objective.startswith("-") else ["run", objective]
    if draft.by != "criterion":
        words += _option("-c", "--command", draft.command.strip())
    if draft.by != "command":
        words += _option("--criterion", "--criterion", draft.criterion.strip())
    program = draft.settings.get("agent.command", "").strip()
    for name, option in OPTIONS.items():
        implied = (
            name == "agent.name" and agent == "command" and program
        )  # --agent-command implies it
        if name in draft.settings and applies_to(name, agent) and not implied:
            words += _option(option, option, draft.settings[name].strip())
    return [*words, "--", objective] if objective.startswith("-") else words


def applies_to(name: str, agent: str) -> bool:
    """Return True if a setting of the form applies to an agent."""
    takes_model = agent not in ("command", DEMO_AGENT)
    return {"agent.command": agent in NO_PROGRAM, "agent.model": takes_model}.get(name, True)


def shell_line(words: list[str]) -> str:
    """Return the whole command line, quoted for a shell."""
    return shlex.join(["ralph-tui", *words])


def form_errors(
    draft: Draft, place: Surroundings, problem: Callable[[str, str], str]
) -> dict[str, str]:
    """Return the errors by field: ``objective``, ``command``, or a setting's dotted name.

    See `NewRuns` for `problem`.
    """
    agent = agent_of(draft, place)
    if agent == DEMO_AGENT:
        return {}
    return dict(_form_errors(draft, place, agent, problem))


def _form_errors(
    draft: Draft, place: Surroundings, agent: str, problem: Callable[[str, str], str]
) -> Iterator[tuple[str, str]]:
    if not draft.objective.strip():
        yield "objective", NO_OBJECTIVE
    if draft.by != "criterion" and not draft.command.strip():
        yield "command", NO_COMMAND
    if draft.by != "command" and not draft.criterion.strip():
        yield "criterion", NO_CRITERION
    offer = next((one for one in place.agents if one.name == agent), None)
    if not agent:
        yield "agent.name", "choose an agent"
    elif offer is not None and not offer.ready:
        yield "agent.name", "not available here; choose another, or install it first"
    program = draft.settings.get("agent.command", place.text("agent.command"))
    if agent in NO_PROGRAM and not program.strip():
        yield "agent.command", NO_PROGRAM[agent]
    checked = set(OPTIONS) - {"agent.name", *(() if program.strip() else ("agent.command",))}
    for name in checked & set(draft.settings):
        if applies_to(name, agent) and (said := problem(name, draft.settings[name].strip())):
            yield name, said


def _option(short: str, long: str, value: str) -> list[str]:
    """Return an option and its value, joined if the value begins with a dash."""
    return [f"{long}={value}"] if value.startswith("-") else [short, value]
