"""The hook program, run by the hooks of Claude Code sessions that ralph-tui did not start.

It is copied into a project (`ralph_tui.hooks.project`) and runs there alone, so it imports only the
standard library and the modules it shares. Each call is a separate process that takes under 100 ms.
Modules for checkpoints and the end of a session are imported only when needed.

    call        input on stdin, memory between calls, answers to Claude Code and the user
    store       the state file with its lock, and the journal
    transcript  the session's transcript             record      observations as run events
    watch       after each tool: the levels          handoff     L2 and L3: evidence, handoff
    evidence    changes in git, run safely           stop        at a session's end: continue?
    commit      the commit of a checkpoint
    words       the texts, and the section of PROMPT.md

It never makes a session fail: problems are printed on stderr, and the session continues.
"""
