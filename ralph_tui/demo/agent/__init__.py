"""The scripted agent of the demo: an executable of its own, standard library only."""
