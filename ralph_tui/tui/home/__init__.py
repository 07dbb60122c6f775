"""Home: the runs of a repository, the form for a new one, and the page before the first run."""
