"""Pages for users, and the script that writes the reference."""
