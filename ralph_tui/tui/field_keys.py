"""Handles a text field's editing keys in the order in which they were typed."""

from textual import events
from textual.widget import Widget


async def take_own_key(field: Widget, event: events.Key) -> None:
    """Run the field's own binding for this key at once.

    Textual would pass the key to the app first and run the binding after the letters that follow.
    Typing ``ctrl+u`` and a new word quickly would then delete the word.
    """
    active = field.screen.active_bindings.get(event.key)
    if active is not None and active.node is field and not active.binding.priority:
        event.stop()
        event.prevent_default()
        await field.run_action(active.binding.action)
