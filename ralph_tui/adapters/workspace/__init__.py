"""The user's repository: snapshots, changes, file watching, verification runs.

The only package that knows git and the file watcher. Import its modules: this file stays empty so
that importing one of them does not load the others.
"""
