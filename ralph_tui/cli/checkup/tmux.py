"""tmux between the cockpit and the terminal, and copying through both."""

from collections.abc import Iterator

from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding

SUBJECT = "tmux"
CLIPBOARD = "clipboard"
SLOW_ESCAPE_MS = 100
_QUERIED = (
    "version",
    "set-clipboard",
    "escape-time",
    "allow-passthrough",
    "client_termname",
    "client_termfeatures",
)
"""Values to query from tmux, which accepts options as formats."""


def check_tmux(env: Environment) -> Iterator[Finding]:
    """Check for tmux settings that interfere with keys, colours and notifications."""
    if not env.environ.get("TMUX"):
        if env.program("tmux") and env.columns:
            says = "not in use; a run in tmux survives a lost connection"
            yield Finding("note", SUBJECT, says, "tmux new, then ralph-tui inside it")
        return
    options = _read_options(env)
    if options is None:
        yield Finding("warning", SUBJECT, "TMUX is set, but tmux does not answer", "unset TMUX")
        return
    yield Finding("ok", SUBJECT, f"tmux {options['version']}")
    features = options["client_termfeatures"].split(",")
    if options["client_termname"] and "RGB" not in features and not env.environ.get("NO_COLOR"):
        yield Finding(
            "note",
            SUBJECT,
            "true colour is off in tmux; the nearest colours are shown",
            _config_line(f"set -as terminal-features ',{options['client_termname']}:RGB'"),
        )
    wait = options["escape-time"]
    if wait.isdigit() and int(wait) > SLOW_ESCAPE_MS:
        says = f"tmux delays the escape key by {wait} ms"
        yield Finding("warning", SUBJECT, says, _config_line("set -s escape-time 10"))
    if options["allow-passthrough"] in ("0", "off"):
        says = "tmux blocks desktop notifications"
        yield Finding("note", SUBJECT, says, _config_line("set -g allow-passthrough on"))


def check_clipboard(env: Environment) -> Iterator[Finding]:
    """Check whether text copied with y can reach the terminal, by an escape sequence (OSC 52)."""
    environ = env.environ
    if not env.columns:
        return
    if environ.get("TMUX"):
        options = _read_options(env)
        if options is not None and options["set-clipboard"] not in ("on", "2"):
            says = (
                "tmux does not pass copied text to the terminal (set-clipboard is "
                f"{options['set-clipboard']})"
            )
            yield Finding("warning", CLIPBOARD, says, _config_line("set -s set-clipboard on"))
            return
    elif environ.get("STY"):
        says = "GNU screen does not pass copied text to the terminal"
        yield Finding("warning", CLIPBOARD, says, "use tmux, or select with shift and the mouse")
        return
    elif environ.get("TERM_PROGRAM") == "Apple_Terminal" or environ.get("TERM") == "linux":
        says = "this terminal does not accept copied text from programs (OSC 52)"
        yield Finding("warning", CLIPBOARD, says, "use another one, or select with the mouse")
        return
    says = "copies through the terminal (OSC 52), even over ssh, if the terminal allows it"
    yield Finding("ok", CLIPBOARD, says)


def _read_options(env: Environment) -> dict[str, str] | None:
    asked = "|".join(f"#{{{name}}}" for name in _QUERIED)
    options = env.ask("tmux", "display-message", "-p", asked)
    values = options.split("|") if options is not None else []
    return dict(zip(_QUERIED, values, strict=True)) if len(values) == len(_QUERIED) else None


def _config_line(option: str) -> str:
    return f"{option}   in ~/.tmux.conf"
