"""Redaction for all texts: done once is done, no line end is lost, the work is linear."""

import json
import re
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.secret_forms import Form, caught, forms
from bench.secrets import ORDINARY
from ralph_tui.text.sanitize import plain
from ralph_tui.text.secrets import HIDDEN, assigned, formats, hints, lines, named, redact
from ralph_tui.text.secrets.lines import LineFilter
from tests.examples import FEWER
from tests.rows import each_row
from tests.secret_rules.patterns import LONGEST, analyse, widest

FORMS = forms()
GROWTH = 4
"""The shortest secret has 3 characters, the mark 10."""

pieces = st.one_of(
    st.sampled_from([form.text for form in FORMS]),
    st.sampled_from([form.secret for form in FORMS]),
    st.sampled_from(ORDINARY),
    st.sampled_from(
        [HIDDEN, "password", "token", "tokens", "=", ": ", '"', "\\", "'", "://", "@", "\n", "\\n",
         " ", ";", "--", "Cookie: a=", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
         "{", ",", "4b6866c96c4fa0fb4f6671d288fb9256bb6ef183",
         "5c368d0b-03a4-4576-b470-5b4bb8a1caa4"]
    ),
    st.text(max_size=12),
)  # fmt: skip
texts = st.lists(pieces, max_size=8).map("".join)


@given(texts)
@example("password\n: [redacted]")
@example('"password": "[redacted] and more"')
def test_done_once_is_done(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(texts)
@example("used tokens: A1b2C3d4")
def test_the_quick_look_passes_nothing_that_a_pattern_finds(text: str) -> None:
    assert redact(text) == LineFilter(hints.own_secrets()).block(text)


@given(texts)
def test_every_line_end_stays_and_the_length_is_bounded(text: str) -> None:
    shown = redact(text)
    assert shown.count("\n") == text.count("\n")
    assert len(shown) <= GROWTH * len(text) + len(HIDDEN)


@given(st.lists(texts, max_size=6))
def test_a_stream_shows_what_its_whole_would(parts: list[str]) -> None:
    whole = "\n".join(parts)
    clean = LineFilter(())
    assert "\n".join([clean(line) for line in whole.split("\n")]) == LineFilter(()).block(whole)


@given(
    st.sampled_from(FORMS),
    st.sampled_from(["", "  ", "> ", "\t"]),
    st.sampled_from(["", "\n", "\r\n", "  "]),
)
def test_a_secret_is_hidden_wherever_it_stands(form: Form, before: str, after: str) -> None:
    text = f"{before}{form.text}{after}"
    assert caught(form, redact(text))
    assert caught(form, redact(json.dumps({"text": f"first\n{text}\nlast"})))
    assert caught(form, plain(text))


@FEWER
@given(st.integers(0, 2**32))
def test_no_form_depends_on_its_characters(seed: int) -> None:
    """Except about one in a thousand that happens to look like a word."""
    made = forms(seed)
    assert sum(not caught(form, redact(form.text)) for form in made) <= 12


# -- linear time ---------------------------------------------------------------------------------


def patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, re.Pattern):
                yield name, one


@each_row("module", [formats, assigned, named, lines, hints])
def test_no_pattern_repeats_what_repeats(module: ModuleType) -> None:
    for _, pattern in patterns_of(module):
        analyse(pattern.pattern)


def test_every_pattern_that_starts_anywhere_is_bounded() -> None:
    """At each place a pattern does a bounded number of steps: so many places, so much work.

    The few without a bound are single classes that run once over what they take.
    """
    unbounded = {
        name
        for module in (assigned, named, lines, hints)
        for name, pattern in patterns_of(module)
        if widest(pattern.pattern) > 5000
    }
    assert unbounded == {"_KEY_PIECE"}


def test_every_rule_sees_a_bounded_part_of_the_text() -> None:
    rules = {rule.name: rule for some in formats._index()._starting.values() for _, rule in some}
    for rule in rules.values():
        analysis = analyse(rule.pattern)
        assert rule.reach + rule.behind >= analysis.reach or rule.reach >= LONGEST / 10, rule
        assert rule.reach <= 4096


@pytest.mark.parametrize("anchor", ["sk-", "ghp_", "eyj", "akia", "key-", "hooks.slack.com/"])
@pytest.mark.parametrize("count", [200, 400])
def test_a_line_of_nearly_secrets_is_tried_once_at_each_anchor(
    anchor: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    match = formats._match

    def counted(rule: formats.Rule, text: str, at: int) -> tuple[int, int] | None:
        tried.append(at)
        return match(rule, text, at)

    monkeypatch.setattr(formats, "_match", counted)
    redact((anchor + "Q!") * count + "A1b2C3d4E5f6G7h8")
    rules = len(list(formats._index().at(anchor, 0)))
    assert len(tried) <= (rules + 2) * count + 50
