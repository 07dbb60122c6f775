"""``ralph-tui`` with one more agent, ``talker``: a real process that speaks stream-json."""

import sys
from pathlib import Path

from ralph_tui.adapters import agents
from ralph_tui.adapters.agents import StreamAgent
from ralph_tui.cli import main
from ralph_tui.ports import Agent

TALKER = Path(__file__).with_name("talker.py")

if __name__ == "__main__":
    program = [sys.executable, "-P", str(TALKER), "json", sys.argv[1]]

    def _talker(context: agents.AgentContext) -> Agent:
        return StreamAgent("talker", program, context)

    agents.AGENTS = {**agents.AGENTS, "talker": _talker}
    sys.exit(main(sys.argv[2:]))
