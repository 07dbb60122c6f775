"""The screen that searches all runs of a repository."""
