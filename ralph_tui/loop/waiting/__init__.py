"""The one place where the loop waits; commands are carried out meanwhile."""
