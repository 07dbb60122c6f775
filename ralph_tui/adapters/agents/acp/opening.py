"""How a session opens, before its first prompt: handshake, mode, model. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ralph_tui import __version__
from ralph_tui.adapters.agents.acp.quirks import Quirks
from ralph_tui.events import SessionDescribed
from ralph_tui.text.json_fields import as_list, as_map, as_text

Json = Mapping[str, object]

PROTOCOL = 1
_FULL = ("bypasspermissions", "yolo", "fullaccess", "agentfullaccess", "dontask")
_ASKING = ("default", "ask", "manual", "normal")
"""Names of modes that ask for permission, for unknown agents; letters only."""


@dataclass
class Ledger:
    """Facts that the sessions of one run share."""

    names: dict[str, str] = field(default_factory=dict)
    """Session ids of the agent, by our session ids."""
    costs: dict[str, float] = field(default_factory=dict)
    """Total cost of a session in dollars, by the agent's session id."""


@dataclass(frozen=True)
class Plan:
    """Parameters of a new session."""

    quirks: Quirks
    root: str
    """The worktree."""
    model: str | None
    silence_s: float
    """Seconds of silence from the service before the session ends."""
    ledger: Ledger


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of an agent, from its answer to ``initialize``."""

    name: str = ""
    version: str = ""
    resume_by: str = ""
    """The method that resumes a session; empty if the agent cannot resume sessions."""
    steering: bool = False
    """True if the agent has a method for guidance during a turn."""


@dataclass(frozen=True)
class Setting:
    """A call that sets a mode or a model."""

    what: str
    value: str
    method: str
    params: Json


def initialize() -> Json:
    """Return the parameters of ``initialize``; ralph-tui offers no files or terminal."""
    return {
        "protocolVersion": PROTOCOL,
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
        },
        "clientInfo": {"name": "ralph-tui", "title": "ralph-tui", "version": __version__},
    }


def capabilities(result: object) -> Capabilities:
    """Parse the answer to ``initialize``."""
    fields = as_map(result)
    info, able = as_map(fields.get("agentInfo")), as_map(fields.get("agentCapabilities"))
    resume_by = ""
    if isinstance(as_map(able.get("sessionCapabilities")).get("resume"), dict):
        resume_by = "session/resume"
    elif able.get("loadSession") is True:
        resume_by = "session/load"
    steering = as_map(as_map(fields.get("_meta")).get("steering")).get("supported") is True
    return Capabilities(
        as_text(info.get("name")), as_text(info.get("version")), resume_by, steering
    )


def settings(
    session_id: str, result: object, quirks: Quirks, mode: str, model: str | None
) -> list[Setting]:
    """Return the calls that set mode and model, where the session offers them."""
    fields = as_map(result)
    return [*_mode(session_id, fields, quirks, mode), *_model(session_id, fields, quirks, model)]


def _mode(session_id: str, fields: Json, quirks: Quirks, mode: str) -> Iterator[Setting]:
    modes = as_map(fields.get("modes"))
    offered = [as_text(as_map(one).get("id")) for one in as_list(modes.get("availableModes"))]
    now = as_text(modes.get("currentModeId"))
    wanted = quirks.modes.get(mode, "")
    if not wanted and (mode == "skip" or _letters(now) in _FULL):
        known = _FULL if mode == "skip" else _ASKING
        wanted = next((one for one in offered if _letters(one) in known), "")
    if wanted in offered and wanted not in ("", now):
        params = {"sessionId": session_id, "modeId": wanted}
        yield Setting("mode", wanted, "session/set_mode", params)


def _model(session_id: str, fields: Json, quirks: Quirks, model: str | None) -> Iterator[Setting]:
    if not model or quirks.model_by_flag:
        return
    options = map(as_map, as_list(fields.get("configOptions")))
    option = next((one for one in options if one.get("category") == "model"), None)
    if option is not None:
        params = {"sessionId": session_id, "configId": option.get("id"), "value": model}
        yield Setting("model", model, "session/set_config_option", params)
    else:
        params = {"sessionId": session_id, "modelId": model}
        yield Setting("model", model, "session/set_model", params)


def describe_session(
    iteration: int, able: Capabilities, result: object, set_now: list[Setting]
) -> SessionDescribed:
    """Describe a new session, given the answer that opened it and the settings to apply."""
    values = {setting.what: setting.value for setting in set_now}
    return SessionDescribed(
        iteration=iteration,
        model=values.get("model") or new_session_model(result),
        permission_mode=values.get("mode") or new_session_mode(result),
        version=f"{able.name} {able.version}".strip() or None,
    )


def new_session_model(result: object) -> str | None:
    """Return a new session's model, or None if the agent does not report it."""
    fields = as_map(result)
    for option in map(as_map, as_list(fields.get("configOptions"))):
        if option.get("category") == "model":
            return as_text(option.get("currentValue")) or None
    return as_text(as_map(fields.get("models")).get("currentModelId")) or None


def new_session_mode(result: object) -> str | None:
    """Return a new session's mode, or None if the agent does not report it."""
    return as_text(as_map(as_map(result).get("modes")).get("currentModeId")) or None


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))
