"""The checks of `doctor`: a module for each subject, a small function for each check.

A check only reads: it writes nothing and makes no network request. It reports each finding as a
sentence, with a fix. Anything that might hang (a program, a dead mount) has a time limit, and
blocks only its own check.
"""

from ralph_tui.cli.checkup.all import CHECKS
from ralph_tui.cli.checkup.environment import Environment, read_environment
from ralph_tui.cli.checkup.finding import Finding, Level
from ralph_tui.cli.checkup.runner import run_checks

__all__ = ["CHECKS", "Environment", "Finding", "Level", "read_environment", "run_checks"]
