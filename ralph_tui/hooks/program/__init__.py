"""The hook program: what a Claude Code session that ralph-tui did not start runs on its own hooks.

It is copied into a project (`ralph_tui.hooks.project`) and runs there alone: standard library only,
and the modules it shares. Each call is a process of its own, under 100 ms, so what only a
checkpoint or the end of a session needs is imported there.

    call        what Claude Code says on stdin, what is remembered, what is said to it and its user
    store       the state file, under its lock, and the journal
    transcript  what the session's file tells        record      what is seen, as events of a run
    watch       after each tool: the levels          rollover    L2 and L3: evidence, handoff
    evidence    what git tells, run safely           stop        at the end of a session: go on?
    words       the texts, and the section of PROMPT.md

It never fails a session: whatever is wrong is a sentence on stderr, and the session goes its way.
"""
