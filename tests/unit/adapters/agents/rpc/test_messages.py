"""JSON-RPC lines in every spelling; no content does harm."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.rpc.messages import (
    Failure,
    Message,
    Noise,
    Notification,
    Request,
    Response,
    read_message,
    written,
)
from tests.rows import each_row

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@each_row(
    ("line", "message"),
    [
        ('{"jsonrpc":"2.0","id":0,"method":"ask","params":{"a":1}}', Request(0, "ask", {"a": 1})),
        ('{"id":"x","method":"ask"}', Request("x", "ask")),
        ('{"method":"tell","params":[1]}', Notification("tell")),
        ('{"id":null,"method":"tell"}', Notification("tell")),
        ('{"id":true,"method":"tell"}', Notification("tell")),
        ('{"id":3,"result":{"a":1}}', Response(3, {"a": 1})),
        ('{"id":3,"result":null}', Response(3)),
        ('{"id":3,"result":1,"error":null}', Response(3, 1)),
        (
            '{"id":3,"error":{"code":-32000,"message":"no","data":"why"}}',
            Response(3, failure=Failure(-32000, "no", "why")),
        ),
        ('{"id":3,"error":"no"}', Response(3, failure=Failure(0, "no"))),
        ('{"id":null,"error":{"code":-32700}}', Noise('{"id":null,"error":{"code":-32700}}')),
        ('{"id":3}', Noise('{"id":3}')),
        ("Config warning: \x1b[31mred", Noise("Config warning: red")),
        ("[1, 2]", Noise("[1, 2]")),
        ("[" * 5000, Noise("[" * 79 + "…")),
        ("", Noise("")),
    ],
)
def test_what_a_line_is(line: str, message: Message) -> None:
    assert read_message(line) == message


def test_what_is_written_is_one_line_that_reads_back() -> None:
    line = written("2.0", id=1, method="ask", params={"text": "a\nb \ud800 é"})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["jsonrpc"] == "2.0"
    assert read_message(line.decode()) == Request(1, "ask", {"text": "a\nb \ud800 é"})
    assert "jsonrpc" not in json.loads(written("", method="tell"))


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error"]), JSON))
def test_any_object_is_a_message_or_noise(fields: dict[str, object]) -> None:
    message = read_message(json.dumps(fields))
    assert isinstance(message, Request | Notification | Response | Noise)
    if isinstance(message, Request | Response):
        assert type(message.id) in (int, str)


@given(st.text())
def test_any_text_is_a_message_or_noise(text: str) -> None:
    assert isinstance(read_message(text), Request | Notification | Response | Noise)
