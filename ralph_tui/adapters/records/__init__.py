"""Records on disk: the journal, the lock, the attempt's folder, and how to find past runs."""
