"""Text handling: sanitized input, and numbers, times, terms and keys for output."""
