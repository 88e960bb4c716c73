"""MATCH_RECOGNIZE, read: partitions, measures, the pattern and the definitions of its symbols."""

from __future__ import annotations

from schema_core.sql.expression import expression
from schema_core.sql.query_syntax import MatchRecognize, Measure, Source
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Name, Symbol
from schema_core.sql.tokens import identifier, refuse
from schema_core.sql.windows import sort_keys
from schema_core.text import Cursor

#: A sign behind a part of a pattern -> the least and most repetitions it stands for.
QUANTIFIERS = {"*": ("0", ""), "+": ("1", ""), "?": ("0", "1")}


def match_recognize(cursor: Cursor, start: int, source: Source) -> MatchRecognize:
    """What stands in the parentheses behind MATCH_RECOGNIZE, which is already stepped over."""
    from schema_core.sql.query import expressions

    cursor.expect("(")
    partition_by = expressions(cursor) if cursor.accept("PARTITION", "BY") else ()
    order_by = tuple(sort_keys(cursor)) if cursor.accept("ORDER", "BY") else ()
    measures = _measures(cursor) if cursor.accept("MEASURES") else ()
    rows_per_match = _rows_per_match(cursor)
    after_match = _after_match(cursor) if cursor.accept("AFTER", "MATCH") else ()
    cursor.expect("PATTERN", "(")
    starts = cursor.accept("^")
    pattern = _alternatives(cursor)
    ends = cursor.accept("$")
    cursor.expect(")")
    within = expression(cursor) if cursor.accept("WITHIN") else None
    subsets = _subsets(cursor) if cursor.accept("SUBSET") else ()
    cursor.expect("DEFINE")
    defines = _defines(cursor)
    cursor.expect(")")
    return MatchRecognize(
        source, partition_by, order_by, measures, rows_per_match, after_match, pattern, starts,
        ends, within, subsets, defines, cursor.span_from(start),
    )  # fmt: skip


def _measures(cursor: Cursor) -> tuple[Measure, ...]:
    found = []
    while True:
        start = cursor.token.start
        value = expression(cursor)
        cursor.expect("AS")
        found.append(Measure(value, identifier(cursor), cursor.span_from(start)))
        if not cursor.accept(","):
            return tuple(found)


def _defines(cursor: Cursor) -> tuple[Measure, ...]:
    found = []
    while True:
        start = cursor.token.start
        name = identifier(cursor)
        cursor.expect("AS")
        found.append(Measure(expression(cursor), name, cursor.span_from(start)))
        if not cursor.accept(","):
            return tuple(found)


def _rows_per_match(cursor: Cursor) -> str | None:
    for words in (("ONE", "ROW", "PER", "MATCH"), ("ALL", "ROWS", "PER", "MATCH")):
        if cursor.accept(*words):
            return " ".join(words)
    return None


def _after_match(cursor: Cursor) -> tuple[str, ...]:
    """Where to go on behind a match, in words; the last one may be the name of a symbol."""
    cursor.expect("SKIP")
    for words in (("TO", "NEXT", "ROW"), ("PAST", "LAST", "ROW")):
        if cursor.accept(*words):
            return ("SKIP", *words)
    cursor.expect("TO")
    for word in ("FIRST", "LAST"):
        if cursor.key == word and cursor.peek().kind in ("word", "name"):
            cursor.advance()
            return ("SKIP", "TO", word, identifier(cursor))
    return ("SKIP", "TO", identifier(cursor))


def _subsets(cursor: Cursor) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = []
    while True:
        name = identifier(cursor)
        cursor.expect("=", "(")
        members = [identifier(cursor)]
        while cursor.accept(","):
            members.append(identifier(cursor))
        cursor.expect(")")
        found.append((name, tuple(members)))
        if not cursor.accept(","):
            return tuple(found)


# ------------------------------------------------------------------------------------- pattern


def _alternatives(cursor: Cursor) -> Expression:
    with cursor.nested():
        parts = [_sequence(cursor)]
        while cursor.accept("|"):
            parts.append(_sequence(cursor))
        return parts[0] if len(parts) == 1 else Call("|", tuple(parts))


def _sequence(cursor: Cursor) -> Expression:
    parts = [_factor(cursor)]
    while cursor.token.kind in ("word", "name") or cursor.key in ("(", "{", "PERMUTE"):
        parts.append(_factor(cursor))
    return parts[0] if len(parts) == 1 else Call(",", tuple(parts))


def _factor(cursor: Cursor) -> Expression:
    part = _part(cursor)
    limits = QUANTIFIERS.get(cursor.key)
    if limits is not None:
        cursor.advance()
    elif cursor.key == "{" and cursor.peek().key != "-":
        limits = _repetitions(cursor)
    else:
        return part
    greed = Symbol("RELUCTANT" if cursor.accept("?") else "GREEDY")
    least, most = (Literal(LiteralKind.EXACT, limit) for limit in limits)
    return Call("{}", (part, least, most, greed))


def _repetitions(cursor: Cursor) -> tuple[str, str]:
    """``{n}``, ``{n,}``, ``{n,m}`` or ``{,m}``."""
    cursor.expect("{")
    least = cursor.advance().value if cursor.token.kind == "integer" else ""
    most = least
    if cursor.accept(","):
        most = cursor.advance().value if cursor.token.kind == "integer" else ""
    if not least and not most:
        raise refuse(cursor, "a number of repetitions")
    cursor.expect("}")
    return least or "0", most


def _part(cursor: Cursor) -> Expression:
    if cursor.accept("("):
        inner = _alternatives(cursor)
        cursor.expect(")")
        return inner
    if cursor.accept("{", "-"):
        inner = _alternatives(cursor)
        cursor.expect("-", "}")
        return Call("{- -}", (inner,))
    if cursor.accept("PERMUTE", "("):
        parts = [_alternatives(cursor)]
        while cursor.accept(","):
            parts.append(_alternatives(cursor))
        cursor.expect(")")
        return Call("PERMUTE", tuple(parts))
    start = cursor.token.start
    return Name((identifier(cursor),), cursor.span_from(start))
