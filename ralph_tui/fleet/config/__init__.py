"""Files that describe a fleet."""
