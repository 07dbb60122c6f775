"""What the loop is told of the settings."""

from ralph_tui.config.settings import Settings
from ralph_tui.loop.run import Layers, Rules, WatchdogLimits


def rules_of(settings: Settings) -> Rules:
    """The settings that the loop itself follows."""
    return Rules(
        settings.control,
        settings.oversight,
        settings.progress,
        settings.checkpoints.interval_s,
        WatchdogLimits(settings.agent.silence_s, settings.agent.silence_answer_s),
        settings.permissions.answer_s,
        settings.memory.enabled,
        settings.intelligence,
        settings.context,
        settings.agent.fallback_after,
        settings.agent.after_limit_s,
    )


def layers_of(settings: Settings, command: str | None) -> Layers:
    """The layers of a run before its first reading; `command` is its completion command."""
    return Layers.of(rules_of(settings), command)
