"""Agent questions are bounded and sanitized; a rule too long to show is not offered."""

from ralph_tui.adapters.agents.requests import MAX_INPUT, MAX_RULE, asked, choice
from tests.rows import each_row

KEY = "ghp_" + "a1B2" * 9


def test_what_no_screen_can_show_is_left_out() -> None:
    found = asked(1, "r1", "Ba\x1b[31msh", input="git push\x07", why="  it\x1b]0;x\x07 is due ")
    assert (found.tool, found.input, found.why) == ("Bash", "git push", "it is due")


@each_row(
    ("rule", "offered"),
    [
        ("Bash(git push *)", "Bash(git push *)"),
        ("Bash(git push\x1b[8m *)", ""),
        ("Bash(git push\nrm *)", ""),
        ("Bash(\u202egit push *)", ""),
        (f"Bash(curl -H {KEY} *)", ""),
        ("x" * (MAX_RULE + 1), ""),
        ("x" * MAX_RULE, "x" * MAX_RULE),
    ],
)
def test_a_rule_is_offered_as_it_is_or_not_at_all(rule: str, offered: str) -> None:
    assert asked(1, "r1", "Bash", rule=rule).rule == offered


def test_of_a_long_input_it_is_said_how_much_is_not_shown() -> None:
    found = asked(1, "r1", "Bash", input="echo x; " * 100_000)
    assert len(found.input) <= MAX_INPUT
    kept = found.input.partition("\n")[0]
    assert found.input.endswith(f"… and {800_000 - len(kept):,} more characters")
    assert asked(1, "r1", "Bash", input="x" * MAX_INPUT).input == "x" * MAX_INPUT


def test_a_secret_at_the_cut_is_taken_out() -> None:
    found = asked(1, "r1", "Bash", input="x" * (MAX_INPUT - 60) + f" {KEY} " + "y" * MAX_INPUT)
    assert KEY[:12] not in found.input


def test_questions_and_options_are_bounded() -> None:
    many = choice("Which? " * 1000, "Col\x1b[mour", [("a" * 5000, "b" * 5000)] * 500, multiple=True)
    found = asked(1, "r1", "AskUserQuestion", choices=[many] * 100)
    assert len(found.model_dump_json()) < 60_000
    assert (found.choices[0].header, found.choices[0].multiple) == ("Colour", True)
