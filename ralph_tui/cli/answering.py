"""Answers to a run's open question, checked against the options it offers.

Shared by runs on this machine and loops of a fleet; only the recipient differs.
"""

import argparse
import sys
from datetime import datetime
from typing import Protocol, cast

from ralph_tui.adapters.processes.lineage import process_start
from ralph_tui.adapters.records.run_status import Question
from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import answer_words, confirm, text_argument
from ralph_tui.cli.question_words import question_text
from ralph_tui.cli.request_words import parse_choices, short_id
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import ALLOWING, answer_name, answer_word

LIMIT_OPTIONS = {
    "more": "--iterations N or --budget USD",
    "iterations": "--iterations N",
    "money": "--budget USD",
}
"""Command-line options for an answer, by the kind of input it takes."""


class Answerable(Protocol):
    """A run that accepts answers."""

    @property
    def name(self) -> str:
        """The name to show to the user."""

    def request(self, name: str, **fields: object) -> int:
        """Send a command. Raises ``RalphError`` with the run's reason if the run refuses."""


def add_answer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of an answer, and defaults for the commands that hints suggest."""
    parser.set_defaults(decide="ralph-tui decide", guide="ralph-tui guide")
    parser.add_argument("answer", metavar="ANSWER", nargs="?", help="one of the offered answers")
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="*",
        default=[],
        help="text for the answer (- reads standard input); for choose: a number for each "
        "question (1,3 for several) or your own words",
    )
    parser.add_argument(
        "--iterations", metavar="N", type=int, default=0, help="grant N more iterations"
    )
    parser.add_argument(
        "--budget", metavar="USD", type=float, default=0.0, help="raise the budget by this amount"
    )
    parser.add_argument(
        "--question", metavar="ID", default="", help="the id of the question to answer, as shown"
    )
    parser.add_argument("--yes", action="store_true", help="abort without confirmation")


def _explain_limits(question: Question, args: argparse.Namespace) -> str:
    """Explain which offered answer takes --iterations or --budget."""
    takers = [
        word for word in answer_words(question) if _accepted_by(question, word) & set(LIMIT_OPTIONS)
    ]
    if not takers:
        return f"no answer to this question takes --iterations or --budget; see {args.decide}"
    return f"--iterations and --budget go with an answer; use {args.decide} {takers[0]}"


def answer_question(live: Answerable, question: Question, args: argparse.Namespace) -> int:
    """Send the answer in `args` and return the exit code.

    Raises ``RalphError`` if the open question does not accept that answer.
    """
    _check_question(question, args)
    fields = _command_fields(question, args)
    answer = fields["answer"]
    unconfirmed = answer == "abort" and not args.yes
    if unconfirmed and not sys.stdin.isatty():
        raise UsageError(f"not a terminal; use {args.decide} abort --yes to confirm")
    if unconfirmed and not confirm(f"Abort {live.name}? Its work is kept."):
        print("not answered", file=sys.stderr)
        return ExitCode.FAILED
    if answer in ALLOWING and not args.question and not _confirm_allowing(question, args):
        print("not answered", file=sys.stderr)
        return ExitCode.FAILED
    try:
        live.request("answer", **fields)
    except RefusedError as refusal:
        if not fields["text"]:
            raise
        return _offer_as_guidance(live, str(refusal), str(fields["text"]), args)
    sent = _describe_sent(question, fields, args)
    print(f"{live.name}: answered {answer_word(str(answer))}: {sent}")
    return 0


def _check_question(question: Question, args: argparse.Namespace) -> None:
    """Raise ``RalphError`` if the open question is not the one this answer is for.

    An answer without an id is for the question that was open when the command started. If two
    commands run at once, the second must not answer the question that follows the first answer.
    """
    if args.question:
        if str(question["question_id"]).startswith(args.question):
            return
        why = "the question changed"
    elif not question.get("at") or datetime.fromisoformat(question["at"]) <= process_start():
        return  # runs of older versions do not record the time of a question
    else:
        why = "another answer came first, or the question changed"
    current = clip(one_line(question["text"]), 200)
    raise RalphError(
        f"{why}; your answer was not sent. The question is now: {current}; see {args.decide}"
    )


def _confirm_allowing(question: Question, args: argparse.Namespace) -> bool:
    """Show the request and ask for confirmation, even if an earlier question was shown."""
    word = answer_word(_answer_of(args))
    if not sys.stdin.isatty():
        raise UsageError(
            f"{word} needs the id of the question; check {args.decide}, then use "
            f"{args.decide} {word} --question {short_id(question)}"
        )
    print(question_text(question, ""), end="\n\n")
    return confirm(f"{word}: {_describe_effect(question, args)}?")


def _describe_sent(question: Question, fields: dict[str, object], args: argparse.Namespace) -> str:
    """Quote the sent text, or describe the answer's effect; for a request, add its text."""
    request, text = question.get("request"), fields["text"]
    chosen = cast("list[list[str]]", fields.get("choices", []))
    words = str(text or "; ".join(", ".join(labels) for labels in chosen))
    reply = f'"{clip(one_line(words), 200)}"' if words else _describe_effect(question, args)
    return f"{reply} ({clip(one_line(question['text']), 200)})" if request else reply


def _offer_as_guidance(live: Answerable, refusal: str, text: str, args: argparse.Namespace) -> int:
    """Offer to queue the text as guidance if another answer came first, so that it is not lost."""
    if not sys.stdin.isatty():
        raise RalphError(f"{refusal}; your text was not sent; send it with {args.guide}")
    if not confirm(f"Refused: {refusal}. Send the text to the agent as guidance?"):
        raise RalphError(f"{refusal}; your text was not sent")
    live.request("guide", text=text)
    print(f"guidance queued for {live.name}")
    return 0


def _command_fields(question: Question, args: argparse.Namespace) -> dict[str, object]:
    """Return the command's fields. Raises ``UsageError`` if they do not answer the question."""
    if args.answer is None:
        raise UsageError(_explain_limits(question, args))
    word, offered = _answer_of(args), list(answer_words(question))
    if word not in map(answer_name, offered):
        raise UsageError(
            f"{clip(one_line(args.answer), 40)!r} is not a valid "
            f"answer; use {args.decide} {'|'.join(offered)}"
        )
    takes, shown = _accepted_by(question, word), answer_word(word)
    more = bool(args.iterations or args.budget)
    text = _single_text(args, word) if takes != {"choices"} else None
    if text is not None and not takes & {"words", "instructions"}:
        raise UsageError(f"{shown} takes no text; leave it out, or see {args.decide}")
    if text is None and takes == {"words"}:
        raise UsageError(f"{shown} needs text: {args.decide} {shown} TEXT")
    grants = "".join(LIMIT_OPTIONS[one] for one in LIMIT_OPTIONS if one in takes)
    if more and not grants:
        raise UsageError(f"{shown} takes neither --iterations nor --budget; see {args.decide}")
    if not more and grants:
        raise UsageError(f"{shown} needs {grants}")
    if not 0 <= args.iterations <= 1000:
        raise UsageError("--iterations takes a number from 1 to 1000")
    if not 0 <= args.budget <= 1_000_000:  # false for nan
        raise UsageError("--budget takes an amount in US dollars, at most a million")
    return {
        "question_id": question["question_id"],
        "answer": word,
        "text": "" if text is None else text_argument(text),
        "iterations": args.iterations,
        "budget_usd": args.budget,
        **({"choices": parse_choices(question, args.text)} if takes == {"choices"} else {}),
    }


def _single_text(args: argparse.Namespace, word: str) -> str | None:
    if len(args.text) > 1:
        shown = answer_word(word)
        raise UsageError(
            f'{shown} takes a single text; put it in quotes: {args.decide} {shown} "TEXT"'
        )
    return str(args.text[0]) if args.text else None


def _answer_of(args: argparse.Namespace) -> str:
    """Return the answer as spelled in the journal."""
    return answer_name(str(args.answer))


def _accepted_by(question: Question, word: str) -> set[str]:
    return {option["takes"] for option in question["options"] if option["answer"] == word}


def _describe_effect(question: Question, args: argparse.Namespace) -> str:
    """Return the answer's effect, as worded by the question."""
    fitting = [option for option in question["options"] if option["answer"] == _answer_of(args)]
    # The same answer may be offered both with and without a text.
    edited = [option for option in fitting if option["takes"] != "nothing"]
    option = (edited if args.text and edited else fitting)[0]
    return one_line(option["verb"])
