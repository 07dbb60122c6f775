"""What `doctor` looks at: a module for each subject, a small function for each check.

Rule: a check reads, writes nothing and asks no network; what it finds is said in a sentence, with
what to do about it. What may hang (a program, a dead mount) has a time limit, and costs only its
own check.
"""

from ralph_tui.cli.checkup.all import CHECKS
from ralph_tui.cli.checkup.finding import Finding, Level
from ralph_tui.cli.checkup.running import findings
from ralph_tui.cli.checkup.surroundings import Surroundings, survey

__all__ = ["CHECKS", "Finding", "Level", "Surroundings", "findings", "survey"]
