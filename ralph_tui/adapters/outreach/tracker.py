"""A channel that opens an issue per run on Gitea or GitHub; later messages are its comments.

The issue's labels are those of the highest level so far. If the token may not set labels, the issue
is made without them rather than not at all.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Protocol, get_args
from urllib.parse import quote

from ralph_tui.adapters.outreach.channel import ChannelContext
from ralph_tui.adapters.outreach.dialects import DIALECTS, Dialect
from ralph_tui.adapters.outreach.http_service import (
    USUAL,
    HttpResponse,
    HttpService,
    Timeouts,
    UndeliveredError,
)
from ralph_tui.adapters.outreach.message import Message, comment_body, issue_body
from ralph_tui.adapters.outreach.outbox import IssueNumbers
from ralph_tui.base.errors import UsageError
from ralph_tui.config.settings import OutreachSettings, shown_address
from ralph_tui.events.oversight import EscalationLevel
from ralph_tui.text.sanitize import clip, one_line, plain

COLOURS = {
    "ralph-external": "1d76db",
    "info": "c5def5",
    "warning": "fbca04",
    "critical": "d93f0b",
    "needs-review": "fbca04",
    "emergency": "b60205",
    "blocking": "b60205",
}
"""Colours of the default labels, by name."""
OTHER = "ededed"
"""Colour of any other label that ralph-tui creates."""
MARK = "ralph-external"
"""Label of all issues."""
LEVELS: tuple[EscalationLevel, ...] = get_args(EscalationLevel)
"""Levels from the lowest to the highest."""
MAX_PAGES = 20
"""Maximum number of pages of labels; a label beyond them would be created twice."""


class Labels:
    """The labels of a repository, with a cache of those found."""

    def __init__(self, dialect: Dialect, service: HttpService, repository: str) -> None:
        """`repository` is the URL of its API."""
        self._dialect = dialect
        self._service = service
        self._repo = repository
        self._known: dict[str, int] = {}
        """Ids by lowercase name."""

    def forget(self) -> None:
        """Clear the cache."""
        self._known.clear()

    def of(self, names: tuple[str, ...]) -> list[int] | list[str]:
        """Return labels as an issue needs them, creating missing ones; empty if forbidden."""
        missing = [name for name in names if name.lower() not in self._known]
        if missing and not self._find(missing):
            for name in missing:
                if name.lower() not in self._known and not self._make(name):
                    return []
        if self._dialect.labels_by == "name":
            return list(names)
        return [self._known[name.lower()] for name in names]

    def _find(self, names: list[str]) -> bool:
        """Search the repository's labels; return True if it has all of them."""
        for page in range(1, MAX_PAGES + 1):
            response = self._service.call(
                "GET", f"{self._repo}/labels", params=self._dialect.page(page, 50)
            )
            labels = response.json() if response.status == 200 else None
            if not isinstance(labels, list) or not labels:
                return False
            for label in labels:
                self._cache(label)
            if all(name.lower() in self._known for name in names):
                return True
        return False

    def _make(self, name: str) -> bool:
        response = self._service.call(
            "POST",
            f"{self._repo}/labels",
            body={"name": name, "color": self._dialect.colour_mark + COLOURS.get(name, OTHER)},
        )
        if response.status == 201:
            self._cache(response.object())
        return name.lower() in self._known

    def _cache(self, label: object) -> None:
        if isinstance(label, dict):
            name, number = label.get("name"), label.get("id")
            if isinstance(name, str) and isinstance(number, int):
                self._known[name.lower()] = number


def labels_by_level(settings: OutreachSettings) -> dict[EscalationLevel, tuple[str, ...]]:
    """Return the labels of an issue, by the level of its message."""
    return {level: (MARK, *getattr(settings, f"labels_{level}")) for level in LEVELS}


LABELS = labels_by_level(OutreachSettings())
SEARCHED_PAGES = 3
SEARCHED_PER_PAGE = 10
"""Small pages, because issue bodies are long and the size of an answer is limited."""
LISTED_PAGES = 50
FORBIDDEN = (403, 404, 422)
NO_LABELS = ", without labels, because the token may not set them"


@dataclass(frozen=True)
class Issue:
    """An issue from a tracker, whose foreign text has been sanitised."""

    number: int
    title: str
    body: str = ""


class Numbers(Protocol):
    """Remembers the issue of every run."""

    def get(self, run_id: str) -> int | None:
        """Return the number of a run's issue; None if it has no issue yet."""

    def put(self, run_id: str, number: int | None) -> None:
        """Remember a number or, with None, forget it."""


class Tracker:
    """A channel that opens issues."""

    comments = True

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        repository: str,
        token: str | None,
        variable: str,
        numbers: Numbers,
        timeouts: Timeouts = USUAL,
        levels: Mapping[EscalationLevel, tuple[str, ...]] = LABELS,
    ) -> None:
        """`variable` is the token's environment variable, which messages name instead."""
        self.name: str = dialect.name
        self._dialect = dialect
        self._repository = repository
        self._token = (token or "").strip()
        self._variable = variable
        self._numbers = numbers
        self.place = f"{shown_address(url)} {repository}"
        self._base = url.removesuffix(dialect.api) + dialect.api
        self._repo = f"{self._base}/repos/{repository}"
        self._service = HttpService(
            shown_address(url),
            {**dialect.headers, "Authorization": f"{dialect.scheme} {self._token}"},
            (self._token,) if self._token else (),
            timeouts,
        )
        self._labels = Labels(dialect, self._service, self._repo)
        self._levels = levels

    @classmethod
    def from_settings(cls, context: ChannelContext) -> "Tracker | None":
        """Return the tracker in the settings, if any. Raises ``UsageError`` if incomplete."""
        settings = context.settings
        if settings.tracker is None:
            return None
        dialect = DIALECTS[settings.tracker]
        url = settings.tracker_url or dialect.url
        if url is None:
            raise UsageError(
                f"outreach.tracker is {dialect.name}, but its address is missing; "
                "set outreach.tracker_url, such as https://git.example.com"
            )
        if settings.repository is None:
            raise UsageError(
                f"outreach.tracker is {dialect.name}, but the repository is "
                "missing; set outreach.repository to owner/name"
            )
        variable = settings.token_variable or dialect.token_variable
        numbers = IssueNumbers(context.outbox, f"{url} {settings.repository}")
        token = context.environ.get(variable)
        levels = labels_by_level(settings)
        return cls(dialect, url, settings.repository, token, variable, numbers, levels=levels)

    def issue_of(self, run_id: str) -> int | None:
        return self._numbers.get(run_id)

    def deliver(self, message: Message, *, again: bool = False) -> str:
        """Send a message and return where it can be read. Raises ``UndeliveredError``.

        A comment for a run without an issue is dropped, and "" is returned. With `again`, an
        earlier attempt may have opened an issue without seeing the answer, so search for that issue
        first.
        """
        number = self._numbers.get(message.run_id)
        if number is None and message.comment:
            return ""
        self._check_token()
        if number is not None:
            where = self._comment(number, message)
            if where is not None:
                if not message.comment:
                    self._raise_labels(number, message.level)
                return where
            self._numbers.put(message.run_id, None)
        if message.comment:
            return ""
        if number is None and again and (found := self._search(message)) is not None:
            return self._with_number_saved(found, message.run_id)
        issue, note = self._create(message)
        return self._with_number_saved(issue, message.run_id) + note

    def probe(self, message: Message) -> str:
        """Open an issue and close it; otherwise like `deliver`."""
        self._check_token()
        issue, note = self._create(message)
        number = _number(issue)
        if number is None:
            return self._with_number_saved(issue, message.run_id) + note
        response = self._service.call(
            "PATCH", f"{self._repo}/issues/{number}", body={"state": "closed"}
        )
        closed = "closed again" if 200 <= response.status < 300 else "still open; close it by hand"
        return f"{_address(issue, number)} was created{note} and is {closed}"

    def open_issues(self, label: str) -> Iterator[Issue]:
        """Yield open issues with a label, in the tracker's order. Raises ``UndeliveredError``."""
        self._check_token()
        for page in range(1, LISTED_PAGES + 1):
            params = {
                "state": "open",
                "labels": label,
                **self._dialect.query,
                **self._dialect.page(page, SEARCHED_PER_PAGE),
            }
            response = self._service.call("GET", f"{self._repo}/issues", params=params)
            issues = response.json() if response.status == 200 else None
            if not isinstance(issues, list):
                raise self._error(response, "read")
            if not issues:
                return
            for issue in filter(_is_issue, issues):
                number = _number(issue)
                if number is not None and label.lower() in _labels(issue):
                    yield Issue(number, _text(issue, "title"), _text(issue, "body"))

    def issue(self, number: int) -> Issue:
        """Return the issue with this number. Raises ``UndeliveredError``."""
        self._check_token()
        response = self._service.call("GET", f"{self._repo}/issues/{number}")
        if response.status in (404, 410):
            raise UndeliveredError(
                f"{self.place} shows no such issue to this token; check the number and the "
                "token's rights",
                "mend",
            )
        issue = response.object() if response.status == 200 else {}
        if _number(issue) != number:
            raise self._error(response, "read")
        return Issue(number, _text(issue, "title"), _text(issue, "body"))

    def _check_token(self) -> None:
        if not self._token:
            raise UndeliveredError(
                f"no token for {self.place}; set the environment variable {self._variable}", "mend"
            )
        if not self._token.isascii() or not self._token.isprintable() or " " in self._token:
            raise UndeliveredError(
                f"the value of {self._variable} is not a valid token: it has spaces or "
                "special characters",
                "mend",
            )

    def _comment(self, number: int, message: Message) -> str | None:
        """Add a comment and return its address; None if the issue is gone."""
        url = f"{self._repo}/issues/{number}/comments"
        response = self._service.call("POST", url, body={"body": comment_body(message)})
        if response.status == 201:
            return f"{_address(response.object(), number)} (a comment)"
        if response.status in (404, 410):
            return None
        raise self._error(response)

    def _raise_labels(self, number: int, level: EscalationLevel) -> None:
        """Give the issue the labels of this level, unless it has the labels of a higher one.

        A failure is ignored: the comment has arrived, and must not be sent again.
        """
        url = f"{self._repo}/issues/{number}"
        wanted = self._levels[level]
        with suppress(UndeliveredError):
            known = _label_ids(self._service.call("GET", url).object())
            if any(known.keys() >= self._own(one) for one in self._higher(level)):
                return
            labels = self._labels.of(wanted)
            if not labels:
                return
            added = self._service.call("POST", f"{url}/labels", body={"labels": labels})
            lower = {name for one in LEVELS for name in self._own(one)} - set(_lower(wanted))
            for name in sorted(lower & known.keys()) if added.status == 200 else ():
                which = known[name] if self._dialect.labels_by == "id" else quote(name, safe="")
                self._service.call("DELETE", f"{url}/labels/{which}")

    def _higher(self, level: EscalationLevel) -> list[EscalationLevel]:
        """Return this level and all above it that have labels of their own."""
        return [one for one in LEVELS[LEVELS.index(level) :] if self._own(one)]

    def _own(self, level: EscalationLevel) -> set[str]:
        return set(_lower(self._levels[level])) - {MARK}

    def _search(self, message: Message) -> dict[str, Any] | None:
        # One day of tolerance, because the clocks of two machines may differ.
        since = f"{message.raised - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
        for page in range(1, SEARCHED_PAGES + 1):
            response = self._service.call(
                "GET",
                f"{self._repo}/issues",
                params={
                    "state": "all",
                    "since": since,
                    **self._dialect.query,
                    **self._dialect.page(page, SEARCHED_PER_PAGE),
                },
            )
            issues = response.json() if response.status == 200 else None
            if not isinstance(issues, list) or not issues:
                return None
            for issue in issues:
                if isinstance(issue, dict) and message.marker in str(issue.get("body")):
                    return issue
        return None

    def _create(self, message: Message) -> tuple[dict[str, Any], str]:
        """Return the issue as the tracker sent it, and a note about its labels."""
        url = f"{self._repo}/issues"
        body: dict[str, object] = {"title": message.title, "body": issue_body(message)}
        labels = self._labels.of(self._levels[message.level])
        if labels:
            response = self._service.call("POST", url, body={**body, "labels": labels})
            if response.status not in FORBIDDEN:
                issue = self._created(response)
                # GitHub silently drops labels that are not allowed.
                return issue, NO_LABELS if issue.get("labels") == [] else ""
            self._labels.forget()
        return self._created(self._service.call("POST", url, body=body)), NO_LABELS

    def _created(self, response: HttpResponse) -> dict[str, Any]:
        if response.status != 201:
            raise self._error(response)
        return response.object()

    def _with_number_saved(self, issue: dict[str, Any], run_id: str) -> str:
        number = _number(issue)
        if number is not None:
            self._numbers.put(run_id, number)
        return _address(issue, number)

    def _error(
        self, response: HttpResponse, what: Literal["write", "read"] = "write"
    ) -> UndeliveredError:
        """Return the error for a refused request, by its status; `what` is the kind of request."""
        status, host = response.status, self._service.place
        match status:
            case 401:
                text = f"{host} refused the token; set a valid one in {self._variable}"
            case 403:
                text = (
                    f"the token in {self._variable} may not {what} issues in {self._repository}; "
                    "grant it that right"
                )
            case 404:
                text = (
                    f"{host} shows no repository {self._repository} to this token; "
                    "check outreach.repository and the token's rights"
                )
            case 410 | 423:
                takes = "accepts" if what == "write" else "has"
                text = (
                    f"{self._repository} {takes} no issues; it is archived, or issues are disabled"
                )
            case _ if 300 <= status < 400:
                text = (
                    f"{host} answered with a redirect; set outreach.tracker_url and "
                    "outreach.repository to the current address and name"
                )
            case _ if status < 300:
                text = f"the server at {host} is not a tracker; check outreach.tracker_url"
            case _:
                does = "accept the issue" if what == "write" else "list issues"
                said = self._service.safe(f"{host} does not {does} (HTTP {status})")
                return UndeliveredError(said + self._service.safe(response.explanation()), "drop")
        return UndeliveredError(text + self._service.safe(response.explanation()), "mend")


def _is_issue(issue: object) -> bool:
    """True for an issue; GitHub also lists pull requests."""
    return isinstance(issue, dict) and not issue.get("pull_request")


def _labels(issue: dict[str, Any]) -> set[str]:
    return set(_label_ids(issue))


def _label_ids(issue: dict[str, Any]) -> dict[str, object]:
    """Return the ids of an issue's labels by lowercase name."""
    labels = issue.get("labels")
    known = [each for each in labels if isinstance(each, dict)] if isinstance(labels, list) else []
    return {str(each.get("name") or "").lower(): each.get("id") for each in known}


def _lower(names: Iterable[str]) -> list[str]:
    return [name.lower() for name in names]


def _text(issue: dict[str, Any], name: str) -> str:
    value = issue.get(name)
    return plain(value) if isinstance(value, str) else ""


def _number(issue: dict[str, Any]) -> int | None:
    number = issue.get("number")
    return number if isinstance(number, int) and number > 0 else None


def _address(issue: dict[str, Any], number: int | None) -> str:
    url = issue.get("html_url")
    if isinstance(url, str) and url.startswith(("https://", "http://")):
        return clip(one_line(url), 300)
    return f"issue {number}" if number else "an issue without a number from the tracker"
