"""Context checkpoints: measure how full an agent's window is, and act before it is full.

All modules except `loop_state` import only the standard library, `ralph_tui.text` and each other,
because the hook program is copied into projects and runs them alone. It starts again for each tool
call, so they use no dataclasses: importing those takes a fifth of its time.
"""
