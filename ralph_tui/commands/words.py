"""Commands that carry text for the agent, its prompts, or the knowledge of later runs."""

from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from pydantic import Field

from ralph_tui.commands.command import Command, Steered
from ralph_tui.events import GuidanceQueued, PromptEditRequested, StandingInstructionChanged
from ralph_tui.events.memory import Change
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.terms import GONE

if TYPE_CHECKING:
    from ralph_tui.state import RunState

MAX_GUIDANCE = 20
"""Maximum number of messages waiting for the next prompt."""


class Guide(Command):
    """Send guidance to the agent: into its session if it accepts it, else into the next prompt."""

    name: Literal["guide"] = "guide"
    text: Plain = Field(min_length=1, max_length=100_000)

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        full = len(state.guidance.queued) >= MAX_GUIDANCE
        return f"{MAX_GUIDANCE} messages are already waiting for the next prompt" if full else None

    def carry_out(self, run: Steered) -> None:
        guidance = GuidanceQueued(guidance_id=str(uuid4()), text=self.text, by=self.by)
        run.record(guidance)
        # Guidance the session cannot take now stays queued for the next prompt.
        run.say(guidance.guidance_id, guidance.text)


class EditPrompt(Command):
    """Show the next prompt for editing before it is sent, or withdraw that request."""

    name: Literal["edit_prompt"] = "edit_prompt"
    wanted: bool = True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        if self.wanted and state.run.started and state.run.started.mode == "headless":
            return "this run was started headless; prompts are sent without asking"
        if self.wanted == state.intelligence.edit_requested:
            already = "shown before it is sent" if self.wanted else "sent as it is"
            return f"the next prompt will already be {already}"
        return None

    def carry_out(self, run: Steered) -> None:
        run.record(PromptEditRequested(wanted=self.wanted, by=self.by))


class Instruct(Command):
    """Set the text that every prompt carries from now on; empty removes it."""

    name: Literal["instruct"] = "instruct"
    text: Plain = Field(default="", max_length=10_000)

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        if not self.text.strip() and not state.intelligence.standing_instruction:
            return "there is no standing instruction"
        return None

    def carry_out(self, run: Steered) -> None:
        run.record(StandingInstructionChanged(text=self.text.strip(), by=self.by))


class ChangeLearning(Command):
    """Pin, mute, edit or delete a learning that the run has looked up or learned."""

    name: Literal["learning"] = "learning"
    learning_id: Line
    change: Change
    text: Plain = Field(default="", max_length=10_000)
    """The new text for ``edit``."""

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        seen = state.memory.seen.get(self.learning_id)
        if seen is None:
            return f"this run has used no learning {self.learning_id}"
        if seen.gone:
            return GONE[seen.gone]
        if self.change == "edit" and not self.text.strip():
            return "an edit needs text; add some, or delete the learning"
        return None

    def carry_out(self, run: Steered) -> None:
        run.change_learning(self.learning_id, self.change, self.text, self.by)


class Reflect(Command):
    """Record what to do differently next time, in the user's words."""

    name: Literal["reflect"] = "reflect"
    text: Plain = Field(min_length=1, max_length=10_000)

    def carry_out(self, run: Steered) -> None:
        run.reflect(self.text)
