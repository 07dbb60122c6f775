"""Tokens to a tree, one method per level of precedence, loosest first.

    sum      product (("+" | "-") product)*
    product  unary (("*" | "/" | "//" | "%") unary)*
    unary    "-" unary | power
    power    primary ("**" unary)?
    primary  number | name | name "(" arguments ")" | "(" sum ")"
"""

from dataclasses import dataclass

from abacus.errors import ParseError
from abacus.lexer import tokenize


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: float


@dataclass(frozen=True)
class Name:
    """A variable or constant."""

    name: str


@dataclass(frozen=True)
class Unary:
    """A sign."""

    operator: str
    operand: object


@dataclass(frozen=True)
class Binary:
    """Two operands."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True)
class Call:
    """A function and its arguments."""

    function: str
    arguments: tuple


def parse(text):
    """The tree of an expression; raises ParseError."""
    parser = Parser(tokenize(text))
    tree = parser.sum()
    parser.expect("end")
    return tree


class Parser:
    """Walks over the tokens."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.index = 0

    @property
    def token(self):
        """The token to read next."""
        return self.tokens[self.index]

    def accept(self, *operators):
        """Take the next token when it is one of these operators."""
        token = self.token
        if token.kind == "operator" and token.text in operators:
            self.index += 1
            return token.text
        return None

    def expect(self, wanted):
        """Take the next token; raises ParseError if it is another one."""
        token = self.token
        if wanted not in (token.text, token.kind):
            found = token.text or "the end"
            raise ParseError(f"expected {wanted}, found {found}", token.position)
        self.index += 1
        return token

    def sum(self):
        """Addition and subtraction."""
        left = self.product()
        while operator := self.accept("+", "-"):
            left = Binary(operator, left, self.product())
        return left

    def product(self):
        """Multiplication, division, remainder."""
        left = self.unary()
        while operator := self.accept("*", "/", "//", "%"):
            left = Binary(operator, left, self.unary())
        return left

    def unary(self):
        """A sign."""
        if self.accept("-"):
            return Unary("-", self.primary())
        return self.power()

    def power(self):
        """Exponentiation."""
        left = self.primary()
        while self.accept("**"):
            left = Binary("**", left, self.primary())
        return left

    def primary(self):
        """A number, a name, a call, or parentheses."""
        token = self.token
        if token.kind == "number":
            self.index += 1
            return Number(self.number(token))
        if token.kind == "name":
            self.index += 1
            if self.accept("("):
                return Call(token.text, self.arguments())
            return Name(token.text)
        if self.accept("("):
            inner = self.sum()
            self.expect(")")
            return inner
        found = token.text or "the end"
        raise ParseError(f"expected a value, found {found}", token.position)

    def number(self, token):
        """The value of a number's text."""
        try:
            return float(token.text)
        except ValueError:
            raise ParseError(f"bad number {token.text}", token.position) from None

    def arguments(self):
        """The arguments in the parentheses of a call."""
        if self.accept(")"):
            return ()
        arguments = [self.sum()]
        if self.accept(","):
            arguments.append(self.sum())
        self.expect(")")
        return tuple(arguments)
