"""A run in this process: its request is checked, then the run is assembled and hosted."""
