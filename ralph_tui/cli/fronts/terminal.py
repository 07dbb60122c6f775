"""How to draw on this terminal; decided before Textual is imported."""

from collections.abc import Mapping, MutableMapping


def prepare_textual(environ: MutableMapping[str, str], theme: str | None = None) -> None:
    """Set the variables in `environ` (``os.environ``) that Textual reads when it is imported.

    Animations are off: nothing blinks, and a slow connection is not flooded. A non-empty
    ``NO_COLOR`` selects the terminal's own colours, whatever `theme` says; Textual would use greys.
    """
    environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    if environ.get("NO_COLOR"):
        environ["TEXTUAL_THEME"] = "ansi-dark"
        return
    environ.pop("NO_COLOR", None)  # an empty value counts as unset, but not for Textual
    if theme is not None:
        environ["TEXTUAL_THEME"] = theme


def default_theme(environ: Mapping[str, str]) -> str | None:
    """Return the theme to use if none is chosen; None for the app's default.

    A terminal with sixteen colours keeps its own: reduced to sixteen colours, a richer theme would
    show all severities in the same grey.
    """
    many = ("truecolor", "24bit"), ("256color", "kitty", "direct")
    if environ.get("COLORTERM", "").strip().lower() in many[0]:
        return None
    term = environ.get("TERM", "").lower()
    return None if any(word in term for word in many[1]) else "terminal"
