"""The last fallback for a prompt: only the user's words, joined.

It calls nothing that may have failed. `sound` checks whether a prompt can be sent at all.
"""

from typing import get_args

from ralph_tui.events import HandoffWritten
from ralph_tui.events.control import Urgency
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.prompts import Prompt
from ralph_tui.layers.intelligence.sections import REPORT, promise_line


def plain_prompt(given: PromptInput) -> Prompt:
    """Join the objective, the criterion, the user's words and the contract."""
    proofs = [
        given.criterion,
        given.command and f"the command `{given.command}` passes",
        "you promise completion and a file has changed" if given.until_promise else "",
    ]
    proof = "; and ".join(proof for proof in proofs if proof)
    parts = {
        "Objective": given.objective,
        "This iteration": f"Iteration {given.iteration} of at most {given.max_iterations}. "
        f"The work is done when: {proof}",
        "Context checkpoint: continue from here": _taken_over(given.handoff),
        "Standing instruction": given.instruction,
        "Guidance from the user": "\n\n".join(given.guidance),
        "Redirect": given.redirect,
        "When you stop": "Print one line of JSON that reports your status honestly:\n\n"
        f"{REPORT}\n\n{promise_line(given)}",
    }
    text = "\n\n".join(f"# {head}\n\n{body.strip()}" for head, body in parts.items() if body)
    return Prompt(f"{text}\n", "normal", tokens=-(-len(text) // 4))


def _taken_over(left: HandoffWritten | None) -> str:
    if left is None:
        return ""
    handoff = f"Read its handoff first: {left.read_at}" if left.read_at else "It left no handoff."
    return (
        "Do not restart the task from scratch: continue the previous session's work. "
        f"{handoff}\n\n" + "\n\n".join(left.guidance)
    )


def sound(prompt: Prompt, given: PromptInput, *, whole: bool = True) -> Prompt:
    """Return `prompt`; raise ``TypeError`` or ``ValueError`` if it cannot be sent.

    A `whole` prompt must contain all of the user's words.
    """
    if not isinstance(prompt, Prompt) or not isinstance(prompt.text, str):
        raise TypeError("a prompt must be text")
    if not isinstance(prompt.tokens, int) or prompt.urgency not in get_args(Urgency):
        raise TypeError("a prompt must have tokens and an urgency")
    if not all(isinstance(what, str) for what in prompt.cut):
        raise TypeError("the names of cut parts must be text")
    left = given.handoff.read_at if given.handoff else ""
    said = [given.objective, given.criterion, given.instruction, *given.guidance, left]
    if not prompt.text.strip() or (whole and any(it.strip() not in prompt.text for it in said)):
        raise ValueError("the prompt lacks some of the user's words")
    return prompt
