"""Secrets are hidden in every form, ordinary code is not; the benchmark has both lists."""

import json
import random
import string
from pathlib import Path

import pytest

from bench.secret_forms import Form, caught, forms
from bench.secrets import ORDINARY
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.secrets import HIDDEN, formats, lines, redact, secrets_of
from ralph_tui.text.secrets.lines import LineFilter
from tests.rows import each_row

FORMS = forms()


def hidden_everywhere(form: Form) -> bool:
    """In a text, on the screen, and within a line of JSON."""
    line = json.dumps({"type": "user", "message": {"content": f"before\n{form.text}\nafter"}})
    return all(caught(form, one) for one in (redact(form.text), plain(form.text), redact(line)))


def test_every_form_is_caught() -> None:
    assert [form.name for form in FORMS if not hidden_everywhere(form)] == []


def test_the_bench_lists_the_forms_of_many_scanners() -> None:
    assert len({form.name for form in FORMS}) == len(FORMS) >= 89
    assert len(set(ORDINARY)) == len(ORDINARY) == 200


def test_nothing_in_the_list_is_a_secret_of_this_repository() -> None:
    """The parts are joined at run time: the file itself contains no secret."""
    source = Path(forms.__code__.co_filename).read_text(encoding="utf-8")
    tokens = [form for form in FORMS if len(form.secret) > 12 and " " not in form.secret]
    assert not [form.name for form in tokens if form.secret in source]


def test_ordinary_lines_stay() -> None:
    for line in ORDINARY:
        assert redact(line) == line
        assert json.loads(redact(json.dumps({"text": line})))["text"] == line
    text = "\n".join(ORDINARY)
    assert redact(text) == text


CODE_AND_PROSE = [
    "password: Optional[str]",
    "self.token = self.next_token()",
    "process.env.API_KEY_NAME",
    "sk-slovak-language-pack",
    "bearer certificates",
    "pk-column-of-the-table",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "cat: /etc/passwd: Permission denied",
    "redis-cli -a $REDIS_PASSWORD ping",
    "the redis-cli -a option is not safe; redis-cli -a <password> neither",
    'de = {"password": "Kennwort", "again": "Kennwort wiederholen"}',
    "kennwort: str = ''",
    "Passwort: bitte eingeben",
    "resenha: a; SENHA=$SENHA",
    "10 %\r20 %\rC:\\repo\\reports done",
    "user.password = password1",
    "    password=password2,",
    "form.password = sha256_password",
    "self.password = new_password2 if again else old_password1",
    "password = user2Password",
    "token = oauth2_token; secret = s3_secret_key",
    "token=token",
    "getPassword(secretName)",
    'password = os.environ["PASSWORD"]',
    "if options.password&mask and password&flags:",
    "curl 'https://x.test/?token=$TOKEN&page=2'",
    '<input type="password" name="password" value="Password">',
    '<input type="password" value="Enter">',
    '<add key="PasswordRequired" value="true"/>',
    "password%3D%24PASSWORD",
    "ralph-tui run --password-file \\\n  list",
    "the --token \\\n--verbose",
    "digest of the response=abcdef",
    "the $6 price and the $5 one",
    "the tokenizer has 3 tokens; the secret of a good test is that it can fail",
]


def test_code_and_prose_stay() -> None:
    assert [redact(line) for line in CODE_AND_PROSE] == CODE_AND_PROSE


@each_row(
    ("line", "shown"),
    [
        ('password = "hunter2"', f'password = "{HIDDEN}"'),
        ("https://me:hunter2@x.test/a", f"https://me:{HIDDEN}@x.test/a"),
        ("curl -u me:hunter2 x.test", f"curl -u me:{HIDDEN} x.test"),
        ("curl --user me:hunter2 x.test", f"curl --user me:{HIDDEN} x.test"),
        ("Set-Cookie: a=bcdefg; Path=/", f"Set-Cookie: a={HIDDEN}; Path=/"),
        ("password: hunter2.", f"password: {HIDDEN}."),
        ("/x?password=Hunter2pw&user=me", f"/x?password={HIDDEN}&user=me"),
        ("password=Tr0ub4dor&3", f"password={HIDDEN}"),
        ("password=Tr0ub4dor&amp;user=me", f"password={HIDDEN}&amp;user=me"),
        ("password%3Dhunter2%26user%3Dme", f"password%3D{HIDDEN}%26user%3Dme"),
        ('<add key="Password" value="hunter2" />', f'<add key="Password" value="{HIDDEN}" />'),
        (
            "mysql --password \\\n  hunter2 \\\n  shop",
            f"mysql --password \\\n  {HIDDEN} \\\n  shop",
        ),
    ],
)
def test_only_the_secret_is_hidden(line: str, shown: str) -> None:
    assert redact(line) == shown


def test_a_private_key_keeps_its_line_ends() -> None:
    key = "\n".join(
        [
            "-----BEGIN PRIVATE" + " KEY-----",
            *["c3VtbWVy" * 8] * 3,
            "-----END PRIVATE" + " KEY-----",
        ]
    )
    assert redact(f"a\n{key}\nb") == "\n".join(["a", *[HIDDEN] * 5, "b"])


def test_a_key_that_is_only_spoken_of_hides_nothing() -> None:
    text = 'BEGIN = b"-----BEGIN PRIVATE' + ' KEY-----"\nreturn text.startswith(BEGIN)\n'
    assert redact(text) == text


def test_what_the_owner_has_in_the_environment_is_hidden_in_any_form() -> None:
    own = secrets_of(
        {"DEPLOY_KEY": 'quo"te and\nsecond line', "HOME_KEY": "/home/me", "A_TOKEN": "short"}
    )
    clean = LineFilter(own)
    assert clean('a quo"te and b') == f"a {HIDDEN} b"
    assert clean('{"a": "quo\\"te and"}') == f'{{"a": "{HIDDEN}"}}'
    assert clean("the second line") == f"the {HIDDEN}"
    assert clean("short /home/me") == "short /home/me"


def test_a_stream_is_cut_anywhere() -> None:
    """A filter gives line by line what `redact` gives for the whole."""
    for form in FORMS:
        clean = LineFilter(())
        assert "\n".join([clean(line) for line in form.text.split("\n")]) == redact(form.text)


def test_one_line_hides_a_key_of_many() -> None:
    key = "-----BEGIN PRIVATE" + " KEY-----\n" + "c3VtbWVy" * 8 + "\n-----END PRIVATE" + " KEY-----"
    assert "c3Vt" not in one_line(f"see {key}")


def test_every_rule_of_the_scanner_is_found_by_its_anchors() -> None:
    """Anchors come from a pattern's tree; here they are checked on a matching text."""
    index = formats._index()
    rules = {rule.name: rule for rules in index._starting.values() for _, rule in rules}
    assert len(rules) > 400
    for rule in rules.values():
        for anchor in rule.anchors:
            assert anchor == anchor.lower()
            assert rule in list(index.at(f"{anchor} rest", 0)), rule


@each_row("path", ["/Users/anna/Projects/app2", "src/Components/BackupTask.tsx"])
def test_a_path_needs_no_pattern(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading the patterns would delay a replay, whose first event has the repository's path."""
    monkeypatch.delattr(lines, "LineFilter", raising=False)
    assert redact(path) == path


def test_the_words_before_an_open_end_go_with_it() -> None:
    chance = random.Random(1)
    long = "eyJ" + "".join(chance.choice("abcdefGHIJ123") for _ in range(2000))
    assert redact(f"x {long}.{long}.{long} y") == f"x {HIDDEN} y"


@each_row("tail", ["4b1d-bb11-5d5d5a085dff", "4b1d-9aee-7bbe3c3a8306"])
def test_an_identifier_is_no_secret_whatever_it_begins_like(tail: str) -> None:
    identifier = f"af988971-3579-{tail}"
    assert redact(identifier) == identifier
    assert redact(f"question {identifier}") == f"question {identifier}"


def test_a_long_private_key_is_hidden_to_its_end() -> None:
    chance = random.Random(3)
    body = ["".join(chance.choices(string.ascii_letters + string.digits, k=64)) for _ in range(900)]
    kind = "PGP PRIVATE KEY BLOCK"
    text = "\n".join([f"-----BEGIN {kind}-----", "", *body, "=aB3d", f"-----END {kind}-----"])
    shown = redact(f"{text}\nand on")
    assert not [line for line in body if line in shown]
    assert shown.endswith("\nand on")


@each_row(
    "prefix",
    ["E       ", "E         + ", "app-1  | ", "2026-11-28 10:00:0{} INFO    | ", "[INFO] ", "// ",
     "stdout: ", "src/key.pem:", "\u2502 "],
)  # fmt: skip
def test_a_private_key_behind_what_a_tool_puts_before_each_line_is_hidden(prefix: str) -> None:
    chance = random.Random(4)
    body = ["".join(chance.choices(string.ascii_letters, k=64)) for _ in range(27)]
    key = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----", "and on"]
    shown = redact("\n".join(prefix.format(at % 10) + line for at, line in enumerate(key)))
    assert not [line for line in body if line in shown]
    assert shown.splitlines()[5].startswith(prefix.format(5))
    assert shown.endswith("and on")
