"""Search of the records: a full-text index, an embedder, and related tasks.

All of it is a cache below ``.aiwg/ralph/index``: deleting it loses nothing.
"""
