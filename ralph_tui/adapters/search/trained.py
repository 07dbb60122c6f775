"""A trained embedder, from the library of the extra ``ralph-tui[embeddings]``.

Its model is downloaded once, by ``ralph-tui doctor --embedder``. Runs never download it, because
they would have to wait.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from platformdirs import user_cache_path

from ralph_tui.adapters.search.embedder import Embedder, Vector
from ralph_tui.base.errors import install_hint
from ralph_tui.text.sanitize import shorten

LIBRARY: Final = "fastembed"
MODEL: Final = "BAAI/bge-small-en-v1.5"
"""A model with 384 numbers per text, 67 MB, made for short English texts."""
FETCH: Final = "ralph-tui doctor --embedder fetches it"


class Trained:
    """A sentence-embedding model on this machine's CPU."""

    name = "bge-small-en-v1.5"
    dimension = 384
    threshold = 0.65
    """Not measured yet; ``python -m bench --only retrieval`` measures it."""

    def __init__(self, model: Any) -> None:
        """`model` is the library's model object."""
        self._model = model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        places = range(self.dimension)
        return [Vector.of(places, map(float, vector)) for vector in self._model.embed(list(texts))]


@cache
def trained_embedder(*, fetch: bool = False) -> tuple[Embedder | None, str]:
    """Return the trained embedder, or None and a sentence about why it cannot be used.

    With `fetch`, its model may be downloaded. Loading it takes seconds, once per process.
    """
    if find_spec(LIBRARY) is None:
        return None, f"{LIBRARY} is not installed: {install_hint('embeddings')}"
    try:
        model = import_module(LIBRARY).TextEmbedding(
            model_name=MODEL, cache_dir=str(models_folder()), local_files_only=not fetch
        )
        return Trained(model), ""
    except (ImportError, OSError, ValueError, RuntimeError, TypeError, KeyError) as error:
        what = shorten(" ".join(str(error).split()) or type(error).__name__)
        return None, f"{LIBRARY} cannot load {MODEL} ({what}): {FETCH}"


def models_folder() -> Path:
    """Return the model's folder, which all of a user's repositories share."""
    return user_cache_path("ralph-tui", appauthor=False) / "models"
