"""The overseer's use of other evidence: files, words, tool calls, errors."""

from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.oversight import DetectionName, Level, Subject
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import Evidence, Finding
from ralph_tui.layers.oversight.objective import missing_from, missing_goals, named_by
from ralph_tui.layers.oversight.redirects import propose, recommendations
from ralph_tui.layers.settings import IntelligenceSettings
from tests.rows import each_row

LOGIN = "Implement user login with JWT tokens"
STRAYED = Evidence(objective=LOGIN, changed=("docs/palette.md", "theme/colors.css"))


class Run:
    """A run with a generous budget, fed measurement by measurement with its evidence."""

    def __init__(
        self,
        most: int = 1000,
        baseline: float = 0.0,
        tests: int | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self.budget = Budget(most, tests)
        settings = IntelligenceSettings(strict_validation=strict)
        self.governor = Governor(baseline, intelligence=settings)

    def take(self, completion: float, evidence: Evidence | None = None, **marks: bool) -> Finding:
        k = self.governor.history.iteration + 1
        finding = self.governor.take(Sample(k, completion, **marks), self.budget, evidence).finding
        assert finding
        return finding

    def climb(self, points: float, evidence: Evidence) -> Finding:
        """One more step of that size."""
        return self.take(self.governor.history.reading + points, evidence)


def names(finding: Finding) -> list[DetectionName]:
    return [found.name for found in finding.detections]


def about(finding: Finding, level: Level) -> list[Subject]:
    return [found.about for found in finding.situations if found.level == level]


# -- the words of an objective ---------------------------------------------------------------------


@each_row(
    ("objective", "work"),
    [
        ("Fix the failing parser tests", "src/parser.py"),
        ("Fix the failing parser and lexer tests", "src/lexer/tokens.py"),
        ("Fix the failing parser and lexer tests", "src/parsing.py"),
        (LOGIN, "src/auth/jwt.py tests/test_user.py"),
        (LOGIN, "server/UserController.ts server/loginForm.tsx"),
        ("Migrate the database from MySQL to Postgres", "db/settings.py moved to postgres driver"),
        ("Make the configuration reloadable without a restart", "app/config.py"),
        ("Speed up the authentication of sessions", "auth.py session.py"),
    ],
)
def test_work_on_the_objective_is_recognised(objective: str, work: str) -> None:
    assert missing_from(objective, work) == ()


@each_row("work", ["docs/palette.md theme/colors.css", "README.md", "Makefile"])
def test_work_on_something_else_is_recognised_too(work: str) -> None:
    assert missing_from(LOGIN, work) == ("user", "login", "jwt", "tokens")


@each_row(
    "objective",
    [
        "",
        "Make it work",
        "Fix the failing tests of the calculator",
        "Fix all bugs and make every test pass",
        "Behebe alle Fehler in der Anmeldung und der Abmeldung",
        "Fix die Tests in der Anmeldung und im Warenkorb",
        "Corrige los errores del analizador y del formulario",
        "Corrige os testes do analisador e do formulário",
        "Réparer les tests de connexion et de paiement",
        "Fix the Anmeldeformular für Benutzer",
        "Napraw testy logowania",
        "ログインのテストを直す",
        "12345 67890",
    ],
)
def test_an_objective_that_names_nothing_or_is_not_english_never_deviates(objective: str) -> None:
    assert missing_from(objective, "entirely/unrelated.xyz") == ()


def test_one_word_of_four_is_too_little_and_one_of_three_is_enough() -> None:
    assert missing_from(LOGIN, "src/login.py")
    assert not missing_from("Implement user login with JWT", "src/login.py")


def test_of_a_long_objective_a_few_words_are_enough() -> None:
    nouns = " ".join(f"{letter}{word}" for letter in "bcdfgh" for word in ("arnacle", "olumbine"))
    objective = f"Implement the {nouns}"
    assert len(named_by(objective)) == 12
    assert missing_from(objective, "barnacle.py bolumbine.py")
    assert not missing_from(objective, "barnacle.py bolumbine.py carnacle.py")


@given(st.text(), st.text())
def test_any_text_can_be_looked_at(objective: str, work: str) -> None:
    assert set(missing_from(objective, work)) <= set(named_by(objective))
    assert missing_from(objective, f"{work} {objective}") == ()


# -- deviation -------------------------------------------------------------------------------------


def test_a_deviation_warns_and_the_third_in_a_row_redirects() -> None:
    run = Run(100, tests=12)  # n is 25: nothing else would ask
    run.take(30)
    verdicts = [run.take(30, STRAYED) for _ in range(4)]
    assert [finding.level for finding in verdicts] == ["WARN", "WARN", "REDIRECT", "WARN"]
    assert all(names(finding) == ["objective_deviation"] for finding in verdicts)
    assert verdicts[0].detections[0].severity == "medium"
    assert "user, login, jwt, tokens" in verdicts[0].situations[0].reason
    opened = verdicts[2].opened
    assert opened
    assert opened.about == "objective_deviation"
    assert verdicts[3].situations[0].about == "objective_deviation"


AUTH = Evidence(
    objective="Fix the failing auth tests",
    failed_before=("tests/test_auth.py::test_login", "tests/test_auth.py::test_logout"),
    failing=("tests/test_auth.py::test_login", "tests/test_auth.py::test_logout"),
    changed=("docs/palette.md", "theme/colors.css"),
)


def deviations(evidence: Evidence) -> list[DetectionName]:
    """Return what is detected after an iteration without a gain."""
    run = Run(100, tests=12)
    run.take(30)
    return names(run.take(30, evidence))


def test_a_short_or_foreign_objective_is_judged_by_failing_tests_and_english_items() -> None:
    assert deviations(AUTH) == ["objective_deviation"]
    assert deviations(replace(AUTH, changed=("src/auth.py",))) == []
    assert deviations(replace(AUTH, words="The logout needs a session")) == []
    assert (
        deviations(replace(AUTH, changed=("src/tokens.py",), output_words="tokens.py:3: E")) == []
    )
    assert deviations(replace(AUTH, failed_before=())) == []
    foreign = replace(AUTH, objective="Behebe alle Fehler in der Anmeldung und der Abmeldung")
    assert deviations(foreign) == ["objective_deviation"]
    for text in ("Behebe Anmeldung, Abmeldung", "Fix Anmeldung und Abmeldung", "Fix Prüfung, Tür"):
        goals = replace(AUTH, objective=text)
        assert deviations(goals) == ["objective_deviation"]
        assert deviations(replace(goals, failed_before=())) == [], "its own words do not count"
    planned = replace(foreign, failed_before=(), items=("Write the lexer for the scanner",))
    assert deviations(planned) == ["objective_deviation"]
    assert deviations(replace(planned, changed=("src/lexer.py",))) == []
    assert deviations(replace(planned, items=("Schreibe den Zerteiler und die Regeln",))) == []


def test_work_on_an_open_item_or_a_failing_test_is_on_course_whatever_the_objective_names() -> None:
    assert deviations(STRAYED) == ["objective_deviation"]
    assert deviations(replace(STRAYED, items=("Choose a palette of colors",))) == []
    assert deviations(replace(STRAYED, failed_before=("tests/test_theme.py::test_dark",))) == []


@given(st.lists(st.text()), st.lists(st.text()), st.lists(st.text()))
def test_more_work_never_leaves_the_course(
    items: list[str], failed: list[str], changed: list[str]
) -> None:
    evidence = Evidence(items=tuple(items), failed_before=tuple(failed), changed=tuple(changed))
    if missing_goals(evidence, " ".join(changed)) is None:
        assert missing_goals(evidence, " ".join([*changed, "palette"])) is None


def test_no_deviation_when_the_best_rose_or_nothing_changed() -> None:
    run = Run()
    assert names(run.take(10, STRAYED)) == []
    assert names(run.take(10.1, STRAYED)) == []
    assert names(run.take(10.1, Evidence(objective=LOGIN))) == []
    assert names(run.take(9, STRAYED)) == ["objective_deviation"]
    assert names(run.take(10, STRAYED)) == ["objective_deviation"]
    assert names(run.take(20, STRAYED, restarted=True)) == []
    assert names(run.take(100, STRAYED)) == []


def test_a_useful_iteration_breaks_the_row() -> None:
    run = Run(100, tests=12)
    run.take(30)
    useful = Evidence(objective=LOGIN, changed=("src/login.py", "src/user.py"))
    taken = [STRAYED, STRAYED, useful, STRAYED, STRAYED]
    assert [run.take(30, one).level for one in taken] == ["WARN", "WARN", None, "WARN", "WARN"]


@each_row(
    "evidence",
    [
        Evidence(LOGIN, ("a.py",), failing=("tests/test_login.py::test_user",)),
        Evidence(LOGIN, ("a.py",), words="the login form now knows its user"),
    ],
)
def test_failing_tests_and_words_count_like_paths(evidence: Evidence) -> None:
    run = Run()
    run.take(30)
    assert names(run.take(30, evidence)) == []


def test_a_condition_opens_before_a_deviation_and_an_open_episode_keeps_it_a_warning() -> None:
    run = Run(30)
    verdicts = [run.take(30, STRAYED) for _ in range(5)]
    assert verdicts[3].opened
    assert verdicts[3].opened.about == "stuck"
    assert names(verdicts[3]) == ["stuck", "objective_deviation"]
    assert about(verdicts[3], "WARN") == ["objective_deviation"]
    assert verdicts[4].opened is None


def test_a_deviation_asks_nothing_at_the_limit_nor_of_an_estimate() -> None:
    run = Run(4, tests=3)
    levels = [run.take(30, STRAYED).level for _ in range(4)]
    assert "REDIRECT" not in levels[3:]
    run = Run(100, tests=12)
    run.take(30, estimated=True)
    assert [run.take(30, STRAYED, estimated=True).level for _ in range(4)] == ["WARN"] * 4


def test_an_episode_of_a_deviation_pauses_and_ends_like_others() -> None:
    run = Run(100)
    run.take(30)
    useful = Evidence(objective=LOGIN, changed=("src/login.py", "src/user.py"))
    for _ in range(3):
        run.take(30, STRAYED)
    assert run.governor.memory.episode
    levels = [run.take(30, useful).level for _ in range(10)]
    assert levels.index("PAUSE") == 8  # when STUCK has stood too, and not two iterations later
    ended = run.take(36, useful).ended
    assert ended
    assert ended.about == "objective_deviation"


# -- tool calls ------------------------------------------------------------------------------------


def test_a_thousand_calls_without_a_gain_pause_once() -> None:
    run = Run()
    calls = Evidence(actions=300)
    run.climb(50, calls)
    verdicts = [run.climb(0.5, calls) for _ in range(6)]
    assert [("resource_burn" in names(finding)) for finding in verdicts] == [False] * 3 + [True] * 3
    assert [about(finding, "PAUSE") for finding in verdicts] == [[]] * 3 + [
        ["resource_burn"], [], [],
    ]  # fmt: skip
    assert "1200 actions since completion last rose noticeably" in verdicts[3].situations[0].reason
    assert "resource_burn" not in names(run.climb(5, calls))
    later = [run.climb(0, calls) for _ in range(5)]
    assert "resource_burn" in names(later[-1])
    assert all("resource_burn" not in about(finding, "PAUSE") for finding in later)


def test_another_source_has_bests_of_its_own() -> None:
    run = Run()
    run.take(80, Evidence(actions=10))
    run.take(20, restarted=True)
    run.take(20, Evidence(actions=900))
    assert names(run.take(30, Evidence(actions=900))) == []


def test_five_thousand_calls_at_a_low_mean_pause() -> None:
    run = Run()
    calls = Evidence(actions=900)
    verdicts = [run.climb(6, calls) for _ in range(7)]  # 6, 12, ... 42: every step a gain
    assert [names(finding) for finding in verdicts] == [[]] * 5 + [["resource_burn"]] * 2
    assert verdicts[5].level == "PAUSE"
    assert verdicts[5].situations[0].about == "resource_burn"
    assert verdicts[5].detections[0].severity == "high"
    assert "5400 actions" in verdicts[5].detections[0].reason
    run = Run(baseline=30)
    assert [names(run.climb(6, calls)) for _ in range(7)] == [[]] * 7


def test_burn_is_not_asked_about_at_the_limit_but_once_there_is_room_again() -> None:
    run = Run(2)
    run.take(50, Evidence(actions=600))
    assert about(run.take(50, Evidence(actions=2000)), "PAUSE") == []
    run.budget = Budget(1000)
    assert about(run.take(50), "PAUSE") == ["resource_burn"]


# -- conflicts and errors --------------------------------------------------------------------------


def test_conflicts_pause_when_they_appear_and_again_after_they_were_gone() -> None:
    run = Run()
    conflict = Evidence(conflicts=("a.py",))
    taken = [conflict, Evidence(conflicts=("a.py", "b.py")), None, conflict, conflict]
    verdicts = [run.climb(5, one or Evidence()) for one in taken]
    assert [finding.level for finding in verdicts] == ["PAUSE", None, None, "PAUSE", None]
    assert verdicts[0].situations[0].reason == "Unresolved git conflicts in a.py."


def test_conflicts_are_no_question_at_the_limit_or_at_100() -> None:
    run = Run(1)
    assert about(run.take(50, Evidence(conflicts=("a.py",))), "PAUSE") == []
    assert Run().take(100, Evidence(conflicts=("a.py",))).level is None


def test_the_same_error_three_times_in_a_row_aborts() -> None:
    run = Run()
    errors = [f"session {n}f{n}a: exit {n} at 10:4{n} in /tmp/x{n}/log" for n in range(1, 4)]
    assert [run.climb(5, Evidence(error=error)).level for error in errors] == [None, None, "ABORT"]
    run = Run()
    errors = ["no such model", "no such model", "", "no such model", "out of memory"]
    assert [run.climb(5, Evidence(error=error)).level for error in errors] == [None] * 5


def test_an_error_aborts_at_the_limit_too_and_acts_before_no_progress() -> None:
    run = Run(3)
    for _ in range(2):
        run.take(0, Evidence(error="no such model"))
    finding = run.take(0, Evidence(error="no such model"))
    assert about(finding, "ABORT") == ["agent_error", "no_progress"]
    assert finding.situations[0].reason.endswith("no such model")


# -- words -----------------------------------------------------------------------------------------


@each_row("subject", get_args(Subject))
def test_every_subject_has_instructions_and_recommendations(subject: Subject) -> None:
    assert propose(subject).endswith(".")
    advice = recommendations(subject)
    assert bool(advice) is (subject not in ("owner", "unanswered"))
    assert all(line.endswith((".", ")")) for line in advice)


def test_the_memory_is_as_small_after_a_thousand_iterations() -> None:
    run = Run(5000)
    for k in range(1000):
        run.take(k % 7, Evidence(LOGIN, (f"f{k}.md",), actions=3, conflicts=(f"c{k}",)))
    assert len(repr(run.governor.memory)) < 1000


# -- validation errors -----------------------------------------------------------------------------

UNPROVEN = ("unproven_promise", "The agent says it is done, but the completion command fails.")
FEWER = ("fewer_tests", "8 tests counted, 10 before.")


def invalid(*errors: tuple[str, str]) -> Evidence:
    return Evidence(invalid=errors)


def test_a_validation_error_warns_at_once_and_once() -> None:
    run = Run()
    first = run.take(10, invalid(UNPROVEN))
    assert about(first, "WARN") == ["validation"]
    assert first.situations[0].reason == UNPROVEN[1]
    assert about(run.take(20, invalid(UNPROVEN)), "WARN") == []
    again = run.take(30, invalid(UNPROVEN, FEWER))
    assert [one.reason for one in again.situations if one.about == "validation"] == [FEWER[1]]
    assert about(run.take(40), "WARN") == []
    assert about(run.take(50, invalid(UNPROVEN)), "WARN") == ["validation"]


def test_the_same_error_three_times_without_a_new_best_redirects() -> None:
    run = Run(tests=10)  # patient: STUCK comes much later
    run.take(40)
    found = [run.take(40, invalid(UNPROVEN)) for _ in range(3)]
    assert [about(one, "REDIRECT") for one in found] == [[], [], ["validation"]]
    assert found[2].opened
    assert found[2].situations[0].reason == (
        f"3 iterations in a row had the same error: {UNPROVEN[1]}"
    )
    assert not run.take(40, invalid(UNPROVEN)).opened, "one episode at a time"


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([(), (UNPROVEN,), (FEWER,)]))))
def test_no_run_is_redirected_for_errors_while_its_best_rises(
    steps: list[tuple[bool, tuple[tuple[str, str], ...]]],
) -> None:
    run, streak = Run(tests=10), 0
    last: tuple[tuple[str, str], ...] = ()
    for rises, errors in steps:
        reading = run.governor.history.best + (0.4 if rises else 0)
        found = run.take(min(99.0, reading), invalid(*errors))
        streak = streak + 1 if errors and errors == last else int(bool(errors))
        streak = 0 if rises and reading <= 99 else streak
        last = errors
        if "validation" in about(found, "REDIRECT"):
            assert streak >= 3


def test_strict_validation_pauses_for_every_error() -> None:
    run = Run(most=4, strict=True)
    found = [run.take(10 * k, invalid(UNPROVEN)) for k in range(1, 5)]
    assert [about(one, "PAUSE") for one in found[:2]] == [["validation"]] * 2
    assert "validation" not in about(found[3], "PAUSE"), "nothing is asked after the last iteration"
