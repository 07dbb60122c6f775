"""Fewer examples of tests whose single example takes long; `make fuzz` still tries many."""

from hypothesis import settings

HALF = settings(max_examples=settings().max_examples // 2)
FEWER = settings(max_examples=settings().max_examples // 4)
