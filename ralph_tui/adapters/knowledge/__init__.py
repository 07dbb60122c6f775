"""Learnings from earlier runs, in ``.aiwg/knowledge``: plain files that users may edit.

``ralph-learnings.json`` (and its ``.bak``) has the proven learnings, and ``staging.json`` those
from single runs. Several runs and the user may change them at once (`locking`). `files` reads and
repairs them, `ledger` decides what changes, and `store` combines both as ``ports.Knowledge``.
"""

from pathlib import Path

from ralph_tui.adapters.knowledge.store import KnowledgeStore, knowledge_folder
from ralph_tui.adapters.search.learnings import LearningIndex

__all__ = ["KnowledgeStore", "knowledge_folder", "open_knowledge"]


def open_knowledge(root: Path, run_id: str) -> KnowledgeStore:
    """Return a worktree's knowledge for one run; nothing has been read yet."""
    index = LearningIndex(root)
    return KnowledgeStore(knowledge_folder(root), run_id, scores=index.scores_among)
