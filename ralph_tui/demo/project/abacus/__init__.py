"""A small calculator: text to tokens, tokens to a tree, a tree to a number."""

from abacus.errors import AbacusError, EvaluationError, ParseError
from abacus.evaluator import evaluate
from abacus.formatting import format_number, format_tree
from abacus.lexer import tokenize
from abacus.parser import parse


def calculate(text, names=None):
    """The value of an expression."""
    return evaluate(parse(text), names)


__all__ = [
    "AbacusError",
    "EvaluationError",
    "ParseError",
    "calculate",
    "evaluate",
    "format_number",
    "format_tree",
    "parse",
    "tokenize",
]
