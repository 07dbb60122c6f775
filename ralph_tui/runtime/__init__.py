"""A run in this process: check its request, assemble it, and host it."""
