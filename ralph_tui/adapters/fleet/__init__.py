"""A fleet's outside: its records, the trees of its loops, the host that runs them, and dispatch."""
