"""A run in this process: what was asked for, checked, assembled, hosted."""
