"""Layer 1: compute a control signal and alarms from measurements of completion.

`history.History` holds the measurements, `evaluation.evaluate` computes the signal, gains and
alarms for each one, and `advice` puts them into words. Importing this package loads none of it: a
screen needs only the words.
"""
