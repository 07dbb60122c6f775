"""``--run RUN``, the same for every command that speaks to a living run. Loads nothing."""

import argparse


def add_run_option(parser: argparse.ArgumentParser) -> None:
    """Which run is meant."""
    parser.add_argument(
        "--run",
        metavar="RUN",
        help="task, task/attempt, folder or journal; without it the run of this folder",
    )
