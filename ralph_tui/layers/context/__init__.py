"""Context checkpoints: how full an agent's window is, and what is done before it is full. Pure.

All but `loop_state` import only the standard library, `ralph_tui.text` and each other: the hook
program, which is copied into projects, runs them without anything else. It starts anew with each
tool call, so they use no dataclasses, whose import takes a fifth of its time. Source:
ccs-ralph-integration.
"""
