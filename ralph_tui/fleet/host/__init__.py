"""A host's loops: each a run of its own under a keeper, in a tree of its own, told as it goes."""
