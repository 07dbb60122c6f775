"""The hook program: what a Claude Code session that ralph-tui did not start runs on its own hooks.

It is copied into a project and runs there alone, without ralph-tui: standard library only.
"""
