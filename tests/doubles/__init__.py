"""Test doubles of Claude Code: a stub executable, and a scripted service for the real binary.

Both play the same scenario files (`tests/fixtures/scenarios`); the conformance test keeps the stub
honest. Nothing in here needs more than the standard library.
"""
