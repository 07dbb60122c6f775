"""What ``fleet worker`` takes. Loads nothing of Dask."""

import argparse

from ralph_tui.fleet.dispatch.address import KEY_HOLDERS

AGENTS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.description = (
        "Runs loops of the fleet at ADDRESS on this machine, each in a clone of its own. "
        f"{KEY_HOLDERS.capitalize()}."
    )
    parser.add_argument("address", metavar="ADDRESS", help="of the fleet: tls://HOST:PORT")
    parser.add_argument(
        "--agents", metavar="N", type=int, default=AGENTS, help=f"loops at once ({AGENTS})"
    )
    parser.add_argument("--tls", metavar="FOLDER", help="a copy of the folder of the fleet's key")
    parser.add_argument(
        "--lease",
        metavar="TIME",
        help="stop loops when the fleet was not heard for so long (what the fleet says, at most)",
    )
    parser.add_argument("--base", metavar="FOLDER", help="where the loops' trees lie")
    parser.add_argument("--name", metavar="NAME", help="of this host (the machine's)")
