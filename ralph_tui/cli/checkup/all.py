"""All checks in order: what a first run needs, then what makes it pleasant."""

from ralph_tui.cli.checkup.agents import check_agent, check_other_agents
from ralph_tui.cli.checkup.disk import check_disk, check_watches
from ralph_tui.cli.checkup.git import check_git
from ralph_tui.cli.checkup.records import check_records
from ralph_tui.cli.checkup.set_up import check_messages, check_python, check_settings
from ralph_tui.cli.checkup.terminal import check_colours, check_terminal
from ralph_tui.cli.checkup.tmux import check_clipboard, check_tmux

CHECKS = {
    "python": check_python,
    "git": check_git,
    "agent": check_agent,
    "other agents": check_other_agents,
    "settings": check_settings,
    "disk": check_disk,
    "watches": check_watches,
    "records": check_records,
    "messages": check_messages,
    "terminal": check_terminal,
    "colours": check_colours,
    "tmux": check_tmux,
    "clipboard": check_clipboard,
}
"""Checks by subject, the name under which a check that times out is reported."""
