"""Text to tokens."""

import unittest

from abacus import ParseError, tokenize


def texts(source):
    return [token.text for token in tokenize(source)][:-1]


class LexerTest(unittest.TestCase):
    def test_numbers_names_and_operators(self):
        self.assertEqual(texts("price * (1.5 + x_2)"), ["price", "*", "(", "1.5", "+", "x_2", ")"])

    def test_longest_operator_wins(self):
        self.assertEqual(texts("a**b//c*d"), ["a", "**", "b", "//", "c", "*", "d"])

    def test_positions(self):
        self.assertEqual([token.position for token in tokenize("a + 12")], [0, 2, 4, 6])

    def test_exponent_with_a_sign(self):
        self.assertEqual(texts("1e-3 + 2E+6"), ["1e-3", "+", "2E+6"])

    def test_comment_to_the_end_of_the_line(self):
        self.assertEqual(texts("1 + # one\n2 # two"), ["1", "+", "2"])

    def test_error_names_the_position(self):
        with self.assertRaises(ParseError) as caught:
            tokenize("1 $ 2")
        self.assertEqual(caught.exception.position, 2)
