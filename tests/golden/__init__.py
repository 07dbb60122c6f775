"""What users and scripts read of each kept journal, byte for byte.

A change that is to keep every word keeps these files. One that changes words on purpose writes them
anew (`RALPH_TEST_GOLDEN=write`), and its diff shows all that it changes.
"""
