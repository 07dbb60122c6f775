"""Sources of a screen's events: a live run, a record, another process."""
