"""The hooks of Claude Code sessions that ralph-tui did not start, put into a project.

Two entries in its ``.claude/settings.json`` and a copy of the hook program; nothing else of the
project, and nothing of its user's home, is ever written.
"""
