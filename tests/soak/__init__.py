"""Crash tests that really kill: whole runs of the demo, killed at many moments and resumed."""
