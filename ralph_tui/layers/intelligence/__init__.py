"""Layer 2, pure: what the agent is told. Knows only events."""
