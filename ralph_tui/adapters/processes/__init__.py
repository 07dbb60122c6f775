"""Commands that leave no orphans: the keeper, its client, and the sweep after a killed keeper."""
