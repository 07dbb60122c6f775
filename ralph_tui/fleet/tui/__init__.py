"""The screen of a fleet: all its loops, and the way into each."""
