"""The sensor: measure how complete the work is, without side effects.

`sensor.Sensor` chooses the source for a run and measures completion with it. Importing this package
loads none of it: a screen needs only the words of `passing` and `tampering`.
"""
