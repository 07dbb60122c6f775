"""What earlier runs have taught, in ``.aiwg/knowledge``: plain files that their owner may edit.

``ralph-learnings.json`` (and its ``.bak``) holds what is proven, ``staging.json`` what one run has
said; several runs, and their owner, may change them at once (`locking`). `files` reads and mends
them, `ledger` decides what changes, `store` joins both behind ``ports.Knowledge``.
"""

from ralph_tui.adapters.knowledge.store import KnowledgeStore, knowledge_folder

__all__ = ["KnowledgeStore", "knowledge_folder"]
