"""Numbers to text."""

import unittest

from abacus import format_number


class FormattingTest(unittest.TestCase):
    def test_fraction(self):
        self.assertEqual(format_number(0.125), "0.125")

    def test_zeros_of_whole_numbers_stay(self):
        self.assertEqual(format_number(1200.0), "1200")

    def test_groups(self):
        self.assertEqual(format_number(1234567.5, ","), "1,234,567.5")

    def test_groups_of_negative_numbers(self):
        self.assertEqual(format_number(-123456.5, ","), "-123,456.5")
