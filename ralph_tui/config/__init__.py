"""What can be set (settings), and where each value came from (sources)."""
