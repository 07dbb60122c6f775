"""The orchestrator: runs the loop from its first event to its last, iteration by iteration."""
