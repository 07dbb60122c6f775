"""Text to tokens: numbers, names, operators. Blanks and comments are skipped."""

from dataclasses import dataclass

from abacus.errors import ParseError

OPERATORS = ("**", "//", "+", "-", "*", "/", "%", "(", ")", ",")


@dataclass(frozen=True)
class Token:
    """A piece of the text; `kind` is number, name, operator or end."""

    kind: str
    text: str
    position: int


def tokenize(text):
    """All tokens of the text, an end token last."""
    tokens = []
    position = 0
    while position < len(text):
        character = text[position]
        if character.isspace():
            position += 1
        elif character.isdigit() or character == ".":
            end = _end_of_number(text, position)
            tokens.append(Token("number", text[position:end], position))
            position = end
        elif character.isalpha() or character == "_":
            end = _end_of_name(text, position)
            tokens.append(Token("name", text[position:end], position))
            position = end
        else:
            operator = _operator_at(text, position)
            tokens.append(Token("operator", operator, position))
            position += len(operator)
    tokens.append(Token("end", "", len(text)))
    return tokens


def _end_of_number(text, start):
    end = start
    while end < len(text) and (text[end].isdigit() or text[end] in "._"):
        end += 1
    if end < len(text) and text[end] in "eE":
        end += 1
        while end < len(text) and text[end].isdigit():
            end += 1
    return end


def _end_of_name(text, start):
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return end


def _operator_at(text, position):
    for operator in OPERATORS:
        if text.startswith(operator, position):
            return operator
    raise ParseError(f"unexpected {text[position]!r}", position + 1)
