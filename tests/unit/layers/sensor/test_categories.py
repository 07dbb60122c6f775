"""File categories: the first rule that fits decides."""

import pytest

from ralph_tui.layers.sensor.categories import categorize


@pytest.mark.parametrize(
    ("path", "category"),
    [
        (".aiwg/ralph/state.json", "aiwg"),
        ("packages/a/.aiwg/notes/test_plan.md", "aiwg"),
        (".aiwg", "other"),
        ("tests/data.json", "test"),
        ("src/test/Foo.java", "test"),
        ("test_x.py", "test"),
        ("x_test.go", "test"),
        ("a.spec.ts", "test"),
        ("spec/models/user.rb", "test"),
        ("src/__tests__/a.js", "test"),
        ("conftest.py", "test"),
        ("e2e/login.ts", "test"),
        ("unit-tests/helper.py", "test"),
        ("Tests/Unit.cs", "test"),
        ("latest.py", "source"),
        ("contest.ts", "source"),
        ("attestation/spectrum.go", "source"),
        ("testing.py", "source"),
        ("package.json", "config"),
        ("docs/conf.toml", "config"),
        ("setup.cfg", "config"),
        (".github/workflows/ci.yml", "config"),
        (".eslintrc", "config"),
        (".eslintrc.js", "config"),
        (".bashrc", "config"),
        ("Cargo.lock", "config"),
        ("sub/Makefile", "config"),
        ("Dockerfile.dev", "config"),
        ("README.md", "docs"),
        ("notes.rst", "docs"),
        ("requirements.txt", "docs"),
        ("docs/conf.py", "docs"),
        ("doc/picture.png", "docs"),
        ("docs.py", "source"),
        ("src/main.rs", "source"),
        ("a/b.tsx", "source"),
        ("lib/x.R", "source"),
        ("run.sh", "source"),
        ("src\\tests\\x.py", "source"),
        ("logo.png", "other"),
        ("LICENSE", "other"),
        (".gitignore", "other"),
        (".py", "other"),
        ("py", "other"),
        ("", "other"),
        ("two words\nand a line.py", "source"),
    ],
)
def test_category(path: str, category: str) -> None:
    assert categorize(path) == category
