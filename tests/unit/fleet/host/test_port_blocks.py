"""Port blocks: concurrent holders never share a port."""

import socket
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.fleet.host.preparing import FIRST, PortBlock, take_block


@given(st.lists(st.integers(min_value=1, max_value=45), max_size=12))
def test_blocks_do_not_overlap(tmp_path_factory: object, counts: list[int]) -> None:
    folder = tmp_path_factory.mktemp("ports")  # type: ignore[attr-defined]
    blocks = [block for count in counts if (block := take_block(count, folder))]
    try:
        taken = [port for b in blocks for port in range(b.range[0], b.range[1] + 1)]
        assert len(taken) == len(set(taken)) == sum(counts)
    finally:
        for block in blocks:
            block.release()


def test_a_port_that_somebody_listens_on_is_passed_over(tmp_path: Path) -> None:
    first = take_block(3, tmp_path)
    assert isinstance(first, PortBlock)
    first.release()
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", first.range[0] + 1))
        somebody.listen()
        second = take_block(3, tmp_path)
        assert second is not None
        assert second.range[0] > first.range[1]
        second.release()
    again = take_block(3, tmp_path)
    assert again is not None
    assert again.range == first.range
    again.release()
    assert first.range[0] >= FIRST


def test_none_is_none(tmp_path: Path) -> None:
    assert take_block(0, tmp_path) is None
