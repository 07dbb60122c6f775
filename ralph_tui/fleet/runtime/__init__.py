"""The process of a fleet: it places loops on hosts, follows them, and collects what they made."""
