"""Runs that other tools recorded, read-only: found, listed, and told in events of ours.

A form is found and listed by one module, told by another: what it reads becomes a `ToldRun`, and
`telling` makes of any of these the events that our own loop would have recorded.
"""
