"""Tokens to a tree."""

import unittest

from abacus import ParseError, format_tree, parse
from abacus.parser import Call, Name


class ParserTest(unittest.TestCase):
    def assert_parses(self, text, expected):
        self.assertEqual(format_tree(parse(text)), expected)

    def test_product_before_sum(self):
        self.assert_parses("a + b * c", "(a + (b * c))")

    def test_subtraction_from_the_left(self):
        self.assert_parses("a - b - c", "((a - b) - c)")

    def test_parentheses(self):
        self.assert_parses("(a + b) * c", "((a + b) * c)")

    def test_power_from_the_right(self):
        self.assert_parses("a ** b ** c", "(a ** (b ** c))")

    def test_sign_is_looser_than_power(self):
        self.assert_parses("-a ** b", "(-(a ** b))")

    def test_call_with_many_arguments(self):
        tree = parse("f(a, b, c)")
        self.assertEqual(tree, Call("f", (Name("a"), Name("b"), Name("c"))))

    def test_missing_operand(self):
        with self.assertRaises(ParseError) as caught:
            parse("1 +")
        self.assertEqual(caught.exception.position, 3)
