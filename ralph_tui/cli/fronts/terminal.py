"""How the terminal wants to be drawn on; to be settled before Textual is imported."""

from collections.abc import MutableMapping


def prepare_textual(environ: MutableMapping[str, str], theme: str | None = None) -> None:
    """Put into `environ` (``os.environ``) what Textual reads once, when it is imported.

    No animations: nothing blinks, and a slow line is not flooded. ``NO_COLOR`` with a value means
    the terminal's own colours only, whatever `theme` says; Textual alone would draw in greys.
    """
    environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    if environ.get("NO_COLOR"):
        environ["TEXTUAL_THEME"] = "ansi-dark"
        return
    environ.pop("NO_COLOR", None)  # empty counts as not set, but not for Textual
    if theme is not None:
        environ["TEXTUAL_THEME"] = theme
