"""Home: the runs of a repository, a form for a new one, and what stands there before the first."""
