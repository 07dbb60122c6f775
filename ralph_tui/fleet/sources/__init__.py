"""State sources for the screens of a fleet."""
