"""Whether a text tries to command the agent, or to end the run in its name.

Learnings come from agents and from files that others share. A strategy tells what to do, as it
should; what no strategy has to say is that other instructions do not count, or the words by which
an agent reports and promises. This finds plain attempts only: what else gets through is fenced and
labelled (`prompt`).
"""

import re
from typing import Final

_ORDERS: Final = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\b [^.!?\n]{0,30}
        \b(?:previous|prior|above|earlier|preceding|your|system)\b [^.!?\n]{0,20}
        \b(?:instructions?|prompts?|objectives?|rules|guidance)\b
    | \b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|these|those)\s+)*
        (?:instructions?|objectives?|guidance)\b
    | \b(?:new|real|updated)\s+(?:instructions?|objectives?)\s*:
    | \byou\s+are\s+now\b
    | \b(?:do\s+not|don't|never)\s+(?:tell|inform|warn)\s+(?:the\s+|your\s+)?(?:owners?|humans?)\b
    | (?<!\w)<\s*/?\s*(?:promise|system|instructions?|learnings?)\s*>
    | \{\s*"ralph"\s*:
    """,
    re.IGNORECASE | re.VERBOSE,
)


def gives_orders(text: str) -> bool:
    """Whether it does."""
    return _ORDERS.search(text) is not None
