"""The versions that the stubs say they are: asked for before each run, so little else is loaded."""

from collections.abc import Mapping

CLAUDE = "2.1.328"
CODEX = "0.169.0"


def version_of(environ: Mapping[str, str], usual: str = CLAUDE) -> str:
    """The version that a stub reports."""
    return environ.get("STUB_VERSION", usual)


def claude_line(environ: Mapping[str, str]) -> str:
    """Version line of the Claude Code stub."""
    return f"{version_of(environ)} (Claude Code)"


def codex_line(environ: Mapping[str, str]) -> str:
    """Version line of the Codex stub."""
    return f"codex-cli {version_of(environ, CODEX)}"
