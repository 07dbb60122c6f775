"""Learnings from earlier runs, in ``.aiwg/knowledge``: plain files that users may edit.

``ralph-learnings.json`` (and its ``.bak``) has the proven learnings, and ``staging.json`` those
from single runs. Several runs and the user may change them at once (`locking`). `files` reads and
repairs them, `ledger` decides what changes, and `store` combines both as ``ports.Knowledge``.
"""

from pathlib import Path

from ralph_tui.adapters.knowledge.store import KnowledgeStore, knowledge_folder
from ralph_tui.adapters.search.learnings import LearningIndex
from ralph_tui.layers.settings import MemorySettings

__all__ = ["KnowledgeStore", "knowledge_folder", "open_knowledge"]


def open_knowledge(root: Path, run_id: str, settings: MemorySettings) -> KnowledgeStore:
    """Return the knowledge of a worktree for one run; nothing is read yet."""
    index = LearningIndex(root)
    folder = knowledge_folder(root)
    return KnowledgeStore(folder, run_id, settings=settings, scores=index.scores_among)
