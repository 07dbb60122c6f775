"""Worktrees and clones for the loops of a fleet: creation, set-up, checks and collection.

Rule: in the user's repository we only add new branches and hidden refs, and our own Git never runs
programs that a repository configures. Filters (LFS) are such programs: a worktree has their
pointers until the fleet's set-up command fetches the contents.
"""
