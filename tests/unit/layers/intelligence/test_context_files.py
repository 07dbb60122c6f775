"""Which files the next session is pointed to."""

from ralph_tui.events import FilesChanged, GateFinished
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.layers.intelligence import Evidence, Traces
from ralph_tui.layers.intelligence.context_files import MOST, context_files, failing_files
from ralph_tui.layers.sensor.categories import categorize
from tests.rows import each_row


def gate(*names: str, tail: str = "", ok: bool = False) -> GateFinished:
    return GateFinished(
        iteration=1, ok=ok, passed=1, failed=len(names), failing=list(names), tail=tail
    )


def changed(**status: str) -> FilesChanged:
    changes = [
        FileChange.model_validate({"path": path, "status": how, "category": categorize(path)})
        for path, how in status.items()
    ]
    totals = [CategoryTotal(category="source", files=len(changes))]
    return FilesChanged(iteration=1, live=False, changes=changes, totals=totals)


@each_row(
    ("name", "files", "found"),
    [
        ("tests/test_a.py::test_b[x/y]", ["tests/test_a.py", "tests/test_b.py"], "tests/test_a.py"),
        ("test_a.py::test_b", ["test_a.py", "test_b.py"], "test_a.py"),
        ("test_x (shop.tests.Cart.test_x)", ["blog/tests.py", "shop/tests.py"], "shop/tests.py"),
        ("com.acme.CartTest.adds", ["test/com/acme/CartTest.java"], "test/com/acme/CartTest.java"),
        ("FiveTest$Inner.deep", ["test/FiveTest.java"], "test/FiveTest.java"),
        ("shop.CartTest > adds", ["test/shop/CartTest.kt"], "test/shop/CartTest.kt"),
        ("test total is right (CartTest)", ["test/cart_test.exs"], "test/cart_test.exs"),
        ("CartTest#test_total", ["test/cart_test.rb"], "test/cart_test.rb"),
        ("tests/cart.spec.js › adds", ["tests/cart.spec.js"], "tests/cart.spec.js"),
        ("./cart.test.js", ["cart.test.js", "web/cart.test.ts"], "cart.test.js"),
        ("Tests\\Unit\\CartTest > it adds", ["tests/Unit/CartTest.php"], "tests/Unit/CartTest.php"),
        ("Shop.Tests.CartTests.Adds", ["Shop.Tests/CartTests.cs"], "Shop.Tests/CartTests.cs"),
        ("cart_tests: total_test", ["test/cart_tests.erl"], "test/cart_tests.erl"),
    ],
)
def test_a_name_shows_its_file(name: str, files: list[str], found: str) -> None:
    assert failing_files(gate(name), files) == [found]


@each_row(
    ("name", "files"),
    [
        ("cookies work", ["tests/cookies.py"]),
        ("tests::bad", ["src/tests.rs"]),
        ("CartTest.adds", ["a/CartTest.java", "b/CartTest.java"]),
        ("", ["tests/test_a.py"]),
    ],
)
def test_a_name_that_proves_nothing_shows_none(name: str, files: list[str]) -> None:
    assert failing_files(gate(name), files) == []


@each_row(
    ("tail", "found"),
    [
        ("    cart_test.go:12: got 3, want 4", ["shop/cart_test.go"]),
        ("at /srv/p/shop/cart_test.go:12\nat shop/cart_test.go:9", ["shop/cart_test.go"]),
        ("--- FAIL: list_test.go", []),
        ("PASS shop/cart_test.go\nok  shop/cart_test.go", []),
    ],
)
def test_the_output_shows_files_that_names_do_not(tail: str, found: list[str]) -> None:
    files = ["shop/cart_test.go", "a/list_test.go", "b/list_test.go"]
    assert failing_files(gate("TestTotal", tail=tail), files) == found


def test_output_is_not_asked_where_names_show_all() -> None:
    seen = gate("tests/test_a.py::test_x", tail="tests/test_b.py:3: in helper")
    assert failing_files(seen, ["tests/test_a.py", "tests/test_b.py"]) == ["tests/test_a.py"]


def test_a_passing_command_has_no_files_of_failing_tests() -> None:
    assert failing_files(gate("tests/test_a.py::test_x", ok=True), ["tests/test_a.py"]) == []


def test_changed_files_come_latest_first_without_deleted_ones_and_artifacts() -> None:
    files = changed(
        **{"a.py": "modified", "b.py": "deleted", "c.py": "added", ".aiwg/x.md": "added"}
    )
    made = context_files(Evidence(1, files=files, last_change="c.py"))
    assert made.recently_modified == ["c.py", "a.py"]
    assert made.artifacts == [".aiwg/x.md"]


def test_artifacts_are_those_of_the_run_newest_first_while_they_exist() -> None:
    traces = Traces(
        artifacts=(".aiwg/new.md", ".aiwg/ralph-external/state.json", ".aiwg/knowledge/k.json"),
        gone=(".aiwg/gone.md",),
    )
    known = (".aiwg/gone.md", ".aiwg/old.md", ".aiwg/new.md")
    made = context_files(Evidence(2, traces=traces, artifacts=known))
    assert made.artifacts == [".aiwg/new.md", ".aiwg/old.md"]


def test_each_kind_is_bounded() -> None:
    names = [f"test_{n}.py::test_x" for n in range(40)]
    made = context_files(
        Evidence(
            1,
            gate=gate(*names),
            files=changed(**{f"{n}.py": "added" for n in range(40)}),
            test_files=tuple(f"test_{n}.py" for n in range(40)),
            artifacts=tuple(f".aiwg/{n}.md" for n in range(40)),
        )
    )
    lists = (made.recently_modified, made.test_files, made.artifacts)
    assert [len(each) for each in lists] == [MOST] * 3
