"""The last fallback for a prompt: only the user's words, joined.

It calls nothing that may have failed. `sound` checks whether a prompt can be sent at all.
"""

from typing import get_args

from ralph_tui.events import HandoffWritten
from ralph_tui.events.control import Urgency
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.prompts import Prompt
from ralph_tui.layers.intelligence.sections import REPORT, promise_line


def plain_prompt(inputs: PromptInput) -> Prompt:
    """Join the objective, the criterion, the user's words and the contract."""
    proofs = [
        inputs.criterion,
        inputs.command and f"the command `{inputs.command}` passes",
        "you promise completion and a file has changed" if inputs.until_promise else "",
    ]
    proof = "; and ".join(proof for proof in proofs if proof)
    parts = {
        "Objective": inputs.objective,
        "This iteration": f"Iteration {inputs.iteration} of at most {inputs.max_iterations}. "
        f"The work is done when: {proof}",
        "Context checkpoint: continue from here": _continued_from(inputs.handoff),
        "Standing instruction": inputs.instruction,
        "Guidance from the user": "\n\n".join(inputs.guidance),
        "Redirect": inputs.redirect,
        "When you stop": "Print one line of JSON that reports your status honestly:\n\n"
        f"{REPORT}\n\n{promise_line(inputs)}",
    }
    text = "\n\n".join(f"# {head}\n\n{body.strip()}" for head, body in parts.items() if body)
    return Prompt(f"{text}\n", "normal", tokens=-(-len(text) // 4))


def _continued_from(left: HandoffWritten | None) -> str:
    if left is None:
        return ""
    handoff = f"Read its handoff first: {left.read_at}" if left.read_at else "It left no handoff."
    return (
        "Do not restart the task from scratch: continue the previous session's work. "
        f"{handoff}\n\n" + "\n\n".join(left.guidance)
    )


def sound(prompt: Prompt, inputs: PromptInput, *, whole: bool = True) -> Prompt:
    """Return `prompt`; raise ``TypeError`` or ``ValueError`` if it cannot be sent.

    A `whole` prompt must contain all of the user's words.
    """
    if not isinstance(prompt, Prompt) or not isinstance(prompt.text, str):
        raise TypeError("a prompt must be text")
    if not isinstance(prompt.tokens, int) or prompt.urgency not in get_args(Urgency):
        raise TypeError("a prompt must have tokens and an urgency")
    if not all(isinstance(what, str) for what in prompt.cut):
        raise TypeError("the names of cut parts must be text")
    left = inputs.handoff.read_at if inputs.handoff else ""
    said = [inputs.objective, inputs.criterion, inputs.instruction, *inputs.guidance, left]
    if not prompt.text.strip() or (whole and any(it.strip() not in prompt.text for it in said)):
        raise ValueError("the prompt lacks some of the user's words")
    return prompt
