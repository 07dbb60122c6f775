"""Short dialogs over the cockpit; each returns one value and makes no decisions itself."""
