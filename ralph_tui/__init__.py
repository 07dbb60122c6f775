"""ralph-tui: a terminal cockpit that runs a coding agent in a loop under closed-loop control."""

__version__ = "0.2.0"
