"""What every room stands on: errors, keys, plain files and their locks, extensions."""
