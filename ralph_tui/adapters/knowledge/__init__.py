"""What earlier runs have taught, in ``.aiwg/knowledge``: plain files that their owner may edit.

``ralph-learnings.json`` (and its ``.bak``) holds what is proven, ``staging.json`` what one run has
said; several runs, and their owner, may change them at once (`locking`). `files` reads and mends
them, `ledger` decides what changes, `store` joins both behind ``ports.Knowledge``.
"""

from pathlib import Path

from ralph_tui.adapters.knowledge.store import KnowledgeStore, knowledge_folder
from ralph_tui.adapters.search.learnings import LearningIndex

__all__ = ["KnowledgeStore", "knowledge_folder", "open_knowledge"]


def open_knowledge(root: Path, run_id: str) -> KnowledgeStore:
    """The knowledge of a worktree as one run uses it; nothing is read yet."""
    index = LearningIndex(root)
    return KnowledgeStore(knowledge_folder(root), run_id, scores=index.scores_among)
