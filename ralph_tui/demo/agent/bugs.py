"""The bugs planted in the sample project: their place, and their broken and fixed code."""

from typing import NamedTuple


class Bug(NamedTuple):
    """A bug; `tests` is the number of tests that it makes fail."""

    name: str
    path: str
    broken: str
    fixed: str
    diagnosis: str
    tests: int = 1
    attempts: tuple[str, ...] = ()
    """Unsuccessful fixes, which replace the broken code but still fail the tests."""


LEXER, PARSER = "abacus/lexer.py", "abacus/parser.py"
EVALUATOR, FORMATTING = "abacus/evaluator.py", "abacus/formatting.py"

EXPONENT = Bug(
    "exponent",
    LEXER,
    'if end < len(text) and text[end] in "eE":\n        end += 1\n        while',
    'if end < len(text) and text[end] in "eE":\n        end += 1\n'
    '        if end < len(text) and text[end] in "+-":\n            end += 1\n        while',
    "The scanner stops at the sign of an exponent, so `1e-3` falls apart into three tokens.",
)
COMMENT = Bug(
    "comment",
    LEXER,
    "            position += 1\n        elif character.isdigit()",
    '            position += 1\n        elif character == "#":\n'
    '            newline = text.find("\\n", position)\n'
    "            position = len(text) if newline < 0 else newline\n"
    "        elif character.isdigit()",
    "The module promises to skip comments, but nothing in the loop looks for `#`.",
)
POSITION = Bug(
    "position",
    LEXER,
    'unexpected {text[position]!r}", position + 1)',
    'unexpected {text[position]!r}", position)',
    "Positions count from 0 everywhere else; this error counts from 1.",
)
POWER = Bug(
    "power",
    PARSER,
    '        while self.accept("**"):\n'
    '            left = Binary("**", left, self.primary())\n        return left',
    '        if self.accept("**"):\n'
    '            return Binary("**", left, self.unary())\n        return left',
    "A loop groups from the left, but powers group from the right: the right side must recurse.",
)
SIGN = Bug(
    "sign",
    PARSER,
    '            return Unary("-", self.primary())',
    '            return Unary("-", self.unary())',
    "The sign takes only a primary, so `-a ** b` leaves the power unread.",
    attempts=(
        '            operand = self.primary()\n            return Unary("-", operand)',
        "            sign, operand = self.tokens[self.index - 1], self.primary()\n"
        "            return Unary(sign.text, operand)",
        '            operand = self.primary()  # binds tighter than "*"\n'
        '            return Unary("-", operand)',
        '            return Unary(operator="-", operand=self.primary())',
    ),
)
ARGUMENTS = Bug(
    "arguments",
    PARSER,
    '        if self.accept(","):\n            arguments.append',
    '        while self.accept(","):\n            arguments.append',
    "An `if` reads at most two arguments; it has to be a loop.",
    tests=2,
)
VARIABLES = Bug(
    "variables",
    EVALUATOR,
    "    if name in CONSTANTS:\n        return CONSTANTS[name]\n"
    "    if name in names:\n        return names[name]\n",
    "    if name in names:\n        return names[name]\n"
    "    if name in CONSTANTS:\n        return CONSTANTS[name]\n",
    "The docstring says that variables win, but constants are looked up first.",
)
FLOOR = Bug(
    "floor",
    EVALUATOR,
    "        return float(int(left / right))",
    "        return float(left // right)",
    "`int()` cuts towards zero; floor division has to round down.",
)
ZERO = Bug(
    "zero",
    EVALUATOR,
    '    if operator == "/":\n        return left / right\n'
    '    if right == 0:\n        raise EvaluationError("division by zero")\n',
    '    if right == 0:\n        raise EvaluationError("division by zero")\n'
    '    if operator == "/":\n        return left / right\n',
    "The check for zero comes after the plain division has already failed.",
)
MEAN = Bug(
    "mean",
    EVALUATOR,
    "sum(values) / (len(values) + 1)",
    "sum(values) / len(values)",
    "Off by one: the mean divides by one value too many.",
)
GROUPS = Bug(
    "groups",
    FORMATTING,
    '    return group(whole or "0", separator) + point + fraction',
    '    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)\n'
    '    return sign + group(whole or "0", separator) + point + fraction',
    "The minus counts as a digit, so a group begins right behind it.",
)
ZEROS = Bug(
    "zeros",
    FORMATTING,
    '.rstrip("0.")',
    '.rstrip("0").rstrip(".")',
    "Stripping zeros and the point together eats the zeros of whole numbers.",
)

BUGS = (
    EXPONENT, COMMENT, ARGUMENTS, POSITION, POWER, SIGN,
    VARIABLES, FLOOR, ZERO, MEAN, GROUPS, ZEROS,
)  # fmt: skip
"""In the order in which a sensible agent would fix them."""
