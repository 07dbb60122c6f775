"""The user's own prompt template file."""

from pathlib import Path

from ralph_tui.base.errors import UsageError, why
from ralph_tui.base.plain_files import NotPlainError, leaves_folder, reading
from ralph_tui.layers.intelligence.template import Template, TemplateError, parse_template
from ralph_tui.ports.records import PromptTemplate
from ralph_tui.text.sanitize import one_line

LARGEST = 1 << 20
"""Maximum size in bytes."""
_ADVICE = "correct it, or remove intelligence.prompt_template"
_CREATE = "create it, or remove intelligence.prompt_template"


def load_template(root: Path, name: str | None) -> PromptTemplate | None:
    """Return the template that the setting names. Raises ``UsageError`` if it is not usable.

    A relative path is inside the repository, where links are not followed.
    """
    if name is None:
        return None
    text = read_template(root, name)
    return PromptTemplate(name, text, parse_text(name, text), lambda: read_template(root, name))


def parse_text(name: str, text: str) -> Template:
    """Parse a template. Raises ``UsageError`` with the line number of the error."""
    try:
        return parse_template(text)
    except TemplateError as error:
        raise UsageError(f"the prompt template {_shown(name)}, {error}; {_ADVICE}") from error


def read_template(root: Path, name: str) -> str:
    """Read the template's text. Raises ``UsageError`` if it is missing, unreadable or not text."""
    inside = not leaves_folder(root, name)
    path = root / name if inside else root / Path(name).expanduser()
    what = f"the prompt template {_shown(name)}"
    try:
        with reading(path, below=root if inside else None, follow=not inside) as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise UsageError(f"no prompt template {_shown(name)}; {_CREATE}") from None
    except NotPlainError as error:
        raise UsageError(f"{what} cannot be read: {why(error, '')}") from error
    except (OSError, ValueError, RuntimeError) as error:
        cause = why(error, "make it readable") if isinstance(error, OSError) else str(error)
        raise UsageError(f"{what} cannot be read: {cause}") from error
    if len(content) > LARGEST:
        raise UsageError(f"{what} is larger than 1 MB; make it smaller")
    if b"\0" in content:
        raise UsageError(f"{what} is not text; save it as UTF-8, {_ADVICE}")
    try:
        return content.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UsageError(f"{what} is not UTF-8 text; save it as UTF-8") from None


def _shown(name: str) -> str:
    return one_line(name)[:200]
