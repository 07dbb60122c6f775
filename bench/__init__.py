"""Measure the performance budgets: ``make bench``, or ``python -m bench --only NAME``.

Nothing here asserts a time. Comparisons are ratios from alternating rounds in one run. Every row
names the measurement and its budget.
"""
