"""Calls whose arguments have a grammar of their own: ``EXTRACT(DAY FROM a)``, ``TRIM``, JSON.

Each form reads what stands between the parentheses and gives the name and the arguments of the
call. What Flink fills in where nothing is said (BOTH in TRIM, NULL ON NULL in JSON_OBJECT) is
filled in here, for Flink prints it too.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from schema_core.sql import calls, operands
from schema_core.sql import expression as grammar
from schema_core.sql.syntax import Call, Literal, LiteralKind, Symbol
from schema_core.sql.tokens import identifier, refuse
from schema_core.sql.type_name import cast_target
from schema_core.text import quote_identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from schema_core.sql.syntax import Expression
    from schema_core.text import Cursor

    Form: TypeAlias = Callable[[Cursor], tuple[str, tuple[Expression, ...]]]
    Arguments: TypeAlias = tuple[str, tuple[Expression, ...]]

# ------------------------------------------------------------------------------ units of time

#: Words that are units by themselves; any other word is the name of a unit, and printed quoted.
TIME_UNITS = frozenset(
    {
        "MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "DAY",
        "DOY", "DOW", "ISODOW", "EPOCH", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND",
        "NANOSECOND",
    }
)  # fmt: skip

DAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")


def _unit(cursor: Cursor) -> Symbol:
    """A unit as Flink prints it: ``DAY``, or a name of one in back-ticks."""
    token = cursor.token
    if token.key == "WEEK" and cursor.peek().key == "(":
        cursor.index += 2
        if cursor.key not in DAYS:
            raise refuse(cursor, "a day of the week")
        word = quote_identifier(f"WEEK_{cursor.advance().key}")
        cursor.expect(")")
    elif token.key in TIME_UNITS:
        word = cursor.advance().key
    else:
        word = quote_identifier(identifier(cursor))
    return Symbol(word, cursor.span_from(token.start))


def _extract(cursor: Cursor) -> Arguments:
    """``EXTRACT(DAY FROM a)``."""
    unit = _unit(cursor)
    cursor.expect("FROM")
    return "EXTRACT", (unit, grammar.expression(cursor))


def _rounded(name: str, cursor: Cursor) -> Arguments:
    """``FLOOR(a)`` and ``FLOOR(a TO DAY)``."""
    value = grammar.expression(cursor)
    return name, (value, _unit(cursor)) if cursor.accept("TO") else (value,)


def _shifted(name: str, cursor: Cursor) -> Arguments:
    """``TIMESTAMPADD(DAY, a, b)``."""
    unit = _unit(cursor)
    cursor.expect(",")
    first = grammar.expression(cursor)
    cursor.expect(",")
    return name, (unit, first, grammar.expression(cursor))


# ------------------------------------------------------------------------------------ strings


def _trim(cursor: Cursor) -> Arguments:
    """``TRIM([BOTH | LEADING | TRAILING] [characters] [FROM] a)``."""
    token = cursor.token
    is_said = token.key in ("BOTH", "LEADING", "TRAILING")
    side = Symbol(cursor.advance().key if is_said else "BOTH", token.span)
    blank = Literal(LiteralKind.STRING, " ", span=token.span)
    if is_said and cursor.accept("FROM"):
        return "TRIM", (side, blank, grammar.expression(cursor))
    is_text = not is_said and calls.begins_with_call(cursor)
    first = grammar.expression(cursor)
    if not is_text and cursor.accept("FROM"):
        return "TRIM", (side, first, grammar.expression(cursor))
    return "TRIM", (side, blank, first)


def _position(cursor: Cursor) -> Arguments:
    """``POSITION(a IN b [FROM 2])``."""
    found = [operands.atom(cursor)]
    cursor.expect("IN")
    found.append(grammar.expression(cursor))
    if cursor.accept("FROM"):
        found.append(grammar.expression(cursor))
    return "POSITION", tuple(found)


def _substring(cursor: Cursor) -> Arguments:
    """``SUBSTRING(a FROM 1 [FOR 2])`` or with commas."""
    found = [grammar.expression(cursor)]
    if not cursor.accept("FROM"):
        cursor.expect(",")
    found.append(grammar.expression(cursor))
    if cursor.accept("FOR") or cursor.accept(","):
        found.append(grammar.expression(cursor))
    return "SUBSTRING", tuple(found)


def _overlay(cursor: Cursor) -> Arguments:
    """``OVERLAY(a PLACING b FROM 1 [FOR 2])``."""
    found = [grammar.expression(cursor)]
    for word in ("PLACING", "FROM"):
        cursor.expect(word)
        found.append(grammar.expression(cursor))
    if cursor.accept("FOR"):
        found.append(grammar.expression(cursor))
    return "OVERLAY", tuple(found)


def _translate(name: str, cursor: Cursor) -> Arguments:
    """``TRANSLATE(a USING utf8)``, which CONVERT may also be called, or with commas."""
    if name == "CONVERT" and calls.begins_with_call(cursor):
        raise cursor.fail("CONVERT takes no call as its first argument")
    value = grammar.expression(cursor)
    if cursor.accept("USING"):
        start = cursor.token.start
        charset = quote_identifier(identifier(cursor))
        return "TRANSLATE USING", (value, Symbol(charset, cursor.span_from(start)))
    cursor.expect(",")
    return name, (value, *calls.arguments(cursor))


def _cast(name: str, cursor: Cursor) -> Arguments:
    """``CAST(a AS INT)``."""
    value = grammar.expression(cursor)
    cursor.expect("AS")
    return name, (value, cast_target(cursor))


# --------------------------------------------------------------------------------------- JSON


def _json_start(cursor: Cursor) -> list[Expression]:
    """The document and the path in it."""
    document = grammar.expression(cursor)
    cursor.expect(",")
    return [document, grammar.expression(cursor)]


def _said(cursor: Cursor, *choices: str) -> Symbol | None:
    """The first of these groups of words that comes next, if any does."""
    start = cursor.token.start
    for words in choices:
        if cursor.accept(*words.split()):
            return Symbol(words, cursor.span_from(start))
    return None


def _said_or(cursor: Cursor, default: str, *choices: str) -> Symbol:
    """As `_said`, or the default."""
    return _said(cursor, *choices) or Symbol(default, cursor.token.span)


def _json_exists(cursor: Cursor) -> Arguments:
    found = _json_start(cursor)
    words = ("TRUE", "FALSE", "UNKNOWN", "ERROR")
    if said := _said(cursor, *(f"{word} ON ERROR" for word in words)):
        found.append(said)
    return "JSON_EXISTS", tuple(found)


EVENTS = ("EMPTY", "ERROR")


def _json_value(cursor: Cursor) -> Arguments:
    """``JSON_VALUE(a, path [RETURNING type] [NULL | ERROR | DEFAULT x ON EMPTY | ERROR] ...)``."""
    found = _json_start(cursor)
    if cursor.accept("RETURNING"):
        found.append(cast_target(cursor))
    choices = [f"{word} ON {event}" for word in ("NULL", "ERROR") for event in EVENTS]
    while True:
        start = cursor.token.start
        if said := _said(cursor, *choices):
            found.append(said)
        elif cursor.accept("DEFAULT"):
            value = grammar.expression(cursor)
            cursor.expect("ON")
            if cursor.key not in EVENTS:
                raise refuse(cursor, "EMPTY or ERROR")
            name = f"DEFAULT ON {cursor.advance().key}"
            found.append(Call(name, (value,), span=cursor.span_from(start)))
        else:
            return "JSON_VALUE", tuple(found)


#: How the wrapper may be written -> how it is printed.
WRAPPERS = {
    "WITHOUT ARRAY WRAPPER": "WITHOUT ARRAY WRAPPER",
    "WITHOUT WRAPPER": "WITHOUT ARRAY WRAPPER",
    "WITH CONDITIONAL ARRAY WRAPPER": "WITH CONDITIONAL ARRAY WRAPPER",
    "WITH CONDITIONAL WRAPPER": "WITH CONDITIONAL ARRAY WRAPPER",
    "WITH UNCONDITIONAL ARRAY WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH UNCONDITIONAL WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH ARRAY WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
}


def _json_query(cursor: Cursor) -> Arguments:
    """``JSON_QUERY(a, path [RETURNING type] [wrapper] [.. ON EMPTY] [.. ON ERROR])``."""
    found = _json_start(cursor)
    if cursor.accept("RETURNING"):
        found.append(cast_target(cursor))
    wrapper = _said_or(cursor, "WITHOUT ARRAY WRAPPER", *WRAPPERS)
    found.append(Symbol(WRAPPERS[wrapper.word], wrapper.span))
    on = {event: Symbol(f"NULL ON {event}", cursor.token.span) for event in EVENTS}
    words = ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
    choices = [f"{word} ON {event}" for word in words for event in EVENTS]
    while said := _said(cursor, *choices):
        on[said.word.rpartition(" ")[2]] = said
    return "JSON_QUERY", (*found, on["EMPTY"], on["ERROR"])


NULLS = ("NULL ON NULL", "ABSENT ON NULL")


def _pair(cursor: Cursor) -> list[Expression]:
    """``KEY a VALUE b``, ``a VALUE b`` or ``a: b``."""
    cursor.accept("KEY")
    key = grammar.expression(cursor)
    if not cursor.accept(":"):
        cursor.expect("VALUE")
    return [key, grammar.expression(cursor)]


def _json_object(cursor: Cursor) -> Arguments:
    """``JSON_OBJECT([KEY 'a' VALUE b, ...] [ABSENT ON NULL])``."""
    found: list[Expression] = []
    nulls = _said(cursor, *NULLS)
    if nulls is None and cursor.key != ")":
        if cursor.key != "KEY" and calls.begins_with_call(cursor):
            raise cursor.fail("a key that begins with a call needs the word KEY")
        found += _pair(cursor)
        while cursor.accept(","):
            found += _pair(cursor)
        nulls = _said(cursor, *NULLS)
    return "JSON_OBJECT", (nulls or Symbol("NULL ON NULL", cursor.token.span), *found)


def _json_array(cursor: Cursor) -> Arguments:
    """``JSON_ARRAY([a, b] [NULL ON NULL])``."""
    found = () if cursor.key == ")" else calls.arguments(cursor)
    return "JSON_ARRAY", (_said_or(cursor, "ABSENT ON NULL", *NULLS), *found)


def _json_objectagg(cursor: Cursor) -> Arguments:
    """``JSON_OBJECTAGG(KEY a VALUE b [ABSENT ON NULL])``."""
    pair = _pair(cursor)
    return "JSON_OBJECTAGG", (_said_or(cursor, "NULL ON NULL", *NULLS), *pair)


def _json_arrayagg(cursor: Cursor) -> Arguments:
    """``JSON_ARRAYAGG(a [NULL ON NULL])``."""
    value = grammar.expression(cursor)
    return "JSON_ARRAYAGG", (_said_or(cursor, "ABSENT ON NULL", *NULLS), value)


#: Name of a function -> what reads its arguments.
FORMS: Mapping[str, Form] = {
    "CAST":           partial(_cast, "CAST"),
    "TRY_CAST":       partial(_cast, "TRY_CAST"),
    "EXTRACT":        _extract,
    "FLOOR":          partial(_rounded, "FLOOR"),
    "CEIL":           partial(_rounded, "CEIL"),
    "CEILING":        partial(_rounded, "CEIL"),
    "TIMESTAMPADD":   partial(_shifted, "TIMESTAMPADD"),
    "TIMESTAMPDIFF":  partial(_shifted, "TIMESTAMPDIFF"),
    "TRIM":           _trim,
    "POSITION":       _position,
    "SUBSTRING":      _substring,
    "OVERLAY":        _overlay,
    "TRANSLATE":      partial(_translate, "TRANSLATE3"),
    "CONVERT":        partial(_translate, "CONVERT"),
    "JSON_EXISTS":    _json_exists,
    "JSON_VALUE":     _json_value,
    "JSON_QUERY":     _json_query,
    "JSON_OBJECT":    _json_object,
    "JSON_ARRAY":     _json_array,
    "JSON_OBJECTAGG": _json_objectagg,
    "JSON_ARRAYAGG":  _json_arrayagg,
}  # fmt: skip
