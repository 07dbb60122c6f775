"""The extension that watches the user's own Claude Code sessions through hooks.

Two entries in a project's ``.claude/settings.json`` and a copy of the hook program; nothing else of
the project, and nothing of its user's home, is ever written.
"""
