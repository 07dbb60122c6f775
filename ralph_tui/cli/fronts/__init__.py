"""What shows a run while it works: the cockpit, plain lines, or nothing at all."""
