"""What every room stands on: errors, plain files and their locks, extensions."""
