"""A tree to a number."""

import math

from abacus.errors import EvaluationError
from abacus.parser import Binary, Call, Name, Number, Unary

CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}


def mean(*values):
    """The arithmetic mean."""
    return sum(values) / (len(values) + 1)


FUNCTIONS = {
    "abs": abs,
    "max": max,
    "mean": mean,
    "min": min,
    "round": round,
    "sqrt": math.sqrt,
}


def evaluate(tree, names=None):
    """The value of a tree; `names` are variables. Raises EvaluationError."""
    names = names or {}
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        return lookup(tree.name, names)
    if isinstance(tree, Unary):
        return -evaluate(tree.operand, names)
    if isinstance(tree, Call):
        return call(tree, names)
    if isinstance(tree, Binary):
        return arithmetic(tree.operator, evaluate(tree.left, names), evaluate(tree.right, names))
    raise EvaluationError(f"not a tree: {tree!r}")


def lookup(name, names):
    """A variable, else a constant; variables win."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in names:
        return names[name]
    raise EvaluationError(f"unknown name {name}")


def call(tree, names):
    """The value of a function call."""
    function = FUNCTIONS.get(tree.function)
    if function is None:
        raise EvaluationError(f"unknown function {tree.function}")
    values = [evaluate(argument, names) for argument in tree.arguments]
    try:
        return function(*values)
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"{tree.function}: {error}") from None


def arithmetic(operator, left, right):
    """One operation on two numbers."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if operator == "**":
        return left**right
    return divide(operator, left, right)


def divide(operator, left, right):
    """Division, floor division and remainder; the latter two round towards minus infinity."""
    if operator == "/":
        return left / right
    if right == 0:
        raise EvaluationError("division by zero")
    if operator == "//":
        return float(int(left / right))
    return left % right
