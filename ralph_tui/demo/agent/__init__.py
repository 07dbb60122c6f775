"""The scripted agent of the demo: a separate program, standard library only."""
