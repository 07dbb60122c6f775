"""Short dialogs over the cockpit; each returns one value and decides nothing itself."""
