"""The transcript file: gaps never hide the beginning of a secret."""

from contextlib import closing
from pathlib import Path

from ralph_tui.adapters.agents.output import Transcript
from ralph_tui.text.secrets import HIDDEN

KEY = ["MIIEowIBAAKCAQEA" * 4, "C3d4E5f6" * 8, "-----END RSA PRIVATE KEY-----"]


def test_the_rest_of_a_key_whose_beginning_was_left_out_is_hidden(tmp_path: Path) -> None:
    with closing(Transcript(tmp_path / "log")) as transcript:
        transcript.write(["begun"])
        transcript.write_gap("[ralph-tui: 7 lines of output, 99 bytes, are left out here]")
        kept = [text for text, _ in transcript.write([*KEY, "a line behind it"])]
    assert kept == [HIDDEN, HIDDEN, HIDDEN, "a line behind it"]
    assert (tmp_path / "log").read_text().splitlines() == [
        "begun",
        "[ralph-tui: 7 lines of output, 99 bytes, are left out here]",
        *kept,
    ]
