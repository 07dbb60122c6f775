"""Where a screen's events come from: a live run, a record, another process."""
