"""A fleet on disk: its folder and its lock, its journal as read, the mirrors of its loops' runs."""
