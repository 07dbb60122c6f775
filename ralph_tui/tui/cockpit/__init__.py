"""The screen that shows one run: its layout, its dialogs, its keys."""
