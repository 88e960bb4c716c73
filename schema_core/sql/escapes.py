"""Functions of JDBC's escape syntax, ``{fn NAME(arguments)}``, as calls of SQL functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schema_core.base.text import Span
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Symbol

Arguments = tuple[Expression, ...]

#: Functions that have the same name without the escape -> numbers of arguments.
SAME_NAME: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        ("ABS", "ACOS", "ASCII", "ASIN", "ATAN", "CBRT", "CHAR", "COS", "COT", "DAYNAME", "DEGREES",
         "EXP", "FLOOR", "LOG10", "MONTHNAME", "RADIANS", "REVERSE", "SIGN", "SIN", "SOUNDEX",
         "SPACE", "SQRT", "TAN"),
        (1,),
    ),
    **dict.fromkeys(
        ("ATAN2", "DIFFERENCE", "IFNULL", "LEFT", "MOD", "POWER", "REPEAT", "RIGHT", "ROUND",
         "TRUNCATE"),
        (2,),
    ),
    "PI": (0,),
    "RAND": (0, 1),
    "REPLACE": (3,),
    "SUBSTRING": (2, 3),
}  # fmt: skip

#: Functions that have another name -> (the name, number of arguments).
RENAMED = {
    "CEILING": ("CEIL", 1),
    "CONCAT": ("||", 2),
    "CURDATE": ("CURRENT_DATE", 0),
    "CURTIME": ("LOCALTIME", 0),
    "DATABASE": ("CURRENT_CATALOG", 0),
    "LCASE": ("LOWER", 1),
    "LENGTH": ("CHARACTER_LENGTH", 1),
    "LOG": ("LN", 1),
    "NOW": ("CURRENT_TIMESTAMP", 0),
    "UCASE": ("UPPER", 1),
    "USER": ("CURRENT_USER", 0),
}

#: Functions that return a field of a date or time -> the unit.
FIELDS = {
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "DAYOFYEAR": "DOY",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "MONTH": "MONTH",
    "QUARTER": "QUARTER",
    "SECOND": "SECOND",
    "WEEK": "WEEK",
    "YEAR": "YEAR",
}


def _trim(side: str, arguments: Arguments, span: Span) -> Call:
    blank = Literal(LiteralKind.STRING, " ", span=span)
    return Call("TRIM", (Symbol(side, span), blank, *arguments), span=span)


def _insert(arguments: Arguments, span: Span) -> Call:
    """Return ``INSERT(string, start, length, new)`` as OVERLAY."""
    string, start, length, new = arguments
    return Call("OVERLAY", (string, new, start, length), span=span)


def _locate(arguments: Arguments, span: Span) -> Call:
    return Call("POSITION", arguments, span=span)


#: Functions of another form -> (numbers of arguments, what makes the call).
FORMS: dict[str, tuple[tuple[int, ...], Callable[[Arguments, Span], Call]]] = {
    "INSERT": ((4,), _insert),
    "LOCATE": ((2, 3), _locate),
    "LTRIM": ((1,), partial(_trim, "LEADING")),
    "RTRIM": ((1,), partial(_trim, "TRAILING")),
}

#: Functions whose arguments are not all expressions: they are parsed as without the escape.
WITH_UNITS = ("TIMESTAMPADD", "TIMESTAMPDIFF")

#: Types of CONVERT by their names without the prefix ``SQL_`` -> the type of CAST.
CONVERTED = {
    **{name: name for name in (
        "BIGINT", "BOOLEAN", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INTEGER", "SMALLINT",
        "TIME", "TIMESTAMP", "TINYINT", "VARCHAR",
    )},
    "NUMERIC": "DECIMAL",
}  # fmt: skip

#: Types that CONVERT has only with the prefix.
ONLY_PREFIXED = ("INTEGER", "NUMERIC")


def converted_type(word: str) -> str | None:
    """Return the type that CONVERT casts to, or None for a word that is not the name of one.

    >>> converted_type("SQL_INTEGER"), converted_type("INTEGER"), converted_type("BIGINT")
    ('INTEGER', None, 'BIGINT')
    """
    name = word.removeprefix("SQL_")
    return None if name == word and name in ONLY_PREFIXED else CONVERTED.get(name)


def counts_of(name: str) -> tuple[int, ...] | None:
    """Return how many arguments a function may have, or None for a name that is not a function's.

    >>> counts_of("SUBSTRING"), counts_of("LOWER")
    ((2, 3), None)
    """
    if name in SAME_NAME:
        return SAME_NAME[name]
    if name in RENAMED:
        return (RENAMED[name][1],)
    if name in FIELDS:
        return (1,)
    return FORMS[name][0] if name in FORMS else None


def escaped_call(name: str, arguments: Arguments, span: Span) -> Call:
    """Return the call of a function of which `counts_of` returns the numbers of arguments."""
    if name in FORMS:
        return FORMS[name][1](arguments, span)
    if name in FIELDS:
        return Call("EXTRACT", (Symbol(FIELDS[name], span), *arguments), span=span)
    renamed, _ = RENAMED.get(name, (name, 0))
    return Call(renamed, arguments, span=span)
