"""Access to a run from other terminals."""
