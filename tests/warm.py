"""What a program does once, done before it is forked: models are built, patterns compiled."""

from ralph_tui.events import parse_event
from ralph_tui.text.secrets import redact
from tests.paths import FIXTURES

for _line in (FIXTURES / "journals" / "v1-command.jsonl").read_text().splitlines():
    parse_event(_line).model_dump_json()
    redact(_line)
