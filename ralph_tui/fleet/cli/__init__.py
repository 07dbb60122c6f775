"""What the commands of a fleet share: its plan, its socket, its lines."""
