"""Output for users and scripts of each saved journal, byte for byte.

A change that keeps the wording keeps these files. To change wording, rewrite them with
`RALPH_TEST_GOLDEN=write`; the diff then shows every change.
"""
