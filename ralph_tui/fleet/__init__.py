"""Run many loops as one fleet: its plan, its events, its state and its decisions. Pure.

A fleet's own journal records only facts about the fleet. Events within a loop are in that loop's
journal, on whichever machine the loop runs.
"""
