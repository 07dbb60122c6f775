"""The labels of a tracker's repository: found by name, made where they are missing."""

from ralph_tui.adapters.outreach.dialects import Dialect
from ralph_tui.adapters.outreach.http_service import HttpService

COLOURS = {
    "ralph-external": "1d76db",
    "info": "c5def5",
    "warning": "fbca04",
    "critical": "d93f0b",
    "needs-review": "fbca04",
    "emergency": "b60205",
    "blocking": "b60205",
}
"""Of labels that are made."""
MOST_PAGES = 20
"""Of labels that are looked through: Gitea would take the same name twice."""


class Labels:
    """Remembers what it has found."""

    def __init__(self, dialect: Dialect, service: HttpService, repository: str) -> None:
        """`repository` is its address in the interface."""
        self._dialect = dialect
        self._service = service
        self._repo = repository
        self._known: dict[str, int] = {}
        """Ids, by name in small letters."""

    def forget(self) -> None:
        """Look again the next time."""
        self._known.clear()

    def of(self, names: tuple[str, ...]) -> list[int] | list[str]:
        """As an issue wants them, made where they are missing; empty when that is forbidden."""
        missing = [name for name in names if name not in self._known]
        if missing and not self._find(missing):
            for name in missing:
                if name not in self._known and not self._make(name):
                    return []
        if self._dialect.labels_by == "name":
            return list(names)
        return [self._known[name] for name in names]

    def _find(self, names: list[str]) -> bool:
        """Look through the repository's labels; whether all of them are there."""
        for page in range(1, MOST_PAGES + 1):
            response = self._service.call(
                "GET", f"{self._repo}/labels", params=self._dialect.page(page, 50)
            )
            labels = response.json() if response.status == 200 else None
            if not isinstance(labels, list) or not labels:
                return False
            for label in labels:
                self._know(label)
            if all(name in self._known for name in names):
                return True
        return False

    def _make(self, name: str) -> bool:
        response = self._service.call(
            "POST",
            f"{self._repo}/labels",
            body={"name": name, "color": self._dialect.colour_mark + COLOURS[name]},
        )
        if response.status == 201:
            self._know(response.object())
        return name in self._known

    def _know(self, label: object) -> None:
        if isinstance(label, dict):
            name, number = label.get("name"), label.get("id")
            if isinstance(name, str) and isinstance(number, int):
                self._known[name.lower()] = number
