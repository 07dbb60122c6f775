"""Commands that a loop refuses, by its state."""

from ralph_tui.fleet.loop_state import LoopState, refusal
from ralph_tui.ports.clones import Loop
from tests.rows import each_row

NOT_YET = "until it runs it can only be aborted"


@each_row(
    ("status", "told", "aborted"),
    [
        ("queued", f"loop 3b waits for a place: {NOT_YET}", ""),
        ("placing", f"loop 3b is being placed: {NOT_YET}", ""),
        ("running", "", ""),
        ("lost", "the host of loop 3b is lost: it can be told when it is found again", None),
        ("ended", "loop 3b is over", None),
        ("skipped", "loop 3b was skipped", None),
    ],
)
def test_each_has_its_sentence(status: str, told: str, aborted: str | None) -> None:
    loop = LoopState(Loop(id="3b", objective="x"), status)  # type: ignore[arg-type]
    assert refusal(loop) == told
    assert refusal(loop, abort=True) == (told if aborted is None else aborted)
