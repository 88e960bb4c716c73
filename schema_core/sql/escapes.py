"""Functions of JDBC's escape syntax, ``{fn NAME(arguments)}``, as SQL calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schema_core.base.lazy import NamedTuple
from schema_core.base.text import Span
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Symbol

Arguments = tuple[Expression, ...]


def _call(name: str, arguments: Arguments, span: Span) -> Call:
    return Call(name, arguments, span=span)


def _extract(unit: str, arguments: Arguments, span: Span) -> Call:
    return Call("EXTRACT", (Symbol(unit, span), *arguments), span=span)


def _trim(side: str, arguments: Arguments, span: Span) -> Call:
    blank = Literal(LiteralKind.STRING, " ", span=span)
    return Call("TRIM", (Symbol(side, span), blank, *arguments), span=span)


def _insert(arguments: Arguments, span: Span) -> Call:
    """Return ``INSERT(string, start, length, new)`` as OVERLAY."""
    string, start, length, new = arguments
    return Call("OVERLAY", (string, new, start, length), span=span)


class EscapedFunction(NamedTuple):
    """The possible numbers of arguments, and the function that builds the call."""

    counts: tuple[int, ...]
    build: Callable[[Arguments, Span], Call]


#: Name, or names in JDBC and in SQL -> numbers of arguments.
_RENAMED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        ("ABS", "ACOS", "ASCII", "ASIN", "ATAN", "CBRT", "CEILING CEIL", "CHAR", "COS", "COT",
         "DAYNAME", "DEGREES", "EXP", "FLOOR", "LCASE LOWER", "LENGTH CHARACTER_LENGTH", "LOG LN",
         "LOG10", "MONTHNAME", "RADIANS", "REVERSE", "SIGN", "SIN", "SOUNDEX", "SPACE", "SQRT",
         "TAN", "UCASE UPPER"),
        (1,),
    ),
    **dict.fromkeys(
        ("ATAN2", "CONCAT ||", "DIFFERENCE", "IFNULL", "LEFT", "MOD", "POWER", "REPEAT", "RIGHT",
         "ROUND", "TRUNCATE"),
        (2,),
    ),
    **dict.fromkeys(
        ("CURDATE CURRENT_DATE", "CURTIME LOCALTIME", "DATABASE CURRENT_CATALOG",
         "NOW CURRENT_TIMESTAMP", "PI", "USER CURRENT_USER"),
        (0,),
    ),
    "LOCATE POSITION": (2, 3),
    "RAND": (0, 1),
    "REPLACE": (3,),
    "SUBSTRING": (2, 3),
}  # fmt: skip

#: Functions by their names in JDBC.
FUNCTIONS: dict[str, EscapedFunction] = {
    **{
        names.split()[0]: EscapedFunction(counts, partial(_call, names.split()[-1]))
        for names, counts in _RENAMED.items()
    },
    **{
        name: EscapedFunction((1,), partial(_extract, unit))
        for name, unit in {
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
        }.items()
    },
    "INSERT": EscapedFunction((4,), _insert),
    "LTRIM": EscapedFunction((1,), partial(_trim, "LEADING")),
    "RTRIM": EscapedFunction((1,), partial(_trim, "TRAILING")),
}

#: Functions with a unit of time, parsed as without the escape.
WITH_UNITS = ("TIMESTAMPADD", "TIMESTAMPDIFF")

#: Type of CONVERT without the prefix ``SQL_`` -> type of CAST.
CONVERTED = {
    **{name: name for name in (
        "BIGINT", "BOOLEAN", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INTEGER", "SMALLINT",
        "TIME", "TIMESTAMP", "TINYINT", "VARCHAR",
    )},
    "NUMERIC": "DECIMAL",
}  # fmt: skip


def converted_type(word: str) -> str | None:
    """Return the type that CONVERT casts to, or None; two require the prefix.

    >>> converted_type("SQL_INTEGER"), converted_type("INTEGER"), converted_type("BIGINT")
    ('INTEGER', None, 'BIGINT')
    """
    name = word.removeprefix("SQL_")
    return None if name == word and name in ("INTEGER", "NUMERIC") else CONVERTED.get(name)
