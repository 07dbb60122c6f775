"""``fleet run --from-issues``: a loop for each open issue with a given label."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from ralph_tui.adapters.outreach import outbox_folder
from ralph_tui.adapters.outreach.channel import ChannelContext
from ralph_tui.adapters.outreach.http_service import UndeliveredError
from ralph_tui.adapters.outreach.tracker import Issue, Tracker
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.options import load_settings
from ralph_tui.fleet.plan import Plan
from ralph_tui.ports.clones import Loop
from ralph_tui.text.sanitize import clip, one_line

MakeAttempts = Callable[..., tuple[Loop, ...]]
"""The signature of `planning.make_attempts`."""
MAX_ISSUES = 200
"""Maximum number of issues in a fleet."""
MAX_TEXT = 8000
"""Maximum number of characters in an objective made from an issue."""


def loops_from_issues(
    args: argparse.Namespace, root: Path, make_attempts: MakeAttempts
) -> tuple[Loop, ...]:
    """Return a loop, or several attempts, for each issue; raise ``UsageError`` if none is open."""
    label = args.from_issues.strip()
    tracker = _find_tracker(args, root)
    issues: list[Issue] = []
    try:
        for issue in tracker.open_issues(label):
            if len(issues) == MAX_ISSUES:
                raise UsageError(
                    f"more than {MAX_ISSUES} issues have the label; use a narrower one"
                )
            issues.append(issue)
    except UndeliveredError as error:
        raise UsageError(f"cannot read the issues: {error}") from error
    if not issues:
        shown = clip(one_line(label), 80)
        raise UsageError(f"{tracker.place} has no open issue with the label {shown!r}")
    oldest_first = sorted(issues, key=lambda issue: issue.number)
    return tuple(
        loop
        for one in oldest_first
        for loop in make_attempts(args, str(one.number), _issue_objective(one), issue=one.number)
    )


def fill_objectives(plan: Plan, args: argparse.Namespace, root: Path) -> Plan:
    """Fill in objectives from the issues that a fleet file names. Raises ``UsageError``."""
    tracker = _find_tracker(args, root)
    texts: dict[int, str] = {}
    loops = []
    for loop in plan.loops:
        number = loop.issue
        if number is None or loop.objective:
            loops.append(loop)
            continue
        if number not in texts:
            try:
                texts[number] = _issue_objective(tracker.issue(number))
            except UndeliveredError as error:
                raise UsageError(f"issue {number} cannot be read: {error}") from error
        loops.append(loop.model_copy(update={"objective": texts[number]}))
    return plan.model_copy(update={"loops": tuple(loops)})


def _find_tracker(args: argparse.Namespace, root: Path) -> Tracker:
    settings = load_settings(args, root).settings.outreach
    tracker = Tracker.from_settings(ChannelContext(settings, os.environ, outbox_folder(root)))
    if tracker is None:
        raise UsageError(
            "issues need a tracker: set outreach.tracker to gitea or github, and "
            "outreach.repository to owner/name ('ralph-tui config' shows where)"
        )
    return tracker


def _issue_objective(issue: Issue) -> str:
    if not issue.title.strip() and not issue.body.strip():
        raise UsageError(f"issue {issue.number} is empty; describe the task")
    text = f"Resolve issue {issue.number}: {one_line(issue.title)}\n\n{issue.body.strip()}"
    return clip(text, MAX_TEXT).strip()
