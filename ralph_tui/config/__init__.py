"""Settings: their definitions (`settings`), and where each value came from (`sources`)."""
