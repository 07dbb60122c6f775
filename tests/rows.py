"""A test of many cheap cases: each row is tried, and those that fail are named."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]
_MARKED = type(pytest.param())


def each_row(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Like ``pytest.mark.parametrize``, in one test: for rows cheaper than a test's set-up.

    All rows share fixtures, except ``tmp_path``: each row has its own folder.
    """
    words = names.split(",") if isinstance(names, str) else names
    keys = [word.strip() for word in words]
    cases = [_values(row, single=len(keys) == 1) for row in rows]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @wraps(test)
        def tried(*self: Any, **fixtures: Any) -> None:
            failed: list[BaseException] = []
            for number, values in enumerate(cases):
                given = dict(zip(keys, values, strict=True))
                own = {}
                if "tmp_path" in fixtures:
                    own["tmp_path"] = fixtures["tmp_path"] / str(number)
                    own["tmp_path"].mkdir()
                try:
                    test(*self, **{**fixtures, **own, **given})
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    error.add_note(f"row {number}: {given}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} rows failed", failed)

        del tried.__wrapped__  # else pytest looks at it
        others = [each for name, each in signature.parameters.items() if name not in keys]
        tried.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return tried

    return decorate


def _values(row: Any, *, single: bool) -> tuple[Any, ...]:
    if isinstance(row, _MARKED):
        return tuple(row.values)
    return (row,) if single else tuple(row)
