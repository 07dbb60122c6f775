"""Many loops as one: what is to run, the facts of a fleet, their fold, and what is decided. Pure.

A fleet has a journal of its own, of small facts; what happens within a loop stands in that loop's
journal, wherever it runs.
"""
