"""What the steps of an iteration do, each with the ports it needs."""
