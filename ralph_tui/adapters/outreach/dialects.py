"""Where Gitea and GitHub differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Dialect:
    """One tracker's ways."""

    name: Literal["gitea", "github"]
    api: str
    """Behind the tracker's address."""
    token_variable: str
    """Where the token is looked for when the settings do not say."""
    scheme: str
    """Before the token."""
    page_size: str
    """The query's name for it."""
    labels_by: Literal["id", "name"]
    """What an issue names its labels by."""
    colour_mark: str
    query: Mapping[str, str | int]
    """What a search for issues also says."""
    headers: Mapping[str, str]
    url: str | None = None
    """The tracker's address, where there is but one."""

    def page(self, number: int, size: int) -> dict[str, str | int]:
        """The query for one page of a list."""
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
