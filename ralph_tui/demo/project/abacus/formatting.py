"""Numbers and trees to text."""

from abacus.parser import Binary, Call, Name, Number, Unary

DIGITS = 10


def format_number(value, separator=""):
    """A number without needless zeros; `separator` goes between groups of three digits."""
    text = f"{value:.{DIGITS}f}".rstrip("0.")
    whole, point, fraction = text.partition(".")
    return group(whole or "0", separator) + point + fraction


def group(whole, separator):
    """The digits of a whole number in groups of three."""
    groups = []
    while len(whole) > 3:
        groups.insert(0, whole[-3:])
        whole = whole[:-3]
    return separator.join([whole, *groups])


def format_tree(tree):
    """A tree with all its parentheses."""
    if isinstance(tree, Number):
        return format_number(tree.value)
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Unary):
        return f"({tree.operator}{format_tree(tree.operand)})"
    if isinstance(tree, Call):
        arguments = ", ".join(format_tree(argument) for argument in tree.arguments)
        return f"{tree.function}({arguments})"
    if isinstance(tree, Binary):
        return f"({format_tree(tree.left)} {tree.operator} {format_tree(tree.right)})"
    raise TypeError(f"not a tree: {tree!r}")
