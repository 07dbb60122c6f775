"""Watch the user's own Claude Code sessions through hooks.

It writes two entries in a project's ``.claude/settings.json`` and a copy of the hook program. It
writes nothing else in the project, and nothing in the user's home.
"""
