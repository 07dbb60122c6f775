"""Where tests find what lies beside them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
FIXTURES = ROOT / "tests" / "fixtures"
