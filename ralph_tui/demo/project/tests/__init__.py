"""The tests of abacus."""
