"""Work done once before a fork: build models, compile patterns."""

from ralph_tui.events import parse_event
from ralph_tui.text.secrets import redact
from tests.paths import FIXTURES

for _line in (FIXTURES / "journals" / "v1-command.jsonl").read_text().splitlines():
    parse_event(_line).model_dump_json()
    redact(_line)
