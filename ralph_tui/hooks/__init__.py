"""The extension that watches the user's own Claude Code sessions through hooks."""
