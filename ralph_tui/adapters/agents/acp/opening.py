"""What a session is told before its first prompt: who we are, its mode, its model. Pure."""

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
"""How agents that are not known may call such modes, without what is no letter."""


@dataclass
class Ledger:
    """What the sessions of one run know of each other."""

    names: dict[str, str] = field(default_factory=dict)
    """What the agent calls a session, by what we call it."""
    costs: dict[str, float] = field(default_factory=dict)
    """Dollars a session has cost in all, by the agent's name for it."""


@dataclass(frozen=True)
class Plan:
    """What a session is begun with."""

    quirks: Quirks
    root: str
    """The worktree."""
    model: str | None
    silence_s: float
    """Seconds without a word of its service after which the session is ended."""
    ledger: Ledger


@dataclass(frozen=True)
class Capabilities:
    """What an agent says of itself at its start."""

    name: str = ""
    version: str = ""
    resume_by: str = ""
    """The method that goes on with a session; empty: none."""
    steering: bool = False
    """Whether words can be handed into a turn by a method of their own."""


@dataclass(frozen=True)
class Setting:
    """A call that sets a mode or a model."""

    what: str
    value: str
    method: str
    params: Json


def initialize() -> Json:
    """Our first words. We offer no files and no terminal: the agent works by itself."""
    return {
        "protocolVersion": PROTOCOL,
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
        },
        "clientInfo": {"name": "ralph-tui", "title": "ralph-tui", "version": __version__},
    }


def capabilities(result: object) -> Capabilities:
    """What the answer to ``initialize`` says."""
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
    """What is to be set in a new session, by what it offers."""
    fields = as_map(result)
    return [*_mode(session_id, fields, quirks, mode), *_model(session_id, fields, quirks, model)]


def _mode(session_id: str, fields: Json, quirks: Quirks, mode: str) -> Iterator[Setting]:
    told = as_map(fields.get("modes"))
    offered = [as_text(as_map(one).get("id")) for one in as_list(told.get("availableModes"))]
    now = as_text(told.get("currentModeId"))
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


def described(
    iteration: int, able: Capabilities, result: object, set_now: list[Setting]
) -> SessionDescribed:
    """What a new session is: the answer that opened it, and what is set in it."""
    values = {setting.what: setting.value for setting in set_now}
    return SessionDescribed(
        iteration=iteration,
        model=values.get("model") or told_model(result),
        permission_mode=values.get("mode") or told_mode(result),
        version=f"{able.name} {able.version}".strip() or None,
    )


def told_model(result: object) -> str | None:
    """The model that a new session works with; None where it is not told."""
    fields = as_map(result)
    for option in map(as_map, as_list(fields.get("configOptions"))):
        if option.get("category") == "model":
            return as_text(option.get("currentValue")) or None
    return as_text(as_map(fields.get("models")).get("currentModelId")) or None


def told_mode(result: object) -> str | None:
    """The mode that a new session begins in; None where it is not told."""
    return as_text(as_map(as_map(result).get("modes")).get("currentModeId")) or None


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))
