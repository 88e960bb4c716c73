"""The options of the hint LOOKUP, which says how a join reads rows as of the processing time.

A job reads a table once, so it finds the rows that are there when it runs: how many lookups are
sent at a time, in which order their rows are returned, and how rows are distributed before cannot
change a result, and a second lookup of a missing key reads the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schema_core.base.lazy import NamedTuple, regex

_BOOLEAN: Final = regex(r"(?i:true|false)")
_POSITIVE: Final = regex(r"0{0,9}[1-9][0-9]{0,9}")
_DURATION: Final = regex(
    r"\s*[0-9]{1,18}\s*(?i:d|days?|h|hours?|m|min|minutes?|s|sec|secs|seconds?|ms|milli|millis"
    r"|milliseconds?|µs|micro|micros|microseconds?|ns|nano|nanos|nanoseconds?)?\s*"
)


class _Option(NamedTuple):
    pattern: re.Pattern[str]
    expected: str


#: Key -> its values.
OPTIONS: Final[Mapping[str, _Option]] = {
    "table":           _Option(regex(r"(?s:.+)"), "the name of a table or its alias"),
    "async":           _Option(_BOOLEAN, "true or false"),
    "output-mode":     _Option(regex(r"(?i:ordered|allow_unordered)"),
                               "ordered or allow_unordered"),
    "capacity":        _Option(_POSITIVE, "a positive integer"),
    "timeout":         _Option(_DURATION, "a duration such as 10 s"),
    "retry-predicate": _Option(regex("lookup_miss"), "lookup_miss"),
    "retry-strategy":  _Option(regex(r"(?i:fixed_delay)"), "fixed_delay"),
    "fixed-delay":     _Option(_DURATION, "a duration such as 10 s"),
    "max-attempts":    _Option(_POSITIVE, "a positive integer"),
    "shuffle":         _Option(_BOOLEAN, "true or false"),
}  # fmt: skip

#: The options of a retry, which are set together.
RETRY: Final = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")


def find_lookup_problem(options: Mapping[str, str]) -> str | None:
    """Return why options of LOOKUP are invalid, None if they are valid."""
    if "table" not in options:
        return "hint 'LOOKUP' requires the key 'table'"
    for key, value in options.items():
        option = OPTIONS.get(key)
        if option is None:
            return f"hint 'LOOKUP' has no key {key!r}; its keys are {', '.join(OPTIONS)}"
        if option.pattern.fullmatch(value) is None:
            return f"the key {key!r} of the hint 'LOOKUP' must be {option.expected}, got {value!r}"
    missing = [key for key in RETRY if key not in options]
    if 0 < len(missing) < len(RETRY):
        return f"the hint 'LOOKUP' with a retry requires the keys {', '.join(missing)}, too"
    return None
