"""Python's collection of garbage, off while a command loads: `main` of the command line says why.

Rule: a process that works for a while enables it here, when it has loaded what it needs. What is
there by then is not looked through again, neither later nor at the end of the process, where that
takes longer than many a command.
"""

import gc

YOUNG, YOUNG_ROUNDS, OLD_ROUNDS = 10_000, 20, 20
"""Things that are made between two looks for garbage, and how many such looks lead to a longer one:
a frame of the screen makes a thousand things, which go by themselves. With Python's own numbers
every other dialog waited for a look at everything."""


def collect_garbage_again() -> None:
    """What was loaded and made until now stays: it need not be looked through again."""
    gc.set_threshold(YOUNG, YOUNG_ROUNDS, OLD_ROUNDS)
    gc.freeze()
    gc.enable()
