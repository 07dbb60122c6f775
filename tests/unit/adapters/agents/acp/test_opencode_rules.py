"""Rules passed to OpenCode: what is denied, what it asks, and what stays the user's."""

import json

from ralph_tui.adapters.agents.acp.agent import VARIABLE, rules, with_rules
from ralph_tui.ports.agents import Permissions
from tests.rows import each_row


def test_with_edits_what_no_rule_of_ours_permits_is_denied_and_the_rest_is_asked() -> None:
    given = rules(Permissions("edits", ("Bash(git push:*)", "Bash(make lint)")), "pytest -q")
    bash = given["bash"]
    assert isinstance(bash, dict)
    # The last matching rule decides.
    assert next(iter(bash.items())) == ("*", "deny")
    assert {bash[name] for name in ("pytest -q", "pytest -q *", "git push *", "make lint")} == {
        "ask"
    }
    assert "make lint *" not in bash
    assert "allow" not in bash.values(), "the command's progress must be polled"
    assert (given["edit"], given["*"], given["question"]) == ("allow", "ask", "deny")
    assert given["external_directory"] == "deny"


@each_row("line", ["Edit(//srv/shared/**)", "Read"])
def test_places_outside_are_asked_where_a_line_may_permit_them(line: str) -> None:
    assert rules(Permissions("edits", (line,)), "true")["external_directory"] == "ask"


def test_a_line_for_all_commands_leaves_none_denied() -> None:
    bash = rules(Permissions("edits", ("Bash",)), "true")["bash"]
    assert bash == {"*": "ask"}


def test_with_ask_every_command_is_asked() -> None:
    given = rules(Permissions("ask"), "true")
    assert (given["bash"], given["external_directory"]) == ("ask", "ask")


def test_what_its_user_has_set_is_kept_and_skip_changes_nothing() -> None:
    mine = {VARIABLE: json.dumps({"model": "a/b", "permission": {"bash": "deny"}}), "X": "1"}
    given = with_rules(mine, Permissions("edits"), "true")
    content = json.loads(given[VARIABLE])
    assert (content["model"], given["X"]) == ("a/b", "1")
    assert content["permission"] == rules(Permissions("edits"), "true")
    assert with_rules(mine, Permissions("skip"), "true") == mine
    broken = with_rules({VARIABLE: "{"}, Permissions("ask"), "true")
    assert set(json.loads(broken[VARIABLE])) == {"permission"}
