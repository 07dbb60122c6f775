"""User settings: types, ranges, defaults. ``sources.py`` says where values come from."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    create_model,
)

from ralph_tui.layers.settings import (
    ContextSettings,
    ControlSettings,
    IntelligenceSettings,
    MemorySettings,
    OversightSettings,
)
from ralph_tui.text.durations import DAY, Seconds
from ralph_tui.text.keys import TABLE, checked

LINES = '["Bash(make test)", "Read"]'
NAMED = '["codex", "opencode"]'
LABELS = '["critical", "on-call"]'
"""Examples of lists, as written in a settings file."""


def _lines(value: object, example: str = LINES) -> object:
    """Convert text to a list; environment and ``--set`` use TOML, or one line per value.

    A list becomes a tuple: no other sequence is valid where types are strict, as in files.
    """
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    if not value.lstrip().startswith("["):
        return tuple(line for line in value.splitlines() if line.strip())
    try:
        written = tomllib.loads(f"value = {value}")
    except (tomllib.TOMLDecodeError, RecursionError):
        written = {}
    if list(written) != ["value"]:
        raise ValueError(f"must be a list such as {example}")
    return tuple(written["value"])


def _names(value: object, example: str = NAMED) -> object:
    """Like `_lines`; without brackets, commas separate values as well."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        value = value.replace(",", "\n")
    return _lines(value, example)


def _words(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("must name each agent once")
    return names


def _none_if_empty(value: object) -> object:
    """Return None for an empty text, which unsets a value from a file."""
    return None if value == "" else value


def _web_address(text: str) -> SplitResult:
    if not text.isascii() or not text.isprintable() or " " in text or len(text) > 2000:
        raise ValueError("must be a web address without spaces or special characters")
    try:
        parts = urlsplit(text)
        whole = parts.scheme in ("https", "http") and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        raise ValueError("must be a complete web address such as https://example.com/path")
    return parts


def _hook(value: SecretStr) -> SecretStr:
    _web_address(value.get_secret_value())
    return value


def _base(text: str) -> str:
    parts = _web_address(text)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("must be a web address without user name, password, ? or #")
    return text.rstrip("/")


def shown_address(address: str) -> str:
    """Return the scheme and host of a web address; the rest of it may be a secret."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


_REPOSITORY = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}/\.?[A-Za-z0-9_-][A-Za-z0-9_.-]{0,98}$"

Words = Annotated[str, Field(max_length=10_000), AfterValidator(_words)]
NoneIfEmpty = BeforeValidator(_none_if_empty)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AgentSettings(_Section):
    """The agent that works on the prompt."""

    name: Annotated[Words | None, NoneIfEmpty] = None
    """Name of the agent; None: Claude Code if it is installed."""
    binary: Annotated[Words | None, NoneIfEmpty] = None
    """The agent's program: a name on PATH, or a path; None: its usual name."""
    silence_s: Seconds = Field(default=600.0, ge=10, le=DAY)
    """How long an agent may produce no output and change no file before you are asked."""
    silence_answer_s: Seconds = Field(default=300.0, ge=1, le=DAY)
    """How long the question about a silent agent waits for your answer."""
    command: Annotated[Words | None, NoneIfEmpty] = None
    """Command line of your program, for the agents ``command`` (prompt on stdin) and ``acp``."""
    model: Annotated[Words | None, NoneIfEmpty] = None
    """Model, passed to the agent; None: the agent chooses."""
    fallback: Annotated[
        tuple[Words, ...],
        BeforeValidator(_names),
        AfterValidator(_once),
        Field(strict=False, max_length=10, examples=[NAMED]),
    ] = ()
    """Agents that take over, in this order, while earlier ones are not available."""
    fallback_after: Seconds = Field(default=1200.0, ge=0, le=7 * DAY)
    """Switch to another agent if a limit lasts longer than this; otherwise wait for it to end."""
    after_limit_s: Seconds = Field(default=0.0, ge=0, le=7 * DAY)
    """How long the run waits for your go-ahead after a limit ends before it continues. A fleet
    sets this so that its loops continue one after another.
    """


class PermissionSettings(_Section):
    """What the agent may do without asking."""

    mode: Literal["edits", "ask", "skip"] = "edits"
    """``edits``: file edits and the completion command; ``ask``: the same, and the agent asks
    you for anything else; ``skip``: everything (unrestricted).
    """
    answer_s: Seconds = Field(default=300.0, ge=0, le=DAY)
    """How long a permission question waits for you before it is refused; 0: refuse at once."""
    allow: Annotated[tuple[Words, ...], BeforeValidator(_lines), Field(strict=False)] = ()
    """Additional tools that the agent may use, one permission rule each."""


class LimitSettings(_Section):
    """Limits that end a run before it completes."""

    max_iterations: int = Field(default=10, ge=1, le=1000)
    """Maximum number of iterations."""
    session_timeout_s: Seconds = Field(default=8 * 3600.0, ge=1, le=7 * DAY)
    """Maximum duration of one agent session."""
    budget_usd: Annotated[float | None, Field(gt=0, le=1_000_000), NoneIfEmpty] = None
    """US dollars for the whole run; None: no limit."""
    iteration_budget_usd: Annotated[float | None, Field(gt=0, le=1_000_000), NoneIfEmpty] = None
    """US dollars for one iteration; None: no limit."""
    iteration_budget_tokens: Annotated[int | None, Field(gt=0, le=10**12), NoneIfEmpty] = None
    """Tokens for one iteration; None: no limit."""
    budget_tokens: Annotated[int | None, Field(gt=0, le=10**12), NoneIfEmpty] = None
    """Tokens for the whole run; None: no limit."""


class GateSettings(_Section):
    """How the completion command runs."""

    timeout_s: Seconds = Field(default=1800.0, ge=1, le=DAY)
    """Maximum duration; after that the command counts as failed."""


class CheckpointSettings(_Section):
    """Automatic checkpoints during a session."""

    enabled: bool = True
    """False: no checkpoints at intervals and no checkpoint files; snapshots are still taken."""
    interval_s: Seconds = Field(default=1800.0, ge=10, le=DAY)
    """Time between two checkpoints of a session."""


_Label = Annotated[Words, Field(min_length=1, max_length=50)]
_Labels = Annotated[
    tuple[_Label, ...],
    BeforeValidator(partial(_names, example=LABELS)),
    Field(strict=False, max_length=10, examples=[LABELS]),
]


class OutreachSettings(_Section):
    """Where notifications go when no screen is open. Tokens stay in the environment."""

    webhook: Annotated[Annotated[SecretStr, AfterValidator(_hook)] | None, NoneIfEmpty] = None
    """Web address that accepts a JSON POST; treated as a secret, as it often contains a token."""
    tracker: Annotated[Literal["gitea", "github"] | None, NoneIfEmpty] = None
    """Issue tracker that gets an issue for each notification."""
    tracker_url: Annotated[Annotated[str, AfterValidator(_base)] | None, NoneIfEmpty] = None
    """Web address of the tracker; None: github.com."""
    repository: Annotated[Annotated[str, Field(pattern=_REPOSITORY)] | None, NoneIfEmpty] = None
    """``owner/name`` of the repository that gets the issues."""
    token_variable: Annotated[
        # Capitals only: a token that was put here by mistake is rejected, not looked up.
        # The ending marks the value as a secret, which is kept out of every record.
        Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,99}(TOKEN|KEY|SECRET)$")] | None,
        NoneIfEmpty,
    ] = None
    """Environment variable with the token; None: ``GITEA_TOKEN`` or ``GITHUB_TOKEN``."""
    escalate: bool = True
    """Send messages; False leaves the channels configured but unused."""
    labels_info: _Labels = ("info",)
    """Labels of the issue about a run that you aborted."""
    labels_warning: _Labels = ("warning",)
    """Labels for a question that remains unanswered."""
    labels_critical: _Labels = ("critical", "needs-review")
    """Labels for a PAUSE, and for a REDIRECT with critical severity."""
    labels_emergency: _Labels = ("emergency", "blocking")
    """Labels for an ABORT by the overseer, or because no one answered."""

    @property
    def unset(self) -> bool:
        """True if nothing is set, so that no channel is set up."""
        return self == type(self)()


class UiSettings(_Section):
    """How the cockpit looks and behaves."""

    theme: Annotated[Words | None, NoneIfEmpty] = None
    """``dark``, ``light``, ``terminal`` or a Textual theme; None: match the terminal."""
    on_hangup: Literal["leave", "stop"] = "leave"
    """When the terminal closes: ``leave`` the run going without a screen, or ``stop`` it."""


_Keys: Any = create_model(
    "_Keys",
    __base__=_Section,
    **{  # type: ignore[call-overload]  # mypy checks the values against every parameter
        action: (
            Annotated[str, Field(max_length=200), AfterValidator(partial(checked, action))],
            Field(default=row.keys, description=row.help),
        )
        for action, row in TABLE.items()
    },
)


class KeySettings(_Keys):
    """Keys for cockpit and home, separated by commas; the first is shown. Dialog keys are fixed."""


class Settings(_Section):
    """All user settings; immutable, passed explicitly, never global."""

    agent: AgentSettings = AgentSettings()
    permissions: PermissionSettings = PermissionSettings()
    limits: LimitSettings = LimitSettings()
    gate: GateSettings = GateSettings()
    control: ControlSettings = ControlSettings()
    intelligence: IntelligenceSettings = IntelligenceSettings()
    oversight: OversightSettings = OversightSettings()
    context: ContextSettings = ContextSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    memory: MemorySettings = MemorySettings()
    outreach: OutreachSettings = OutreachSettings()
    ui: UiSettings = UiSettings()
    keys: KeySettings = KeySettings()
    progress: Literal["auto", "tests", "plan", "agent", "estimate"] = "auto"
    """Source of the completion value."""

    def by_name(self) -> dict[str, str | float | int | bool | list[str] | None]:
        """Return every value by dotted name, safe to show: of a secret, only a harmless part."""
        return {name: _shown(value) for name, value in leaves(self.model_dump())}

    def of_the_run(self) -> dict[str, str | float | int | bool | list[str] | None]:
        """Return what a run records: `by_name` without the keys, which are personal."""
        shown = self.by_name().items()
        return {name: value for name, value in shown if not name.startswith("keys.")}


def _shown(value: Any) -> Any:
    match value:
        case SecretStr():
            return shown_address(value.get_secret_value())
        case tuple():
            return list(value)
    return value


def leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted names and values of nested tables; nothing for an empty table."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


NAMES = tuple(Settings().by_name())
"""Every setting's dotted name."""
