"""Categorize paths, and total the changed files by category.

Only the words of a path decide; the first matching rule wins.
"""

import re
from collections.abc import Sequence
from typing import get_args

from ralph_tui.events import FilesChanged
from ralph_tui.events.workspace import Category, CategoryTotal, FileChange

SHOWN_CHANGES = 200
"""Maximum number of changes listed in one event; its totals include every change."""

_TEST = {"test", "tests", "spec", "specs", "__tests__", "conftest", "e2e"}
_TOKENS = re.compile(r"[/._-]")
_CONFIG = {"json", "yaml", "yml", "toml", "ini", "cfg", "lock", "lockb", "lockfile", "dockerfile"}
_CONFIG_NAMES = {"makefile", "gnumakefile", "dockerfile", "go.sum", "go.work.sum"}
_RC_FILE = re.compile(r"\.[\w-]*rc(?:\.\w+)?")
_DOCS = {"md", "rst", "txt", "adoc"}
_LANGUAGES = (
    "py pyi pyx pxd pyw ipynb",
    "js mjs cjs jsx ts mts cts tsx vue svelte astro coffee",
    "java kt kts groovy gradle scala sc clj cljs cljc edn",
    "c h cc cpp cxx c++ hh hpp hxx ipp inl m mm cu cuh",
    "cs fs fsi fsx vb swift go rs zig nim d v odin",
    "rb erb rake php phtml pl pm t lua tcl r jl",
    "hs lhs elm purs ml mli re rei ex exs erl hrl gleam",
    "sh bash zsh fish ksh ps1 psm1 bat cmd awk sed",
    "lisp lsp cl el scm ss rkt fnl",
    "f f77 f90 f95 f03 f08 for cob cbl pas pp dpr ada adb ads",
    "asm s vhd vhdl sv svh dart hx cr sol move cairo vy",
    "sql psql plsql graphql gql proto thrift prisma",
    "html htm css scss sass less styl tcss jinja j2 hbs ejs pug haml liquid twig",
    "tf hcl nix bzl cmake mk ninja glsl hlsl wgsl vert frag metal",
    "wat wast applescript vim st matlab sas do ahk au3 gd",
)
_SOURCE = frozenset(" ".join(_LANGUAGES).split())


def categorize(path: str) -> Category:
    """Return the category of a path relative to the repository, with ``/`` as the separator."""
    *folders, name = path.lower().split("/")
    if ".aiwg" in folders:
        return "aiwg"
    parts = {*folders, name}
    if parts & _TEST or not _TEST.isdisjoint(_TOKENS.split(path.lower())):
        return "test"
    extension = name.rpartition(".")[2] if "." in name.lstrip(".") else ""
    if extension in _CONFIG or name.partition(".")[0] in ("makefile", "dockerfile"):
        return "config"
    if name in _CONFIG_NAMES or _RC_FILE.fullmatch(name):
        return "config"
    if extension in _DOCS or "doc" in folders or "docs" in folders:
        return "docs"
    return "source" if extension in _SOURCE else "other"


def files_changed(
    iteration: int, changes: Sequence[FileChange], *, live: bool, latest: str | None = None
) -> FilesChanged:
    """Build the event; its totals follow the order of `Category` and omit empty categories."""
    totals = []
    for category in get_args(Category):
        mine = [change for change in changes if change.category == category]
        if mine:
            totals.append(
                CategoryTotal(
                    category=category,
                    files=len(mine),
                    added=sum(change.added for change in mine),
                    removed=sum(change.removed for change in mine),
                )
            )
    return FilesChanged(
        iteration=iteration,
        live=live,
        totals=totals,
        changes=list(changes[:SHOWN_CHANGES]),
        latest=latest,
    )
