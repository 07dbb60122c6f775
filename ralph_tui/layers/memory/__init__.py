"""Layer 3: decide which learnings to record, confirm, look up, credit and retire."""
