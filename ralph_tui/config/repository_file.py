"""What the settings file of a repository may say: the agent can write it."""

from collections.abc import Mapping
from typing import Any

from ralph_tui.base.plain_files import leaves_folder
from ralph_tui.config.files import SettingsFile

NOT_FROM_REPOSITORY = (
    "permissions",
    "agent.name",
    "agent.command",
    "agent.binary",
    "agent.fallback",  # an agent could hand its work to one that may do more
    "outreach",
    "context.commit_wip",  # it runs hooks, which may be files that the agent can write
    "context.state_file",  # it names a file that is written
    "intelligence.model_judge",  # else an agent could have a model accept its work in your place
)
"""What it may not say: a name stands for all settings below it."""
SECTION, TEMPLATE = "intelligence", "prompt_template"


def refused(name: str) -> bool:
    """Whether a setting counts nothing there."""
    return any(name == one or name.startswith(f"{one}.") for one in NOT_FROM_REPOSITORY)


def permitted(file: SettingsFile, own_file: str, warnings: list[str]) -> dict[str, Any]:
    """Its values without what is refused, which is told in `warnings`; `own_file` is the user's."""
    ignored: list[str] = []
    kept = _without_refused(file.table, ignored)
    if ignored:
        warnings.append(
            f"{file.place_of(ignored[0])} may not set {', '.join(ignored)}, because the agent can "
            f"write that file: it is ignored there; set it in {own_file} or on the command line"
        )
    section = kept.get(SECTION)
    name = section.get(TEMPLATE) if isinstance(section, dict) else None
    outside = isinstance(name, str) and leaves_folder(file.path.parent, name)
    if isinstance(section, dict) and outside:
        del section[TEMPLATE]  # else it could put any file into a prompt
        setting = f"{SECTION}.{TEMPLATE}"
        warnings.append(
            f"{file.place_of(setting)} names a prompt template outside of the repository, and the "
            f"agent can write that file: it is ignored there; set {setting} in {own_file} or on "
            "the command line"
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
