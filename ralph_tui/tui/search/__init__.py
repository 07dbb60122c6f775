"""The screen that finds places in the runs of a repository."""
