"""The files of the AIWG schema: for people and other tools, made from the journal or beside it.

``attempt.json``, ``outcome.json``, ``plan.md``, ``actions.jsonl``, a task's files, and those of
single moments of a session. A run never reads them; a new one finds its task by ``metadata.json``.
"""
