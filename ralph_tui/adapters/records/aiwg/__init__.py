"""AIWG files for people and other tools, derived from the journal or written next to it.

These are ``attempt.json``, ``outcome.json``, ``plan.md``, ``actions.jsonl``, a task's files, and
files about single moments of a session. A run does not read them, except that a new run finds its
task by ``metadata.json``.
"""
