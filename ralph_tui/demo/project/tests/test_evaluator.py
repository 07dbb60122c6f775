"""A tree to a number."""

import math
import unittest

from abacus import EvaluationError, calculate


class EvaluatorTest(unittest.TestCase):
    def test_arithmetic(self):
        self.assertEqual(calculate("2 + 3 * 4 - 6 / 3"), 12)

    def test_constants(self):
        self.assertEqual(calculate("2 * pi"), math.tau)

    def test_variables_win_over_constants(self):
        self.assertEqual(calculate("e + 1", {"e": 2.0}), 3)

    def test_floor_division_rounds_down(self):
        self.assertEqual(calculate("(0 - 7) // 2"), -4)

    def test_division_by_zero(self):
        with self.assertRaises(EvaluationError):
            calculate("1 / 0")

    def test_functions_of_many_values(self):
        self.assertEqual(calculate("max(1, 5, 3)"), 5)

    def test_mean(self):
        self.assertEqual(calculate("mean(2, 4)"), 3)

    def test_unknown_function(self):
        with self.assertRaises(EvaluationError):
            calculate("nope(1)")
