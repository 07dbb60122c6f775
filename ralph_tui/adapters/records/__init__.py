"""What is on disk: the journal, the lock, the attempt's folder, and how a past run is found."""
