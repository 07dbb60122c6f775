"""Text handling: sanitizes input, and formats numbers, times, terms and keys for output."""
