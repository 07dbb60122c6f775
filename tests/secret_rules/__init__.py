"""Takes the patterns of a secret scanner over into the package, as data."""
