"""Differences between Gitea and GitHub."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Dialect:
    """The API of one tracker."""

    name: Literal["gitea", "github"]
    api: str
    """The path after the tracker's address."""
    token_variable: str
    """Default environment variable for the token."""
    scheme: str
    """Authorization scheme before the token."""
    page_size: str
    """Name of the query parameter for the page size."""
    labels_by: Literal["id", "name"]
    """How an issue refers to its labels."""
    colour_mark: str
    query: Mapping[str, str | int]
    """Further parameters of a search for issues."""
    headers: Mapping[str, str]
    url: str | None = None
    """The tracker's address, if there is only one."""

    def page(self, number: int, size: int) -> dict[str, str | int]:
        """Return the query for one page of a list."""
        return {"page": number, self.page_size: size}


GITEA = Dialect(
    name="gitea",
    api="/api/v1",
    token_variable="GITEA_TOKEN",
    scheme="token",
    page_size="limit",
    labels_by="id",
    colour_mark="#",
    query={"type": "issues"},
    headers={"Accept": "application/json"},
)
GITHUB = Dialect(
    name="github",
    api="",
    token_variable="GITHUB_TOKEN",
    scheme="Bearer",
    page_size="per_page",
    labels_by="name",
    colour_mark="",
    query={"sort": "created"},
    headers={"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
    url="https://api.github.com",
)
DIALECTS = {"gitea": GITEA, "github": GITHUB}
