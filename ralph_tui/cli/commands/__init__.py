"""One module for each command in the table of `cli`, with ``add_arguments`` and ``run``."""
