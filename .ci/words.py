"""The words of the "not" column of docs/glossary.md: what check-words looks for in texts, and check-messages in messages."""
import re

# What is searched for, and what to write instead. Case does not matter.
WORDS = [
    (r"docnos?", "record id (rid)"),
    (r"(?<!tokyo )cabinets?", "block store"),
    (r"tell|tells|telling|told", "report, state, say, deliver"),
    (r"mend(s|ed|ing)?", "repair, fix"),
    (r"anew", "again; rebuilt, rewritten"),
    (r"upkeep", "maintenance"),
    (r"doomed", "to be removed"),
    (r"swings?|swung", "relocate"),
    (r"doubts?", "uncertain, possible corruption"),
    (r"trouble", "fault, failure"),
    (r"lanes?", "executor, queue"),
    (r"twins?", "async variant"),
    (r"besides?|behind", "after, next to, concurrently with"),
    (r"on end", "continuously"),
    (r"moments?", "snapshot, point in time"),
    (r"(give|gives|giving|gave|given)( [\w'-]+){0,4} back", "reclaim, release, return"),
    (r"(take|takes|taking|took|taken)( [\w'-]+){0,4} back", "roll back"),
    (r"rooms?", "space"),
    (r"figures?", "aggregates, statistics, numbers"),
    (r"turns?", "write lock; alternately"),
    (r"(?<!in )(?<!take )(?<!takes )places?", "location, position"),
    (r"(held|hold|holds) against", "validated, compared with"),
    (r"at the door", "when it is passed in"),
    (r"so many", "that many; the number"),
    (r"watch(es|ed|ing)?", "observe; deadline"),
    (r"resume ?points?", "resume token"),
    (r"is a mistake", "is an error"),
    (r"(ends?|ended|ending) with [`\"]?[A-Z][A-Z_]+", "fails with, returns"),
    (r"(comes?|came) to [`\"]?[A-Z][A-Z_]+", "fails with"),
    (r"(hold|holds|held|holding) (a|the|its|that|an old|older?) (snapshot|version)s?|held snapshots?", "acquired"),
    (r"whole or not( there)?( at all)?", "atomic"),
    (r"(?<!set )(?<!set-)aside", "set-aside segments; except"),
    (r"walk(s|ed|ing)?", "read, scan"),
    (r"look(s|ed)? again", "is woken"),
]

# In error messages these are wrong wherever they stand, and the words above without their exceptions.
MESSAGE_WORDS = [
    r"cabinets?", r"places?", r"aside", r"troubles?", r"doubt(s|ed|ful)?", r"come(s)? to", r"not taken", r"kill(s|ed)?", r"damaged?",
    r"ledgers?", r"world", r"mirrors?",
]

# (compiled pattern, what to write instead)
PATTERNS = [(re.compile(rf"(?<![\w$]){word}(?!\w)" if not word.startswith("(?<") else rf"\b{word}(?!\w)",
                        0 if "[A-Z]" in word else re.IGNORECASE), instead) for word, instead in WORDS]
