"""What users and scripts read of each kept journal, byte for byte.

A change that is to keep every word keeps these files. One that changes words on purpose writes them
anew, `python -m tests.golden.make`, and its diff shows all that it changes.
"""
