"""Quantities as people read them."""


def duration(seconds: float) -> str:
    """``1h 30m``, ``1m 30s``, ``5s`` (checkpoint manager, duration format)."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def money(dollars: float, *, estimated: bool = False) -> str:
    """``$1.82``, ``~$0.0031`` when estimated; small sums keep two digits that say something."""
    text = f"${dollars:.2f}" if dollars >= 0.1 or not dollars else f"${dollars:.4f}"
    return f"~{text}" if estimated else text


def count(number: int, thing: str) -> str:
    """``1 iteration``, ``2 iterations``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
