"""The words that steer calls written in Python, under PyFlink's names; plain texts do as well."""

from __future__ import annotations

import re
from enum import Enum

from schema_core.errors import SchemaError
from schema_core.text import show


class TimeIntervalUnit(Enum):
    """Units of time that EXTRACT, FLOOR and CEIL know."""

    YEAR = "YEAR"
    YEAR_TO_MONTH = "YEAR TO MONTH"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    DAY = "DAY"
    DAY_TO_HOUR = "DAY TO HOUR"
    DAY_TO_MINUTE = "DAY TO MINUTE"
    DAY_TO_SECOND = "DAY TO SECOND"
    HOUR = "HOUR"
    SECOND = "SECOND"
    HOUR_TO_MINUTE = "HOUR TO MINUTE"
    HOUR_TO_SECOND = "HOUR TO SECOND"
    MINUTE = "MINUTE"
    MINUTE_TO_SECOND = "MINUTE TO SECOND"


class TimePointUnit(Enum):
    """Units of time that TIMESTAMPDIFF counts in."""

    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"
    QUARTER = "QUARTER"
    WEEK = "WEEK"
    MILLISECOND = "MILLISECOND"
    MICROSECOND = "MICROSECOND"


class JsonType(Enum):
    """What a text of JSON holds."""

    VALUE = "VALUE"
    SCALAR = "SCALAR"
    ARRAY = "ARRAY"
    OBJECT = "OBJECT"


class JsonExistsOnError(Enum):
    """What JSON_EXISTS gives where it fails."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class JsonValueOnEmptyOrError(Enum):
    """What JSON_VALUE gives where there is nothing, or where it fails."""

    NULL = "NULL"
    ERROR = "ERROR"
    DEFAULT = "DEFAULT"


class JsonQueryWrapper(Enum):
    """When JSON_QUERY makes an array of what it finds."""

    WITHOUT_ARRAY = "WITHOUT ARRAY WRAPPER"
    CONDITIONAL_ARRAY = "WITH CONDITIONAL ARRAY WRAPPER"
    UNCONDITIONAL_ARRAY = "WITH UNCONDITIONAL ARRAY WRAPPER"


class JsonQueryOnEmptyOrError(Enum):
    """What JSON_QUERY gives where there is nothing, or where it fails."""

    NULL = "NULL"
    EMPTY_ARRAY = "EMPTY ARRAY"
    EMPTY_OBJECT = "EMPTY OBJECT"
    ERROR = "ERROR"


class JsonOnNull(Enum):
    """What becomes of NULL in JSON that is made."""

    NULL = "NULL ON NULL"
    ABSENT = "ABSENT ON NULL"


#: The strings that are accepted in place of such a keyword.
_KEYWORDS = re.compile(r"[A-Za-z_]+( [A-Za-z_]+)*")


def word(value: Enum | str, kind: type[Enum]) -> str:
    """Return the keywords of a member of `kind`, or a string in upper case.

    Raises:
        SchemaError: with code `wrong-argument` for a member of another enumeration, and for a
            string that does not consist of words.

    >>> word(JsonOnNull.ABSENT, JsonOnNull), word("year", TimeIntervalUnit)
    ('ABSENT ON NULL', 'YEAR')
    """
    if isinstance(value, kind):
        return str(value.value)
    if isinstance(value, str) and _KEYWORDS.fullmatch(value):
        return value.upper()
    raise SchemaError(
        f"expected a member of {kind.__name__}, got {show(value)}", code="wrong-argument"
    )
