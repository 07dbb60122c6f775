"""An estimate of progress: a measure of activity, for when nothing can be counted."""


def estimate_progress(
    *,
    accomplishments: int = 0,
    files: int = 0,
    tests: tuple[int, int] | None = None,
    blockers: int = 0,
) -> float:
    """Points, 0-100.

    `files` were added or modified; `tests` are passed and failed ones, None when none ran.
    """
    points = min(10 * accomplishments, 30) + min(5 * files, 25) - 10 * blockers
    if tests is not None and any(tests):
        passed, failed = tests
        points += 30 if not failed else int(20 * passed / (passed + failed))
    return float(max(0, min(100, points)))
