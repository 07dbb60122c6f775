"""The agent `command`: any program that takes the prompt on stdin."""
