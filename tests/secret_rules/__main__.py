"""``python -m tests.secret_rules betterleaks.toml``: writes ``text/secrets/rules.json`` anew.

The scanner searches files of a repository with RE2; here the lines of an agent are redacted with
Python's `re`. So each pattern is translated, and given what lets it run in linear time: the
beginnings ("anchors") that every text has which it matches, and the most characters it can take.
Left out is what no line can show (paths, pairs of findings), what is no secret (identifiers), and
what `named.py` does with more care for ordinary code (passwords, headers, addresses).
"""

# ruff: noqa: T201  says what was left out
import argparse
import json
import re
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

from tests.paths import ROOT
from tests.secret_rules.patterns import Analysis, analyse, translate

RULES = ROOT / "ralph_tui" / "text" / "secrets" / "rules.json"
NOT_HERE = re.compile(r"generic-|curl-|kubernetes-|gcp-application|gcp-service|private-key|.*-id\b")
ENTROPY = {True: 2.5, False: 1.5}
"""Bits per character asked for at most, after a vendor's name or not: what stands in a log is
hidden sooner than a scanner would fail a build for it."""
ANCHOR = (3, 10)
"""Characters of an anchor: fewer are everywhere, more tell nothing new."""

_TERMINATORS = (r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)""", r"""(?:[\x60'"\s;]|\\[nr]|$)""")
_NAME_ENDS, _VALUE_BEGINS = r"""[\s'"]{0,3}""", r"""[\x60'"\s=]{0,5}"""


def convert(source: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The rules that are kept, and why each other one is not."""
    kept: list[dict[str, Any]] = []
    left: dict[str, str] = {}
    for rule in tomllib.loads(source)["rules"]:
        name = rule["id"]
        if "regex" not in rule or "path" in rule:
            left[name] = "judges paths"
        elif rule.get("skipReport") or NOT_HERE.match(name):
            left[name] = "no secret by itself, or done elsewhere"
        else:
            try:
                kept.append(_converted(rule))
            except ValueError as error:
                left[name] = str(error)
    return kept, left


def _converted(rule: dict[str, Any]) -> dict[str, Any]:
    pattern = translate(rule["regex"])
    named = _NAME_ENDS in pattern
    if named:  # Names and values stand in JSON, whose quotes are escaped.
        pattern = pattern.replace(_NAME_ENDS, r"""[\s'"\\]{0,6}""")
        pattern = pattern.replace(_VALUE_BEGINS, r"""[\x60'"\s=\\]{0,6}""")
    for terminator in _TERMINATORS:  # What follows a token in prose: a comma, a bracket, a dot.
        pattern = pattern.replace(terminator, r"(?![\w-])")
    flags, body = (pattern[:4], pattern[4:]) if pattern.startswith("(?i)") else ("", pattern)
    word = body.startswith(r"\b")
    pattern = flags + body.removeprefix(r"\b")
    analysis = analyse(pattern)
    anchors = _anchors(analysis, [keyword.lower() for keyword in rule["keywords"]])
    entropy = re.search(r'entropy\(finding\["secret"\]\) <=? ([\d.]+)', rule.get("filter", ""))
    return {
        "id": rule["id"],
        "pattern": pattern,
        "anchors": sorted(anchors),
        "reach": analysis.reach,
        **({"word": True} if word else {}),
        **({"entropy": min(float(entropy[1]), ENTROPY[named])} if entropy else {}),
        **({"digits": True} if named and "tokenRatio" in rule.get("filter", "") else {}),
    }


def _anchors(analysis: Analysis, keywords: list[str]) -> set[str]:
    anchors = set()
    for prefix in analysis.prefixes:
        fitting = [word for word in keywords if prefix.startswith(word)]
        anchors.add(min(fitting, key=len) if fitting else prefix[: ANCHOR[1]])
    if min(map(len, anchors)) < ANCHOR[0]:
        raise ValueError("has no beginning of its own to search for")
    return anchors


def main() -> int:
    """Write the rules and name those that were left out."""
    parser = argparse.ArgumentParser(prog="tests.secret_rules", description=__doc__)
    parser.add_argument("source", type=Path, help="betterleaks.toml of a release")
    warnings.simplefilter("ignore", FutureWarning)  # the scanner's classes have brackets in them
    kept, left = convert(parser.parse_args().source.read_text(encoding="utf-8"))
    lines = ",\n".join(json.dumps(rule, ensure_ascii=False) for rule in kept)
    RULES.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    for name, why in left.items():
        print(f"{name}: {why}")
    print(f"{len(kept)} rules, {len(left)} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
