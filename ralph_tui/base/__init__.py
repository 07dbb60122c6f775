"""Basics for all other packages: errors, plain files and their locks, extensions."""
