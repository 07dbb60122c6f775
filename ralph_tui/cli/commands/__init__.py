"""One module for each command of the table in `cli`, with ``add_arguments`` and ``run``."""
