"""Text on its way in (foreign, sanitized) and out (numbers, times, terms, keys)."""
