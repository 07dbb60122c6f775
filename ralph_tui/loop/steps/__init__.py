"""The steps of an iteration, each with the ports it needs."""
