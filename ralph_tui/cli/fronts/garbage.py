"""Python's garbage collection, which `cli.main` turns off while a command loads.

A long-running process turns it on here, after loading its modules. The collector then skips all
existing objects, even at exit, where a full collection would take longer than many commands.
"""

import gc

YOUNG, YOUNG_ROUNDS, OLD_ROUNDS = 10_000, 20, 20
"""Thresholds of the three generations. A screen's frame creates a thousand objects, which are freed
without the collector. With Python's defaults, every other dialog waited for a full collection."""


def enable_garbage_collector() -> None:
    """Turn collection on; objects that exist now are never examined again."""
    gc.set_threshold(YOUNG, YOUNG_ROUNDS, OLD_ROUNDS)
    gc.freeze()
    gc.enable()
