"""The user's repository: snapshots, changes, file watching, verification runs.

The only package that uses Git and the file watcher. Import its modules: this file stays empty so
that importing one of them does not load the others.
"""
