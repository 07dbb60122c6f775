"""Questions of the agent in the scenario `asking`: a permission first, then a choice."""

from collections.abc import Mapping

from ralph_tui.demo.agent import tools
from ralph_tui.demo.agent.bugs import BUGS, LEXER, PARSER
from ralph_tui.demo.agent.scenario import Step, plan
from ralph_tui.demo.agent.work import Worker, current_code

TAG = "git tag before-the-fix"
QUESTION = "Which failures should I fix first?"
FIRST = {
    "The lexer's": (LEXER, "how numbers and comments are read"),
    "The parser's": (PARSER, "how signs, powers and groups are read"),
}
"""The file that each option puts first, and a description."""
REFUSED = "It was not permitted."


class AskingWorker(Worker):
    """Does the work of `steady`, but follows the user's approvals and answers."""

    _first = ""
    """The file whose bugs come first."""

    def turn(self) -> str:
        if self.iteration == 1:
            self._ask_to_tag()
        elif self.iteration == 2:
            self._ask_priority()
        return super().turn()

    def _ask_to_tag(self) -> None:
        arguments = {"command": TAG, "description": "Mark the state before my changes"}
        rule = {"toolName": "Bash", "ruleContent": "git tag *"}
        suggestion = {"type": "addRules", "rules": [rule], "behavior": "allow"}

        def tag(tool_id: str) -> tools.Answer:
            self._ask_permission("Bash", arguments, tool_id, permission_suggestions=[suggestion])
            return tools.bash(self.session.wire, TAG)

        words = "Before I change anything, I would like to tag this state."
        done, _ = self.session.use("Bash", arguments, tag, words=words)
        if not done:
            self.session.say("I will start without a tag.")

    def _ask_priority(self) -> None:
        options = [{"label": label, "description": about} for label, (_, about) in FIRST.items()]
        asked: dict[str, object] = {
            "question": QUESTION,
            "header": "First",
            "options": options,
            "multiSelect": False,
        }
        chosen = ""

        def choose(tool_id: str) -> tools.Answer:
            nonlocal chosen
            reply = self._ask_permission("AskUserQuestion", {"questions": [asked]}, tool_id)
            answers = reply.get("answers")
            chosen = str(answers.get(QUESTION, "")) if isinstance(answers, dict) else ""
            return f"Your question has been answered: {chosen}", {"answers": answers}

        self.session.use("AskUserQuestion", {"questions": [asked]}, choose)
        self._first = FIRST[chosen][0] if chosen in FIRST else ""
        self.session.say(f"{chosen}, then." if chosen else "I will take them in order.")

    def _ask_permission(
        self, tool: str, arguments: Mapping[str, object], tool_id: str, **more: object
    ) -> Mapping[str, object]:
        """Return the permitted input. Raises ``ToolError`` with the refusal's message."""
        answer = self.session.wire.ask(
            {
                "subtype": "can_use_tool",
                "tool_name": tool,
                "input": arguments,
                "decision_reason": "This command requires approval" if tool == "Bash" else "",
                "tool_use_id": tool_id,
                **more,
            }
        )
        if answer.get("behavior") != "allow":
            raise tools.ToolError(str(answer.get("message") or REFUSED))
        reply = answer.get("updatedInput")
        return reply if isinstance(reply, dict) else arguments

    def _steps(self) -> list[Step]:
        fixed = [bug for bug in BUGS if current_code(bug) == bug.fixed]
        guided = self.session.guided
        return plan(self.scenario, self.iteration, fixed, guided=guided, first=self._first)
