"""Commands that a loop refuses, by its state."""

from ralph_tui.fleet.loop_state import LoopState, refusal
from ralph_tui.ports.clones import Loop
from tests.rows import each_row

NOT_YET = "until it runs you can only abort it"


@each_row(
    ("status", "expected", "aborted"),
    [
        ("queued", f"loop 3b is waiting for a slot; {NOT_YET}", ""),
        ("placing", f"loop 3b is starting; {NOT_YET}", ""),
        ("running", "", ""),
        ("lost", "the host of loop 3b is lost; send the command again once it is back", None),
        ("ended", "loop 3b has ended", None),
        ("skipped", "loop 3b was skipped", None),
    ],
)
def test_each_has_its_sentence(status: str, expected: str, aborted: str | None) -> None:
    loop = LoopState(Loop(id="3b", objective="x"), status)  # type: ignore[arg-type]
    assert refusal(loop) == expected
    assert refusal(loop, abort=True) == (expected if aborted is None else aborted)
