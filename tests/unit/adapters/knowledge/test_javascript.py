"""Numbers, texts and keys as JavaScript writes them: two programs must agree on a checksum."""

import json
import random
import shutil
import struct
import subprocess

import pytest

from ralph_tui.adapters.knowledge import javascript
from ralph_tui.adapters.knowledge.files import checksum
from ralph_tui.adapters.knowledge.javascript import stringify
from ralph_tui.text.foreign_json import parse_json
from tests.paths import FIXTURES
from tests.rows import each_row

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
KNOWLEDGE = FIXTURES / "knowledge"

NUMBERS = [
    ("0", "0"),
    ("-0", "0"),
    ("-0.0", "0"),
    ("1", "1"),
    ("1.0", "1"),
    ("-1.50", "-1.5"),
    ("0.1", "0.1"),
    ("0.30000000000000004", "0.30000000000000004"),
    ("100", "100"),
    ("1e2", "100"),
    ("1E+2", "100"),
    ("123456.789e3", "123456789"),
    ("0.00001", "0.00001"),
    ("0.000001", "0.000001"),
    ("0.0000012", "0.0000012"),
    ("0.0000001", "1e-7"),
    ("1.5e-7", "1.5e-7"),
    ("-1e-10", "-1e-10"),
    ("1e-400", "0"),
    ("1e15", "1000000000000000"),
    ("1e16", "10000000000000000"),
    ("1.5e16", "15000000000000000"),
    ("1e20", "100000000000000000000"),
    ("123456789012345680000", "123456789012345680000"),
    ("1e21", "1e+21"),
    ("1.25e21", "1.25e+21"),
    ("1e100", "1e+100"),
    ("9007199254740991", "9007199254740991"),
    ("9007199254740993", "9007199254740992"),
    ("12345678901234567890", "12345678901234567000"),
    ("1000000000000000000000", "1e+21"),
    ("5e-324", "5e-324"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
]
"""JSON input, and the output of JavaScript."""

TEXTS = [
    (r'"\u00e9\u4e2d\ud83d\ude00"', '"é中😀"'),
    (r'"\ud800"', r'"\ud800"'),
    (r'"a\udc00b"', r'"a\udc00b"'),
    (r'"\/ \u002f \" \\"', '"/ / \\" \\\\"'),
    (
        r'"\u0000\u0001\b\t\n\u000b\f\r\u001f\u007f"',
        '"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\x7f"',
    ),
    (r'"\u2028\u2029\u0085"', '"\u2028\u2029\x85"'),
]

VALUES = [
    ("[ ]", "[]"),
    ('{ "a" : { } , "b" : [ null , true , false ] }', '{"a":{},"b":[null,true,false]}'),
    ('{"b":1,"a":2}', '{"b":1,"a":2}'),
    ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
    ('{"z":0,"10":1,"9":2,"01":3,"-1":4}', '{"9":2,"10":1,"z":0,"01":3,"-1":4}'),
    ('{"4294967295":1,"4294967294":2}', '{"4294967294":2,"4294967295":1}'),
    ('{"":1,"\\u0661":2}', '{"":1,"\u0661":2}'),
]
ALL = [*NUMBERS, *TEXTS, *VALUES]


@each_row(("json_text", "written"), ALL)
def test_a_value_is_written_as_javascript_writes_it(json_text: str, written: str) -> None:
    assert stringify(parse_json(json_text)) == written


def by_node(json_text: str, indent: int = 0) -> str:
    program = (
        "const text = require('fs').readFileSync(0, 'utf8');"
        f"process.stdout.write(JSON.stringify(JSON.parse(text), null, {indent}))"
    )
    assert NODE is not None
    answer = subprocess.run([NODE, "-e", program], input=json_text.encode(), stdout=-1, check=True)
    return answer.stdout.decode()


@needs_node
def test_the_table_is_what_javascript_does() -> None:
    texts = f"[{','.join(json_text for json_text, _ in ALL)}]"
    assert by_node(texts) == f"[{','.join(written for _, written in ALL)}]"


@needs_node
def test_any_number_is_written_as_javascript_writes_it() -> None:
    dice = random.Random(12)
    numbers: list[float] = []
    while len(numbers) < 20_000:
        (any_bits,) = struct.unpack("d", dice.randbytes(8))
        whole = dice.randint(-(10 ** dice.randint(1, 25)), 10 ** dice.randint(1, 25))
        near = dice.choice((1, -1)) * dice.random() * 10.0 ** dice.randint(-12, 25)
        numbers += [whole, float(whole), near, round(near, dice.randint(0, 10))]
        numbers += [any_bits] if abs(any_bits) < float("inf") else []
    assert stringify(numbers) == by_node(json.dumps(numbers))


@needs_node
def test_an_indented_file_is_written_as_javascript_writes_it() -> None:
    value = f'[{",".join(json_text for json_text, _ in ALL)}, {{}}, [], [[]], {{"a": [{{}}]}}]'
    assert stringify(parse_json(value), 2) == by_node(value, 2)


@each_row(("json_text", "written"), ALL)
@each_row("around", ["%s", "[%s]", '{"a":%s}', '{"a":[0,%s,{"b":[%s,1]}]}', "[[%s]]"])
def test_one_of_many_is_written_as_it_is_alone(json_text: str, written: str, around: str) -> None:
    """The faster path, used within lists, writes the same."""
    holes = around.count("%s")
    many = f"[{around % ((json_text,) * holes)},{around % ((json_text,) * holes)}]"
    one = around % ((written,) * holes)
    assert stringify(parse_json(many)) == f"[{one},{one}]"


@needs_node
def test_any_number_in_a_learning_is_written_as_javascript_writes_it() -> None:
    dice = random.Random(7)
    learnings: list[dict[str, float]] = []
    while len(learnings) < 20_000:
        (any_bits,) = struct.unpack("d", dice.randbytes(8))
        near = dice.choice((1, -1)) * dice.random() * 10.0 ** dice.randint(-12, 25)
        numbers = [
            any_bits,
            near,
            round(near, dice.randint(0, 10)),
            dice.randint(-(10**18), 10**18),
        ]
        learnings += [{"a": number} for number in numbers if abs(number) < float("inf")]
    assert stringify(learnings) == by_node(json.dumps(learnings))


def test_a_learning_is_written_by_the_quicker_way(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = parse_json((KNOWLEDGE / "ralph-learnings.json").read_text())["learnings"][0]
    entry |= {"confidence": 0.72, "sourceLoops": ["1e-5", "7d3e-4f", "1.0"]}
    written = stringify([entry])

    def slow(*_: object) -> None:
        raise AssertionError("the slow way was taken")

    monkeypatch.setattr(javascript, "_put", slow)
    assert stringify([entry]) == written


@each_row("number", ["1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 400])
def test_what_no_double_holds_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="too large"):
        stringify(parse_json(f"[{number}]"))


@each_row("name", ["ralph-learnings.json", "ralph-learnings.json.bak"])
def test_the_checksum_of_another_tool_is_ours(name: str) -> None:
    text = (KNOWLEDGE / name).read_text()
    document = parse_json(text)
    assert checksum(document["learnings"]) == document["checksum"]
    assert stringify(document, 2) == text.rstrip("\n")


def test_the_checksum_of_an_empty_list_is_known() -> None:
    assert checksum([]).startswith("4f53cda1")


def test_the_checksum_does_not_depend_on_what_means_the_same() -> None:
    one = parse_json('[{"a": 1.0, "b": 1e21, "c": "\\u00e9"}]')
    other = parse_json('[{"a":1,"b":1000000000000000000000,"c":"é"}]')
    assert checksum(one) == checksum(other)
