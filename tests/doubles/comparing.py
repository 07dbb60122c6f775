"""Parts common to two runs of a scenario, in a comparable form."""

import re
from collections.abc import Mapping
from pathlib import Path

from tests.doubles.driver import Run
from tests.doubles.scenario import Json

RESULT = (
    "subtype", "is_error", "terminal_reason", "api_error_status", "api_error", "num_turns",
    "stop_reason", "result", "structured_output",
)  # fmt: skip
USAGE = ("input_tokens", "cache_read_input_tokens", "output_tokens")
RETRY = ("attempt", "max_retries", "error_status", "error")
MESSAGE = ("error", "parent_tool_use_id", "isReplay", "isSynthetic")


def outline(run: Run, root: Path) -> Json:
    """Everything of a run that does not differ from one to the next of the same program."""
    names: dict[str, str] = {}
    return {
        "exit code": "0 or 1" if _interrupted(run) else run.exit_code,
        "kinds": run.kinds(),
        "events": [_event(event, names) for event in run.events],
        "long line": run.longest_line > 500_000,
        "stderr": bool(run.stderr),
        "files": files(root),
    }


def _interrupted(run: Run) -> bool:
    """True if SIGINT ended it: the real binary then exits with either 0 or 1."""
    reason = (run.result or {}).get("terminal_reason")
    return str(reason).startswith("aborted") and run.exit_code in (0, 1)


def files(root: Path) -> Mapping[str, str]:
    """The texts of a project."""
    return {
        str(path.relative_to(root)): path.read_text(errors="replace")
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def differences(stub: Json, real: Json) -> list[str]:
    """One line for each."""
    found = []
    for key, mine in stub.items():
        theirs = real[key]
        if key == "events":
            for my_event, their_event in zip(mine, theirs, strict=False):
                found += [
                    f"{my_event['type']} {name}: {my_event.get(name)} instead of {value}"
                    for name, value in their_event.items()
                    if my_event.get(name) != value
                ]
        elif mine != theirs:
            found.append(f"{key}: {mine} instead of {theirs}")
    return found


def _event(event: Json, names: dict[str, str]) -> Json:
    kind = event["type"]
    if kind == "result":
        return _result(event)
    fields: Json = {"type": kind, "subtype": event.get("subtype")}
    if kind == "system":
        fields |= {key: event.get(key) for key in (*RETRY, "status", "compact_result")}
        if event.get("subtype") == "init":
            fields |= {key: event.get(key) for key in ("permissionMode", "apiKeySource", "model")}
    elif kind in ("assistant", "user"):
        fields |= {key: event.get(key) for key in MESSAGE}
        fields["parent_tool_use_id"] = _name(event.get("parent_tool_use_id"), names)
        content = event["message"].get("content")
        fields["blocks"] = (
            [_block(block, names) for block in content] if isinstance(content, list) else content
        )
        if event.get("isSynthetic") or event["message"].get("model") == "<synthetic>":
            fields.pop("blocks")
    elif kind == "rate_limit_event":
        info = event["rate_limit_info"]
        fields |= {key: info.get(key) for key in ("status", "rateLimitType")}
        fields["resets"] = "resetsAt" in info
    elif kind == "control_response":
        fields["answer"] = event["response"]["subtype"]
    elif kind == "command_lifecycle":
        fields["state"] = event["state"]
    return fields


def _block(block: Json, names: dict[str, str]) -> Json:
    """Identifiers become numbers; the words of a tool are its own affair."""
    kind = block["type"]
    if kind == "tool_use":
        return {
            "use": block["name"],
            "input": _inputs(block["input"]),
            "id": _name(block["id"], names),
        }
    if kind == "tool_result":
        return {"of": _name(block["tool_use_id"], names), "failed": bool(block.get("is_error"))}
    return {kind: block.get("text")}


def _inputs(given: Json) -> Json:
    # The real binary adds defaults.
    return {key: value for key, value in given.items() if value is not False}


def _name(identifier: object, names: dict[str, str]) -> str | None:
    return names.setdefault(str(identifier), f"tool {len(names)}") if identifier else None


def _result(event: Json) -> Json:
    fields: Json = {"type": "result", **{key: event.get(key) for key in RESULT}}
    words = re.sub(r"^(.{60}).*", r"\1", str(fields["result"] or ""), flags=re.DOTALL)
    fields["result"] = re.sub(r"\d+:?\d*[ap]m", "TIME", words)
    fields["usage"] = {key: event["usage"].get(key) for key in USAGE}
    fields["cost"] = f"{event['total_cost_usd']:.6f}"
    fields["denied"] = [denial["tool_name"] for denial in event["permission_denials"]]
    fields["origin"] = (event.get("origin") or {}).get("kind")
    fields["errors"] = [error.split("]")[0] for error in event.get("errors", [])]
    return fields
