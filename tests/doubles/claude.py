"""The stub: plays `STUB_SCENARIO` as Claude Code would, tools and all.

`STUB_STATE`, a folder, lets several sessions be one story: it counts them, knows their identifiers
and what they cost. `STUB_VERSION` is the version it says it is; `STUB_PACE` how long a second of
waiting for a retry takes. With `STUB_SERVICE`, the address of a service as in `api`, it asks there
for each answer, with the conversation as it stands.
"""

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from tests.doubles import arguments, hostile
from tests.doubles.inbox import BadLineError
from tests.doubles.scenario import Answer, Scenario, Script, load
from tests.doubles.session import Session, fresh_id
from tests.doubles.turns import Limits
from tests.doubles.version import claude_line, version_of
from tests.doubles.wire import ALIASES, Json, Wire

OLDEST_MODERN = (2, 1, 300)
"""From here on events carry more keys, and injected messages get receipts."""


def main(argv: Sequence[str]) -> int:
    """Play; the exit code."""
    version = version_of(os.environ)
    try:
        options = arguments.parse(argv, os.environ)
    except arguments.RefusedError as refused:
        return _complain(str(refused))
    if options.version:
        print(claude_line(os.environ))  # noqa: T201
        return 0
    if options.help:
        print(arguments.parser(version).format_help())  # noqa: T201
        return 0
    root = Path.cwd()
    path = os.environ.get("STUB_SCENARIO", "success")
    scenario = load(path, root=str(root), python=sys.executable)
    return _play(options, scenario, version, root)


def _play(options: Namespace, scenario: Scenario, version: str, root: Path) -> int:
    state = _State(os.environ.get("STUB_STATE"))
    resumed = None if options.fork_session else options.resume
    session_id = options.session_id or resumed or fresh_id()
    if options.session_id and session_id in state.costs and not options.resume:
        return _complain(f"Error: Session ID {session_id} is already in use.")
    prompt = None
    if options.input_format == "text":
        prompt = options.prompt or sys.stdin.read()
    key = scenario.question(prompt) if prompt is not None else None
    answers = scenario.answers(state.begin()) if key is None else [state.ask(scenario, key)]
    wire = Wire(
        session_id=session_id,
        cwd=str(root),
        model=ALIASES.get(options.model or "", options.model) or scenario.model,
        version=version,
        permission_mode=options.permission_mode or "default",
        key_source="ANTHROPIC_API_KEY" if os.environ.get("ANTHROPIC_API_KEY") else "none",
        window=scenario.context_window,
        modern=arguments.as_numbers(version) >= OLDEST_MODERN,
    )
    script = Script(answers, state.began)
    if url := os.environ.get("STUB_SERVICE"):
        # What asks a service is loaded where there is one.
        from tests.doubles.asking import Asking

        script = Asking(url, wire)
    # Older versions start counting again.
    wire.paid_before = state.costs.get(options.resume or "", 0.0) if wire.modern else 0.0
    if scenario.hostile:
        return hostile.HABITS[scenario.hostile](wire)
    if options.resume and options.resume not in state.costs:
        text = f"No conversation found with session ID: {options.resume}"
        wire.bad_resume(text)
        return _complain(text)
    state.paid(session_id, state.costs.get(session_id, 0.0))
    wire.only_results = options.output_format == "json"
    limits = Limits(
        turns=options.max_turns,
        budget_usd=getattr(options, "max_budget_usd", None),
        allowed=tuple(rule for item in options.allowedTools for rule in item.split(",")),
        replay=options.replay_user_messages,
        asks=options.permission_prompt_tool == "stdio",
        structured=bool(options.json_schema),
    )
    session = Session(scenario, script, wire, limits, root)
    try:
        return session.run(prompt)
    except BadLineError:
        return _complain("Error parsing streaming input line: SyntaxError: JSON Parse error")
    finally:
        state.paid(session_id, wire.cost())


class _State:
    """State shared by the sessions of one story; without a folder nothing is shared."""

    def __init__(self, folder: str | None) -> None:
        self._file = Path(folder) / "state.json" if folder else None
        self._data: Json = {"sessions": 0, "began": time.time(), "costs": {}, "questions": {}}
        if self._file is not None and self._file.exists():
            self._data = json.loads(self._file.read_text())
        self.began: float = self._data["began"]
        self.costs: dict[str, float] = self._data["costs"]

    def begin(self) -> int:
        """The number of this session."""
        number = int(self._data["sessions"])
        self._data["sessions"] = number + 1
        self._save()
        return number

    def ask(self, scenario: Scenario, key: str) -> Answer:
        """The answer to a scripted question."""
        asked = self._data["questions"]
        asked[key] = asked.get(key, 0) + 1
        self._save()
        return scenario.nth_answer(key, int(asked[key]))

    def paid(self, session_id: str, cost: float) -> None:
        """Record the cost of a session so far."""
        self.costs[session_id] = cost
        self._save()

    def _save(self) -> None:
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(self._data))


def _complain(text: str) -> int:
    print(text, file=sys.stderr)  # noqa: T201
    return 1
