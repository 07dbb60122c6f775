"""tmux between the cockpit and the terminal, and copying through both."""

from collections.abc import Iterator

from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.cli.checkup.surroundings import Surroundings

WHAT = "tmux"
CLIPBOARD = "clipboard"
SLOW_ESCAPE_MS = 100
_ASKED = (
    "version",
    "set-clipboard",
    "escape-time",
    "allow-passthrough",
    "client_termname",
    "client_termfeatures",
)
"""Values to ask tmux for; it accepts options as formats."""


def check_tmux(around: Surroundings) -> Iterator[Finding]:
    """Check for tmux settings that interfere with keys, colours and notifications."""
    if not around.environ.get("TMUX"):
        if around.program("tmux") and around.columns:
            says = "not in use; a run in tmux survives a lost connection"
            yield Finding("note", WHAT, says, "tmux new, then ralph-tui inside it")
        return
    told = _options(around)
    if told is None:
        yield Finding("warning", WHAT, "TMUX is set, but tmux does not answer", "unset TMUX")
        return
    yield Finding("ok", WHAT, f"tmux {told['version']}")
    features = told["client_termfeatures"].split(",")
    if told["client_termname"] and "RGB" not in features and not around.environ.get("NO_COLOR"):
        yield Finding(
            "note",
            WHAT,
            "true colour is off in tmux; the nearest colours are shown",
            _line(f"set -as terminal-features ',{told['client_termname']}:RGB'"),
        )
    wait = told["escape-time"]
    if wait.isdigit() and int(wait) > SLOW_ESCAPE_MS:
        says = f"tmux delays the escape key by {wait} ms"
        yield Finding("warning", WHAT, says, _line("set -s escape-time 10"))
    if told["allow-passthrough"] in ("0", "off"):
        says = "tmux blocks desktop notifications"
        yield Finding("note", WHAT, says, _line("set -g allow-passthrough on"))


def check_clipboard(around: Surroundings) -> Iterator[Finding]:
    """Check whether text copied with y can reach the terminal, by an escape sequence (OSC 52)."""
    environ = around.environ
    if not around.columns:
        return
    if environ.get("TMUX"):
        told = _options(around)
        if told is not None and told["set-clipboard"] not in ("on", "2"):
            says = (
                "tmux does not pass copied text to the terminal (set-clipboard is "
                f"{told['set-clipboard']})"
            )
            yield Finding("warning", CLIPBOARD, says, _line("set -s set-clipboard on"))
            return
    elif environ.get("STY"):
        says = "GNU screen does not pass copied text to the terminal"
        yield Finding("warning", CLIPBOARD, says, "use tmux, or select with shift and the mouse")
        return
    elif environ.get("TERM_PROGRAM") == "Apple_Terminal" or environ.get("TERM") == "linux":
        says = "this terminal does not accept copied text from programs (OSC 52)"
        yield Finding("warning", CLIPBOARD, says, "use another one, or select with the mouse")
        return
    says = "copies go through the terminal (OSC 52), also over ssh, if it permits"
    yield Finding("ok", CLIPBOARD, says)


def _options(around: Surroundings) -> dict[str, str] | None:
    asked = "|".join(f"#{{{name}}}" for name in _ASKED)
    told = around.ask("tmux", "display-message", "-p", asked)
    values = told.split("|") if told is not None else []
    return dict(zip(_ASKED, values, strict=True)) if len(values) == len(_ASKED) else None


def _line(option: str) -> str:
    return f"{option}   in ~/.tmux.conf"
