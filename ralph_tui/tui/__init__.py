"""The cockpit: the user's view of a run. It only reads state and sends commands."""
