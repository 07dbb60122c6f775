"""Where the screens of a fleet get its state."""
