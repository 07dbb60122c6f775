"""The only place where the loop waits; commands are carried out during a wait."""
