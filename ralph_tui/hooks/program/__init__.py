"""The hook program: what a Claude Code session that ralph-tui did not start runs on its own hooks.

It is copied into a project (`installable`) and runs there alone: standard library only, and the
modules it shares. Each call is a process of its own, under 100 ms, so what only a checkpoint or the
end of a session needs is imported there.

    given       what Claude Code says on stdin       transcript  what the session's file tells
    windows     how large the window is              store       the state file, under its lock
    sessions    what is remembered of a session      record      what is seen, as events of a run
    journal     those events, on disk                answer      what is said to Claude and its user
    watch       after each tool: the levels          rollover    L2 and L3: evidence, handoff
    evidence    what git tells, run safely           stop        at the end of a session: go on?
    prompt_file the section of PROMPT.md             words       the texts

It never fails a session: whatever is wrong is a sentence on stderr, and the session goes its way.
"""
