"""What can be found in the records: a full-text index, an embedder, and the tasks like a task.

All of it is a cache below ``.aiwg/ralph/index``: deleting it loses nothing.
"""
