"""Run a host's loops, each in its own clone and under a keeper, and report their progress."""
