"""Whatever a source holds, it is either settings within their ranges or one sentence."""

import ast
import math
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.base.errors import UsageError
from ralph_tui.config import repository_file
from ralph_tui.config import sources as config
from ralph_tui.config.settings import NAMES, Settings, leaves
from ralph_tui.config.sources import load, variable

ANYTHING = st.text(max_size=20) | st.sampled_from(["0", "-1", "1e999", "nan", "true", "8h", "3"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
TABLES = st.dictionaries(
    st.sampled_from(sorted({name.partition(".")[0] for name in NAMES})) | st.text(max_size=5),
    VALUES | st.dictionaries(st.sampled_from([name.rpartition(".")[2] for name in NAMES]), VALUES),
    max_size=3,
)


def outcome(read: Callable[[], Settings]) -> Settings | str:
    """The settings, or the sentence that refuses them."""
    try:
        return read()
    except UsageError as error:
        return str(error)


def _named(problem: str) -> str:
    """The name that a sentence begins with."""
    name = problem[: problem.index(" (FILE)")]
    return str(ast.literal_eval(name)) if name[0] in "'\"" else name


def in_range(settings: Settings) -> bool:
    numbers = [value for value in settings.by_name().values() if isinstance(value, float)]
    return all(math.isfinite(number) and number >= 0 for number in numbers) and (
        1 <= settings.limits.max_iterations <= 1000
    )


@given(st.sampled_from(NAMES), ANYTHING)
def test_text_from_anywhere_means_the_same(name: str, text: str) -> None:
    """Flag, variable and --set agree on what a text says."""
    text = text.strip() or "x"
    outcomes = [
        outcome(lambda: load(None, {}, {}, [f"{name}={text}"]).settings),
        outcome(lambda: load(None, {name: text}, {}).settings),
        outcome(lambda: load(None, {}, {variable(name): text}).settings),
    ]
    if isinstance(outcomes[0], Settings):
        assert in_range(outcomes[0])
        assert outcomes == outcomes[:1] * 3
    else:
        assert all(isinstance(said, str) and name in said for said in outcomes)


@given(TABLES)
def test_a_file_of_any_shape_is_settings_and_a_sentence_for_all_else(
    values: dict[str, Any],
) -> None:
    layer, problems = config._Layer(values, default_origin="FILE"), list[str]()
    good = config._checked(layer, problems)
    assert in_range(Settings.model_validate(good))
    assert all("(FILE)" in problem for problem in problems)
    # Every rejected value is reported, by its name or by its table's name.
    for name, _ in leaves(values):
        taken = name in dict(leaves(good))
        assert taken or any(name.startswith(_named(problem)) for problem in problems), name


@given(TABLES)
def test_nothing_of_the_repositorys_file_reaches_the_agents_rights(values: dict[str, Any]) -> None:
    ignored: list[str] = []
    kept = repository_file._without_refused(values, ignored)
    assert "permissions" not in kept
    agent = kept.get("agent")
    assert not isinstance(agent, dict) or not {"name", "command"} & set(agent)
    assert ignored or repr(kept) == repr(values)


@given(st.text(max_size=200))
def test_any_option_is_settings_or_one_sentence(option: str) -> None:
    said = outcome(lambda: load(None, {}, {}, [option]).settings)
    assert len(said) < 500 if isinstance(said, str) else in_range(said)
