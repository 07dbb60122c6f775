"""The agent `claude`: Claude Code, its command line, its permission rules and its stream-json."""
