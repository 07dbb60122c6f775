"""Our two hooks among what a project's ``.claude/settings.json`` says. Pure: text in, text out.

A hook is ours where its command runs our program, whatever else its owner made of it: it is never
put there twice, and it goes when the program goes.
"""

from collections.abc import Mapping
from typing import Any

from ralph_tui.hooks.installed import json_text
from ralph_tui.hooks.installed.json_text import Part
from ralph_tui.text.foreign_json import parse_json, parse_json_at

FOLDER = ".claude/hooks/ralph-tui"
"""Of the program, below the project."""
EVENTS: Mapping[str, str] = {"PostToolUse": "post-tool-use", "Stop": "stop"}
"""Claude Code's name of an event, and the program's."""
TIMEOUT_S = 30
"""After which Claude Code goes on without its answer; it takes a tenth of a second."""


def command_of(word: str) -> str:
    """What Claude Code runs; the path holds on every machine that has the project."""
    return f'python3 -I -S "$CLAUDE_PROJECT_DIR"/{FOLDER} {word}'


def installed(text: str) -> str:
    """The settings with our hooks; the same text where they are there.

    Raises ``ValueError``, a sentence without its end, for settings of another form.
    """
    present = hooks_in(text)
    if not text.strip():
        text = "{}\n"
    for event in EVENTS:
        if event not in present:
            text = _with(text, event)
    return text


def removed(text: str) -> str:
    """The settings without our hooks, and without what is empty then; ``ValueError``."""
    present = hooks_in(text)
    if not present:
        return text
    root = json_text.root_of(text)
    of_root = root.find("hooks")
    assert of_root is not None  # it was read there
    hooks = json_text.container_at(text, of_root.value)
    events = {part.name: part for part in hooks.parts}
    cuts, emptied = [], []
    for event in present:
        groups = json_text.container_at(text, events[event].value)
        ours: list[Part] = []
        for group in groups.parts:
            within = _cuts_in_group(text, group)
            if within is None:
                ours.append(group)
            else:
                cuts += within
        if len(ours) == len(groups.parts):
            emptied.append(events[event])
        else:
            cuts += json_text.cuts_of(groups, ours)
    if len(emptied) == len(hooks.parts):
        return json_text.without(text, root, [of_root])
    return json_text.cut(text, cuts + json_text.cuts_of(hooks, emptied))


def _cuts_in_group(text: str, group: Part) -> list[tuple[int, int]] | None:
    """What to cut out of a group for our hooks to go; None where that is all of them."""
    every = _hooks(parse_json_at(text, group.value)[0])
    ours = [place for place, hook in enumerate(every) if _is_ours(hook)]
    if not ours:
        return []
    if len(ours) == len(every):
        return None
    found = json_text.container_at(text, group.value).find("hooks")
    assert found is not None  # it was read there
    hooks = json_text.container_at(text, found.value)
    return json_text.cuts_of(hooks, [hooks.parts[place] for place in ours])


def hooks_in(text: str) -> dict[str, str]:
    """The commands of ours, by event. Raises ``ValueError`` for settings of another form."""
    if not text.strip():
        return {}
    found = _read(text)
    ours = {
        event: [hook["command"] for group in groups for hook in _hooks(group) if _is_ours(hook)]
        for event, groups in sorted(found.items())
        if isinstance(groups, list)
    }
    return {event: commands[0] for event, commands in ours.items() if commands}


def others_in(text: str) -> int:
    """How many hooks of other owners there are; ``ValueError``."""
    if not text.strip():
        return 0
    groups = [g for found in _read(text).values() if isinstance(found, list) for g in found]
    return sum(not _is_ours(hook) for group in groups for hook in _hooks(group))


def switched_off(text: str) -> bool:
    """Whether these settings say that no hook runs at all."""
    return bool(text.strip()) and parse_json(text).get("disableAllHooks") is True


def environment_in(text: str) -> dict[str, str]:
    """What these settings put into a session's environment."""
    found = parse_json(text).get("env") if text.strip() else None
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _read(text: str) -> dict[str, Any]:
    """What stands under ``hooks``."""
    try:
        settings = parse_json(text)
    except ValueError as error:
        raise ValueError(f"it holds no JSON ({error})") from None
    if not isinstance(settings, dict):
        raise ValueError("it holds no JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("its `hooks` is no JSON object")
    for event in EVENTS:
        if not isinstance(hooks.get(event, []), list):
            raise ValueError(f"its `hooks.{event}` is no list")
    return hooks


def _hooks(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and FOLDER in command


def _group(event: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command_of(EVENTS[event]), "timeout": TIMEOUT_S}
    every_tool = {"matcher": "*"} if event == "PostToolUse" else {}
    return {**every_tool, "hooks": [hook]}


def _with(text: str, event: str) -> str:
    root = json_text.root_of(text)
    hooks = root.find("hooks")
    if hooks is None:
        return json_text.with_member(text, root, "hooks", {event: [_group(event)]})
    inside = json_text.container_at(text, hooks.value)
    groups = inside.find(event)
    if groups is None:
        return json_text.with_member(text, inside, event, [_group(event)])
    return json_text.with_element(text, json_text.container_at(text, groups.value), _group(event))
