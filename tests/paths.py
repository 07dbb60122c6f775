"""Paths of the tests' own files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
FIXTURES = ROOT / "tests" / "fixtures"
