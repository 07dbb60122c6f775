"""How the terminal wants to be drawn on; to be settled before Textual is imported."""

from collections.abc import Mapping, MutableMapping


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


def default_theme(environ: Mapping[str, str]) -> str | None:
    """The theme where none is chosen: of sixteen colours a terminal's own are the best.

    In those nearest to a theme of many colours all severities would be the same grey.
    """
    many = ("truecolor", "24bit"), ("256color", "kitty", "direct")
    if environ.get("COLORTERM", "").strip().lower() in many[0]:
        return None
    term = environ.get("TERM", "").lower()
    return None if any(word in term for word in many[1]) else "terminal"
