"""Measures the budgets: ``make bench``, or ``python -m bench --only NAME``.

Rule: nothing here asserts a time. Where times are compared they are ratios taken in one run, in
turns, and every row says what was measured and what it may be.
"""
