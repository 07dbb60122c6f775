"""Short dialogs over the cockpit; each answers with one value and decides nothing itself."""
