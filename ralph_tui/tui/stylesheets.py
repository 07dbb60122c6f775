"""Stylesheets of single screens, parsed when the first such screen opens.

With Textual's ``CSS_PATH``, the first one to open would parse all styles again and restyle the app.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.app import App


def add_styles(app: App[Any], names: Sequence[str]) -> None:
    """Add the stylesheets with these file names, unless the app has them."""
    for name in names:
        path = Path(__file__).with_name(name)
        if not app.stylesheet.has_source(str(path)):
            app.stylesheet.read(path)
            app.stylesheet.parse()  # which keeps the rules parsed before
