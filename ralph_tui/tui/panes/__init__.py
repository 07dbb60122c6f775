"""The panes. Each has one entry, `sync`, and knows no other pane."""
