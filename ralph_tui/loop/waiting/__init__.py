"""The one place where the loop waits, and how commands are handled meanwhile."""
