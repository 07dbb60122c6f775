"""The panes of the cockpit. Each has one entry point, `sync`, and knows no other pane."""
