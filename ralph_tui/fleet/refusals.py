"""Why a loop can be told nothing now: the same sentence of the fleet's process and of a screen."""

from ralph_tui.fleet.loop_state import LoopState

_NOT_YET = {"queued": "waits for a place", "placing": "is being placed"}


def refusal(loop: LoopState, *, abort: bool = False) -> str:
    """Empty where its run can be told. `abort`: of the one command that it needs no run for."""
    name = f"loop {loop.spec.id}"
    if loop.over:
        return f"{name} {'was skipped' if loop.status == 'skipped' else 'is over'}"
    if loop.status == "lost":
        return f"the host of {name} is lost: it can be told when it is found again"
    if loop.status in _NOT_YET and not abort:
        return f"{name} {_NOT_YET[loop.status]}: until it runs it can only be aborted"
    return ""
