"""The built-in embedder, its cache, and how well it finds similar tasks."""

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.result import Scale
from bench.retrieval import quality, tasks
from ralph_tui.adapters.search import trained
from ralph_tui.adapters.search.database import index_folder
from ralph_tui.adapters.search.embedder import HashedConcepts, Vector, cosines
from ralph_tui.adapters.search.related import FEW, KeptVectors, similarity
from ralph_tui.adapters.search.trained import trained_embedder
from tests.rows import each_row

TEXTS = ["Repair the login", "Make authentication green again", "Paint the fence", ""]


class Counting(HashedConcepts):
    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += texts
        return super().embed(texts)


def test_vectors_have_one_length_and_a_text_without_words_none() -> None:
    *full, empty = HashedConcepts().embed(TEXTS)
    for vector in full:
        assert len(vector.places) == len(vector.weights) == len(set(vector.places))
        assert max(vector.places) < HashedConcepts.dimension
        assert math.isclose(math.hypot(*vector.weights), 1, rel_tol=1e-6)
    assert not any(empty)


def test_what_means_the_same_is_nearer_than_what_does_not() -> None:
    login, *others = HashedConcepts().embed(TEXTS)
    authentication, fence, empty = cosines(login, others, HashedConcepts.dimension)
    assert authentication > 2 * abs(fence)
    assert empty == 0


def test_it_gives_the_same_in_every_process() -> None:
    code = (
        "from ralph_tui.adapters.search.embedder import HashedConcepts; "
        "print(HashedConcepts().embed(['Repair the OAuth login'])[0])"
    )
    output = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert output == {f"{HashedConcepts().embed(['Repair the OAuth login'])[0]}\n"}


@each_row("method", ["text", "embedder", "both"])
def test_likeness_is_a_share(method: str) -> None:
    scores = similarity("Repair the login", [*TEXTS, "log " * 9000], HashedConcepts(), method)  # type: ignore[arg-type]
    assert all(0 <= score <= 1 + 1e-9 for score in scores)
    assert scores[0] == pytest.approx(1)
    assert similarity("", TEXTS, HashedConcepts(), method) == [0, 0, 0, 0]  # type: ignore[arg-type]


def test_what_the_bench_reports_does_not_fall() -> None:
    rows = {row.what: row.numbers for row in quality(Scale(quick=True))}
    both = next(row for what, row in rows.items() if "text and hashed" in what)
    text = next(row for what, row in rows.items() if "text alone" in what)
    assert both["held_out_all"] >= 0.85
    assert both["held_out_no_word"] >= 0.75
    assert both["held_out_all"] > text["held_out_all"]
    related = next(row for what, row in rows.items() if what.startswith("related"))
    assert related["held_out_recall"] >= 0.9
    assert related["held_out_precision"] >= 0.38


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    counting = Counting()
    first = KeptVectors(tmp_path, counting).embed(TEXTS)
    again = KeptVectors(tmp_path, counting).embed([*reversed(TEXTS), "Something new"])
    assert counting.embedded == [*TEXTS, "Something new"]
    assert again[3] == first[0]
    assert (index_folder(tmp_path) / "embeddings" / "hashed-concepts-1.db").is_file()


def test_vectors_of_another_form_are_made_again(tmp_path: Path) -> None:
    counting = Counting()
    kept = KeptVectors(tmp_path, counting)
    kept.embed(TEXTS)
    path = index_folder(tmp_path) / "embeddings" / "hashed-concepts-1.db"
    path.write_bytes(b"garbage")
    assert kept.embed(TEXTS) == HashedConcepts().embed(TEXTS)
    counting.dimension = 7
    kept.embed(TEXTS[:1])
    assert counting.embedded == [*TEXTS, *TEXTS, TEXTS[0]]


def test_many_texts_are_read_at_once(tmp_path: Path) -> None:
    counting = Counting()
    texts = [f"{text} {n}" for text in TEXTS for n in range(FEW)]
    made = KeptVectors(tmp_path, counting).embed(texts)
    assert KeptVectors(tmp_path, counting).embed(texts) == made
    assert counting.embedded == texts


def test_without_the_extra_it_is_said_how_to_get_it() -> None:
    if trained_embedder()[0] is not None:
        pytest.skip("the extra is installed here")
    found, why = trained_embedder()
    assert found is None
    assert ".[embeddings]" in why or "doctor --embedder" in why


def test_a_library_that_cannot_load_its_model_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine without a network: the library raises ``ValueError``."""
    (tmp_path / "fastembed_stand_in.py").write_text(
        "class TextEmbedding:\n"
        "    def __init__(self, *, model_name, cache_dir, local_files_only):\n"
        "        raise ValueError(f'no {model_name}, local: {local_files_only}')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(trained, "LIBRARY", "fastembed_stand_in")
    found, why = trained_embedder.__wrapped__()
    assert found is None
    assert "local: True" in why
    assert why.endswith(": ralph-tui doctor --embedder fetches it")


def test_halves_are_measured_apart() -> None:
    assert {task.held_out for task in tasks(held_out=True)} == {True}
    assert {task.held_out for task in tasks(held_out=False)} == {False}
