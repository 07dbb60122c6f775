"""The orchestrator: a run from its first event to its last, iteration by iteration."""
