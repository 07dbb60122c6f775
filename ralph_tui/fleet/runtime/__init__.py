"""A fleet's process: it places loops on hosts, follows them, and collects their work."""
