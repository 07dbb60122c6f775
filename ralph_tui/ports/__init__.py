"""Protocols for everything outside the loop, implemented by real adapters and by fakes.

Every call here returns at once or runs as a job (`Host.start`). None may block the engine thread
for more than 100 ms.
"""
