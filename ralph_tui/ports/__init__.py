"""Protocols for everything outside the loop, implemented by the real parts and by fakes.

Every call here returns at once or runs as a job (`Host.start`). None may block the engine thread
for more than 100 ms.
"""
