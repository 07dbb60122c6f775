"""Keys of a text field in the order in which they were typed."""

from textual import events
from textual.widget import Widget


async def take_own_key(field: Widget, event: events.Key) -> None:
    """Do what the field itself binds to this key, here and now.

    Left to itself such a key climbs to the app first, and what it does comes after the letters
    that follow it: ``ctrl+u`` and a new word, typed at once, would leave nothing.
    """
    active = field.screen.active_bindings.get(event.key)
    if active is not None and active.node is field and not active.binding.priority:
        event.stop()
        event.prevent_default()
        await field.run_action(active.binding.action)
