"""How a run is reached from other terminals."""
