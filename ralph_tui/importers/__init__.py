"""Read runs that other tools recorded: find, list and convert them, without changing their files.

For each format, one module finds and lists runs, and another reads a run into a `RunContent`. From
that, `conversion` makes the events that ralph-tui's own loop would have recorded.
"""
