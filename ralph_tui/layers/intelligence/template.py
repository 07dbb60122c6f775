"""The layout of a prompt: the built-in one, or the user's own file.

A template is text with variables in the syntax of ``string.Template``: ``$objective`` or
``${objective}``, and ``$$`` for a dollar. The value of a variable is never parsed as a template.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from string import Template as Syntax

VARIABLES: Mapping[str, str] = {
    "objective": "the objective",
    "criteria": "iteration k of n, and when the work is done",
    "cut": "one line on what was left out to fit the budget; empty if nothing was",
    "resume": "the previous session's handoff, if this session continues its work",
    "instruction": "the standing instruction, until you withdraw it",
    "guidance": "your guidance since the last prompt",
    "redirect": "the instructions of the redirect in effect",
    "state": "measurements: completion, counts, failing tests by name, the command's output",
    "verdict": "a model's negative verdict on the criterion, with its reason",
    "assessment": "the last iteration's results: what is done, blockers, next step",
    "files": "files to open first: of failing tests, changed ones, artifacts",
    "strategy": "approach and focus of this iteration, the reason, and the priorities",
    "control": "urgency, trend and pace",
    "plan": "the first open item in the plan, and how long such tasks took",
    "reports": "the agent's reports from its last two iterations",
    "findings": "learnings from earlier iterations of this run",
    "knowledge": "lessons from earlier runs",
    "context": "how many open items to take on and in which order, and how to load less",
    "contract": "the report line and the promise that the agent must print",
    "iteration": "the number of this iteration",
    "max_iterations": "the maximum number of iterations",
    "completion": "the last measured completion, 0 to 100; empty if nothing was measured",
    "urgency": "low, normal, high or critical",
}
"""Variables of a template. All but the last four are sections with a heading, or empty."""
KEPT = ("cut", "resume", "instruction", "guidance", "redirect")
"""Variables that are never lost: those missing from a template are added at the prompt's end."""
BUILT_IN = "\n\n".join(f"${name}" for name in list(VARIABLES)[:-4])


class TemplateError(ValueError):
    """An invalid template; the message names the line."""


@dataclass(frozen=True)
class Template:
    """A valid template."""

    pieces: tuple[tuple[str, str], ...]
    """Pairs of text and the variable that follows it; the last variable is empty."""

    @property
    def names(self) -> frozenset[str]:
        """The variables it uses."""
        return frozenset(name for _, name in self.pieces if name)

    def before(self, name: str, section: str) -> "Template":
        """Return the template with a section before that variable, or at the end without it."""
        at = next((i for i, piece in enumerate(self.pieces) if piece[1] == name), -1)
        words, after = self.pieces[at]
        words = f"{words.rstrip()}\n\n{section}\n\n"
        rest = self.pieces[at + 1 :] if after else ()
        return Template((*self.pieces[:at], (words, after), *rest))

    def fill(self, values: Mapping[str, str]) -> str:
        """Replace every variable; an empty section leaves no gap."""
        text = ""
        for words, name in self.pieces:
            text += words.lstrip("\n") if not text or text.endswith("\n\n") else words
            text += values[name] if name else ""
        for name in KEPT:
            if name not in self.names and values[name]:
                text = f"{text.rstrip()}\n\n{values[name]}"
        return text.strip("\n") + "\n"


def parse_template(text: str) -> Template:
    """Parse a template; raise `TemplateError` if it is invalid."""
    pieces: list[tuple[str, str]] = []
    words, at = "", 0
    for found in Syntax.pattern.finditer(text):
        words += text[at : found.start()]
        at = found.end()
        line = text.count("\n", 0, found.start()) + 1
        name = found["named"] or found["braced"]
        if found["escaped"] is not None:
            words += "$"
        elif name is None:
            raise TemplateError(f"line {line}: $ without a name (write $$ for a dollar sign)")
        elif name not in VARIABLES:
            guess = next(iter(difflib.get_close_matches(name, VARIABLES, n=1)), None)
            hint = f"did you mean ${guess}?" if guess else "see ralph-tui prompt check"
            raise TemplateError(f"line {line}: unknown variable ${name} ({hint})")
        else:
            pieces.append((words, name))
            words = ""
    return Template((*pieces, (words + text[at:], "")))


def missing_parts(template: Template) -> list[str]:
    """Return one sentence for each essential part that a prompt from this template would lack."""
    said = []
    if "objective" not in template.names:
        said.append("it has no $objective: the agent does not see the objective")
    if "contract" not in template.names:
        said.append("it has no $contract: the agent is not asked for a report or a promise")
    return said


BUILT_IN_TEMPLATE = parse_template(BUILT_IN)
