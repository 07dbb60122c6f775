"""The trees that loops of a fleet work in: made, filled, looked after, their work taken home.

Rule: nothing of the user's is changed but by a new branch and new hidden refs; our own git never
runs what a repository configures. Filters (LFS) are programs too: a tree has their pointers, until
the fleet's set-up command fetches what they stand for.
"""
