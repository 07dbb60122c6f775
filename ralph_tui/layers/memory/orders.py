"""Detect texts that try to command the agent or to end the run on its behalf.

Learnings come from agents and from shared files. A strategy may say what to do. It has no reason to
override other instructions or to contain an agent's report or promise. Nor should it ask to remove
tests, to change the completion command's exit code, or to run a download.

Patterns are matched against the text and against its letters alone. Spaces between letters,
invisible characters and look-alike letters of other alphabets therefore hide nothing. This finds
only plain attempts in the more common languages; the prompt fences and labels everything else
(`prompt`).
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ORDERS: Final = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\b [^.!?\n]{0,30}
        \b(?:previous|prior|above|earlier|preceding|your|system)\b [^.!?\n]{0,20}
        \b(?:instructions?|prompts?|objectives?|rules|guidance)\b
    | \b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|these|those)\s+)*
        (?:instructions?|objectives?|guidance)\b
    | \b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+
        (?:above|before|else|so\s+far|you|that\s+you)\b
    | \bforget\s+(?:everything|all|what)\s+you\s+(?:were|have\s+been|know)\b
    | \b(?:new|real|updated)\s+(?:instructions?|objectives?|task)\s*:
    | \byour\s+(?:real|true|actual)\s+(?:objective|task|goal|job|purpose|instructions?)\b
    | \bobjective\s+(?:has\s+(?:been\s+)?changed|is\s+(?:cancelled|void|obsolete)|no\s+longer)\b
    | \b(?:do\s+not|don't|never|stop)\s+(?:follow|obey|heed|pursu)\w*\s+
        (?:the|your|any|these|those)\s+(?:objectives?|instructions?|prompt)\b
    | \boverrides?\s+(?:the\s+rest|everything|(?:all|the|your)\s+(?:objective|instructions?))\b
    | \b(?:system|developer)\s+(?:prompt|message)\s+override\b
    | \byou\s+are\s+now\b
    | \bfrom\s+now\s+on,?\s+you\s+(?:only\s+|will\s+)?(?:are|act|answer|obey|respond|reply)\b
    | \b(?:do\s+not|don't|never)\s+(?:tell|inform|warn)\s+(?:the\s+|your\s+)?(?:owners?|humans?)\b
    | (?<!\w)<\s*/?\s*(?:promise|system|instructions?|learnings?)\s*>
    | \b(?:delete|remove|skip|disable|drop|erase|xfail|comment\s+out|get\s+rid\s+of|ignore)\s+
        (?:(?:all|any|every|each|the|these|those|your|its|failing|broken|flaky|red|slow|whole|
            entire|remaining|hard)\s+)*
        (?:unit\s+|integration\s+)?(?:tests?\b(?!\s+(?:data|fixtures?|files?\s+cache|output|
            artifacts?|database|caches?))|test\s+suite|assertions?\b|specs?\b)
    | \bmark\w*\s [^.!?\n]{0,30}\btests?\b [^.!?\n]{0,20}\b(?:skip|xfail)
    | \b(?:completion|verification|test|gate)\s+(?:command|script) [^.!?\n]{0,60}
        \b(?:exits?|exit\s+code|returns?|always\s+(?:pass\w*|succeed\w*)|status)\b
    | \b(?:make|force|edit\w*|chang\w*|replac\w*|patch\w*)\s [^.!?\n]{0,40}
        \b(?:completion\s+command|exit\s+(?:with\s+)?(?:code\s+)?0)\b
    | \breport\s+(?:the\s+)?(?:completion|progress)\b [^.!?\n]{0,20}\b(?:100|done|complete)
    | \b(?:report|claim|promise|say|print)\w*\s [^.!?\n]{0,25}
        (?:\b(?:done|complete|completion|finished)\b|\b100\s*%)
    | \b(?:curl|wget|fetch|iwr)\b [^\n|]{0,200} \|\s*(?:sudo\s+)?\w*sh\b
    | \b(?:ba|z|da)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b
    | <\|\w+\|> | \[/?INST\]
    | \{\s*"ralph"\s*:
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LETTERS: Final = re.compile(
    r"""
    (?:ignore|disregard|forget|override|bypass)(?:all|any|every|of|the|these|those|my|your)*
        (?:previous|prior|above|earlier|preceding|system)(?:instruction|prompt|objective|guidance)
    | (?:ignorier|vergiss|missacht)[a-z]{0,15}
        (?:vorherig|bisherig|fruher|obig|vorig|vorangegangen)[a-z]{0,4}
        (?:anweisung|instruktion|befehl|auftrag|vorgabe)
    | (?:ignor|olvid|esquec|dimentic|oubli|desconsider)[a-z]{0,20}
        (?:instrucc|instruco|istruzion|instructions?)[a-z]{0,6}(?:anterior|preced|previ)
    | (?:ignor|olvid|esquec|dimentic|oubli|desconsider)[a-z]{0,12}
        (?:anterior|preced|previas)[a-z]{0,6}(?:instrucc|instruco|istruzion|instructions)
    | (?:игнориру|забуд|пренебрег)[а-я]{0,12}(?:предыдущ|прежн|прошл)[а-я]{0,5}
        (?:инструкц|указан|команд)
    | (?:忽略|无视|無視|忘记|忘記).{0,4}(?:之前|以前|此前|先前|前面|上述|以上|所有|一切)
        .{0,6}(?:指令|指示|说明|說明)
    | (?:指示|命令|指令).{0,8}(?:無視|忘れ)
    | (?:이전|앞).{0,8}(?:지시|명령).{0,8}(?:무시|잊)
    """,
    re.VERBOSE,
)
_ALIKE: Final = str.maketrans("асԁеһіјӏорԛѕуԝхαεικορτυχν", "acdehijlopqsywxaeikoptuxv")
"""Letters of other alphabets, mapped to the Latin letters they resemble."""
_TAGS: Final = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Invisible characters that encode ASCII."""


@lru_cache(maxsize=512)
def gives_orders(text: str) -> bool:
    """True if the text gives orders; cached, because every iteration checks the same few."""
    if _ORDERS.search(text) is not None:
        return True
    letters = _letters_of(text)
    return any(_LETTERS.search(each) for each in (letters, letters.translate(_ALIKE)))


def _letters_of(text: str) -> str:
    """Return only the letters: case-folded, normalized and without accents."""
    common = unicodedata.normalize("NFKD", text.translate(_TAGS)).casefold()
    return unicodedata.normalize("NFC", "".join(filter(str.isalpha, common)))
