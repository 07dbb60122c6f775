"""Pure readings of the outside: test output, plans, reports, categories. Knows only events."""
