"""The screen of a fleet, with all its loops."""
