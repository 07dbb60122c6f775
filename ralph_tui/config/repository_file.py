"""Limits on a repository's settings file, which the agent can write."""

from collections.abc import Mapping
from typing import Any

from ralph_tui.base.plain_files import leaves_folder
from ralph_tui.config.files import SettingsFile

NOT_FROM_REPOSITORY = (
    "permissions",
    "agent.name",
    "agent.command",
    "agent.binary",
    "agent.fallback",  # an agent could pass its work to one with more rights
    "outreach",
    "context.commit_wip",  # it runs hooks, which may be files that the agent can write
    "context.state_file",  # it names a file to write
    "intelligence.model_judge",  # an agent could have a model accept its work instead of you
)
"""Settings that the file may not contain; a name covers all settings below it."""
SECTION, TEMPLATE = "intelligence", "prompt_template"


def refused(name: str) -> bool:
    """Return True if a repository's file may not contain this setting."""
    return any(name == one or name.startswith(f"{one}.") for one in NOT_FROM_REPOSITORY)


def permitted(file: SettingsFile, own_file: str, warnings: list[str]) -> dict[str, Any]:
    """Return the file's permitted values, and report the others in `warnings`.

    `own_file`: the path of the user's own settings.
    """
    ignored: list[str] = []
    kept = _without_refused(file.table, ignored)
    if ignored:
        warnings.append(
            f"{file.place_of(ignored[0])} may not set {', '.join(ignored)}, because the agent can "
            f"write that file; the setting is ignored; use {own_file} or the command line"
        )
    section = kept.get(SECTION)
    name = section.get(TEMPLATE) if isinstance(section, dict) else None
    outside = isinstance(name, str) and leaves_folder(file.path.parent, name)
    if isinstance(section, dict) and outside:
        del section[TEMPLATE]  # otherwise it could put any file into a prompt
        setting = f"{SECTION}.{TEMPLATE}"
        warnings.append(
            f"{file.place_of(setting)} names a prompt template outside the repository, and the "
            f"agent can write that file; it is ignored; set {setting} in {own_file} or on the "
            "command line"
        )
    return kept


def _without_refused(
    values: Mapping[str, Any], ignored: list[str], prefix: str = ""
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if name in NOT_FROM_REPOSITORY:
            ignored.append(name)
        elif isinstance(value, dict):
            kept[key] = _without_refused(value, ignored, f"{name}.")
        else:
            kept[key] = value
    return kept
