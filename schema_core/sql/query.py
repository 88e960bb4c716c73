"""Queries read: SELECT, VALUES, WITH, set operations, ORDER BY and LIMIT.

``parse_query(print_query(query)) == query``. The grammar is that of Flink 2.3 (Flink documentation,
"Queries"); what follows FROM is in `schema_core.sql.from_clause`.
"""

from __future__ import annotations

from schema_core.caching import cached
from schema_core.sql.expression import expression
from schema_core.sql.query_syntax import (
    CommonTable,
    ExplicitTable,
    GroupingSets,
    GroupItem,
    Ordered,
    Query,
    Select,
    SelectItem,
    SetOperation,
    TableArgument,
    Values,
    With,
)
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Name, Star, Window
from schema_core.sql.tokens import cursor_over, identifier, path, refuse
from schema_core.sql.windows import sort_keys, window
from schema_core.text import Cursor, Token

#: Words that open a query.
OPENING = frozenset({"SELECT", "VALUES", "VALUE", "WITH", "TABLE"})

#: Set operators and how tightly they bind.
OPERATORS = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}

GROUPING_WORDS = {
    "GROUPING": "GROUPING SETS",
    "ROLLUP": "ROLLUP",
    "CUBE": "CUBE",
}


@cached()
def parse_query(text: str) -> Query:
    """The query that the text spells.

    Raises:
        ParseError: for a text outside the grammar, with the place.

    >>> parse_query("SELECT a FROM t LIMIT 1").fetch.text
    '1'
    """
    cursor = cursor_over(text)
    found = query(cursor)
    cursor.accept(";")
    if cursor.token.kind != "end":
        raise refuse(cursor, "the end of the query")
    return found


def can_name(token: Token) -> bool:
    """Whether the token may be a name: a word that is not reserved, or one in back-ticks."""
    return token.kind in ("word", "name")


def query(cursor: Cursor) -> Query:
    """A query with all its clauses; stops at the first token that is not its own."""
    with cursor.nested():
        start = cursor.token.start
        if cursor.accept("WITH"):
            return _ordered(cursor, start, _with(cursor, start))
        return rest_of_query(cursor, start, _leaf(cursor))


def rest_of_query(cursor: Cursor, start: int, first: Query) -> Query:
    """What may follow a first operand: set operations, then ORDER BY and limits."""
    return _ordered(cursor, start, _set_operations(cursor, start, first, 1))


def continues_query(cursor: Cursor) -> bool:
    """Whether the next token belongs to a query whose first operand stands before it."""
    return cursor.key in OPERATORS or cursor.key in ("ORDER", "LIMIT", "OFFSET", "FETCH")


def table_argument(cursor: Cursor) -> Query:
    """``TABLE t [PARTITION BY ...] [ORDER BY ...]`` among the arguments of a call."""
    start = cursor.token.start
    return with_keys(cursor, _explicit_table(cursor), start)


def with_keys(cursor: Cursor, table: Query, start: int) -> Query:
    """The table of an argument with the keys behind it, if there are any."""
    partition_by = _table_keys(cursor) if cursor.accept("PARTITION", "BY") else ()
    order_by = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    if not partition_by and not order_by:
        return table
    return TableArgument(table, partition_by, tuple(order_by), cursor.span_from(start))


def _table_keys(cursor: Cursor) -> tuple[Expression, ...]:
    """The keys behind PARTITION BY of a table argument, in parentheses or as a single one."""
    if not cursor.accept("("):
        return (expression(cursor),)
    keys = expressions(cursor)
    cursor.expect(")")
    return keys


def expressions(cursor: Cursor) -> tuple[Expression, ...]:
    """One expression or more, with commas between them."""
    found = [expression(cursor)]
    while cursor.accept(","):
        found.append(expression(cursor))
    return tuple(found)


def names(cursor: Cursor) -> tuple[Name, ...]:
    """Simple names in parentheses, at least one."""
    cursor.expect("(")
    found = [simple_name(cursor)]
    while cursor.accept(","):
        found.append(simple_name(cursor))
    cursor.expect(")")
    return tuple(found)


def simple_name(cursor: Cursor) -> Name:
    """A name of one part."""
    start = cursor.token.start
    name = identifier(cursor)
    return Name((name,), cursor.span_from(start))


def path_name(cursor: Cursor) -> Name:
    """A name of one part or more, such as that of a table."""
    start = cursor.token.start
    parts = path(cursor)
    return Name(parts, cursor.span_from(start))


def alias(cursor: Cursor) -> str | None:
    """``[AS] name``, or None."""
    if cursor.accept("AS") or can_name(cursor.token):
        return identifier(cursor)
    return None


# ------------------------------------------------------------------------------ the whole query


def _with(cursor: Cursor, start: int) -> Query:
    recursive = cursor.accept("RECURSIVE")
    tables = [_common_table(cursor)]
    while cursor.accept(","):
        tables.append(_common_table(cursor))
    inner = cursor.token.start
    body = _set_operations(cursor, inner, _leaf(cursor), 1)
    return With(tuple(tables), body, recursive, cursor.span_from(start))


def _common_table(cursor: Cursor) -> CommonTable:
    start = cursor.token.start
    name = identifier(cursor)
    columns = tuple(one.parts[0] for one in names(cursor)) if cursor.key == "(" else ()
    cursor.expect("AS", "(")
    inner = query(cursor)
    cursor.expect(")")
    return CommonTable(name, columns, inner, cursor.span_from(start))


def _set_operations(cursor: Cursor, start: int, left: Query, least: int) -> Query:
    """Operators that bind at least so tightly, from the left."""
    while OPERATORS.get(cursor.key, 0) >= least:
        operator = cursor.advance().key
        every = cursor.accept("ALL")
        if not every:
            cursor.accept("DISTINCT")
        inner = cursor.token.start
        right = _set_operations(cursor, inner, _leaf(cursor), OPERATORS[operator] + 1)
        left = SetOperation(operator, every, left, right, cursor.span_from(start))
    return left


def _leaf(cursor: Cursor) -> Query:
    match cursor.key:
        case "SELECT":
            return _select(cursor)
        case "VALUES" | "VALUE":
            return _values(cursor)
        case "TABLE":
            return _explicit_table(cursor)
        case "(":
            cursor.advance()
            inner = query(cursor)
            cursor.expect(")")
            return inner
        case _:
            raise refuse(cursor, "a query")


def _ordered(cursor: Cursor, start: int, inner: Query) -> Query:
    order_by = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    offset, fetch = _limits(cursor)
    if not order_by and offset is None and fetch is None:
        return inner
    return Ordered(inner, tuple(order_by), offset, fetch, cursor.span_from(start))


def _limits(cursor: Cursor) -> tuple[Expression | None, Expression | None]:
    """OFFSET and FETCH or LIMIT; LIMIT stands before OFFSET, FETCH behind it."""
    fetch = None
    if cursor.accept("LIMIT"):
        fetch = None if cursor.accept("ALL") else _count(cursor)
        return (_offset(cursor), fetch) if cursor.accept("OFFSET") else (None, fetch)
    offset = _offset(cursor) if cursor.accept("OFFSET") else None
    if cursor.accept("FETCH"):
        if not cursor.accept("FIRST"):
            cursor.expect("NEXT")
        fetch = _count(cursor)
        if not cursor.accept("ROW"):
            cursor.expect("ROWS")
        cursor.expect("ONLY")
    return offset, fetch


def _offset(cursor: Cursor) -> Expression:
    count = _count(cursor)
    if not cursor.accept("ROW"):
        cursor.accept("ROWS")
    return count


def _count(cursor: Cursor) -> Expression:
    """A number of rows, which has no sign."""
    token = cursor.token
    if token.kind not in ("integer", "decimal"):
        raise refuse(cursor, "a number of rows")
    cursor.advance()
    return Literal(LiteralKind.EXACT, token.value, span=token.span)


def _explicit_table(cursor: Cursor) -> ExplicitTable:
    start = cursor.expect("TABLE").start
    return ExplicitTable(path_name(cursor), cursor.span_from(start))


def _values(cursor: Cursor) -> Values:
    start = cursor.advance().start
    rows = [_row(expression(cursor))]
    while cursor.accept(","):
        rows.append(_row(expression(cursor)))
    return Values(tuple(rows), cursor.span_from(start))


def _row(written: Expression) -> tuple[Expression, ...]:
    """The values of a row, which has no parentheses where it has one value."""
    match written:
        case Call(name="ROW", arguments=values):
            return values
        case _:
            return (written,)


# ------------------------------------------------------------------------------- a SELECT block


def _select(cursor: Cursor) -> Select:
    from schema_core.sql.from_clause import hints, source

    start = cursor.expect("SELECT").start
    found_hints = hints(cursor)
    distinct = cursor.accept("DISTINCT")
    if not distinct:
        cursor.accept("ALL")
    items = [_item(cursor)]
    while cursor.accept(","):
        items.append(_item(cursor))
    if not cursor.accept("FROM"):
        return Select(tuple(items), None, distinct, hints=found_hints, span=cursor.span_from(start))
    return Select(
        items=tuple(items),
        source=source(cursor),
        distinct=distinct,
        where=expression(cursor) if cursor.accept("WHERE") else None,
        group_by=_group_by(cursor) if cursor.accept("GROUP", "BY") else None,
        having=expression(cursor) if cursor.accept("HAVING") else None,
        windows=_windows(cursor) if cursor.accept("WINDOW") else (),
        qualify=expression(cursor) if cursor.accept("QUALIFY") else None,
        hints=found_hints,
        span=cursor.span_from(start),
    )


def _item(cursor: Cursor) -> SelectItem:
    start = cursor.token.start
    star = _star(cursor)
    if star is not None:
        return SelectItem(star, None, star.span)
    written = expression(cursor)
    return SelectItem(written, alias(cursor), cursor.span_from(start))


def _star(cursor: Cursor) -> Star | None:
    """``*`` or ``t.*``, if that comes next."""
    start, ahead, prefix = cursor.token.start, 0, []
    while cursor.peek(ahead).key != "*":
        if not can_name(cursor.peek(ahead)) or cursor.peek(ahead + 1).key != ".":
            return None
        prefix.append(cursor.peek(ahead).value)
        ahead += 2
    for _ in range(ahead + 1):
        cursor.advance()
    return Star(tuple(prefix), cursor.span_from(start))


def _group_by(cursor: Cursor) -> tuple[GroupItem, ...]:
    if not cursor.accept("DISTINCT"):
        cursor.accept("ALL")
    items = [_group_item(cursor)]
    while cursor.accept(","):
        items.append(_group_item(cursor))
    return tuple(items)


def _group_item(cursor: Cursor) -> GroupItem:
    start = cursor.token.start
    if cursor.accept("(", ")"):
        return GroupingSets("()", ((),), cursor.span_from(start))
    kind = GROUPING_WORDS.get(cursor.key)
    if kind is None or cursor.peek().key not in ("SETS", "("):
        return expression(cursor)
    with cursor.nested():
        cursor.expect(*kind.split(), "(")
        sets = [_grouping_set(cursor)]
        while cursor.accept(","):
            sets.append(_grouping_set(cursor))
        cursor.expect(")")
    return GroupingSets(kind, tuple(sets), cursor.span_from(start))


def _grouping_set(cursor: Cursor) -> tuple[Expression, ...] | GroupingSets:
    item = _group_item(cursor)
    match item:
        case GroupingSets(kind="()"):
            return ()
        case GroupingSets():
            return item
        case _:
            return _row(item)


def _windows(cursor: Cursor) -> tuple[tuple[str, Window], ...]:
    found = []
    while True:
        name = identifier(cursor)
        cursor.expect("AS")
        found.append((name, window(cursor)))
        if not cursor.accept(","):
            return tuple(found)
