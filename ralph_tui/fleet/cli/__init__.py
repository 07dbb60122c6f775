"""Commands of ``ralph-tui fleet``: start, watch, steer and prune a fleet."""
