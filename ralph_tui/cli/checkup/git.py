"""Git, the repository, and the identity for commits."""

from collections.abc import Iterator

from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.user_config import UserConfig
from ralph_tui.base.errors import RalphError
from ralph_tui.base.git_config import sealed_with
from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding, refusal

SUBJECT = "git"
_IDENTITY = ("user.", "committer.")


def check_git(env: Environment) -> Iterator[Finding]:
    """Check that git exists, is new enough, and can be used here."""
    try:
        repository = open_repository(env.folder)
    except RalphError as error:
        yield refusal("problem", SUBJECT, error)
        return
    version = run_git(env.folder, "version").line.removeprefix("git version ")
    named = {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.root)}
    ask = ("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    head = run_git(repository.root, *ask, environment=named, accept=None)
    place = env.short_path(repository.root)
    yield Finding("ok", SUBJECT, f"git {version}, {place} is a repository")
    if head.status != 0:
        yield Finding(
            "note",
            SUBJECT,
            "no commit yet; every file counts as changed",
            "git add -A && git commit -m start",
        )
    config = UserConfig(repository.git_dir)
    entries = config.of_repository(repository.common_dir)
    if config.blocked:
        yield Finding(
            "warning",
            SUBJECT,
            f"your git configuration names {env.short_path(config.blocked[0])}, which is not a "
            "file; git blocks on it, but ralph-tui ignores it",
            "git config --list --show-origin",
        )
    if env.settings.context.commit_wip:
        identity = [entry for entry in entries if entry[0].startswith(_IDENTITY)]
        var = ("var", "GIT_COMMITTER_IDENT")
        known = sealed_with(*identity)
        who = run_git(repository.root, *var, environment={**known, **named}, accept=None)
        if who.status != 0:
            yield Finding(
                "warning",
                SUBJECT,
                "context.commit_wip is set, but git has no user name or email",
                "git config --global user.name NAME; git config --global user.email ADDRESS",
            )
