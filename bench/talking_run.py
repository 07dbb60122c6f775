"""``ralph-tui`` with an additional agent, ``talker``: a real process that prints stream-json."""

import sys
from pathlib import Path

from ralph_tui.adapters import agents
from ralph_tui.adapters.agents import AgentDescription
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.cli import main

TALKER = Path(__file__).with_name("talker.py")

if __name__ == "__main__":
    program = [sys.executable, "-P", str(TALKER), "json", sys.argv[1]]

    talker = AgentDescription(
        name="talker",
        is_ready=lambda settings, environ: True,
        check=lambda context: None,
        build=lambda context: StreamAgent("talker", program, context),
    )
    agents.AGENTS = (*agents.AGENTS, talker)
    sys.exit(main(sys.argv[2:]))
