"""Parser of Flink SQL: expressions, queries and statements, alone or in scripts.

The grammar is Flink 2.3's (Flink documentation, "SQL Reference"). Spans are offsets into the whole
text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from schema_core.base.caching import cached
from schema_core.base.keywords import WRITING
from schema_core.base.text import Token
from schema_core.errors import (
    MAX_ERRORS,
    Gathering,
    ParseError,
    SchemaCoreError,
    SchemaError,
    within,
)
from schema_core.sql.corrections import corrected_hint
from schema_core.sql.expression import QueryCursor, expression
from schema_core.sql.query import query
from schema_core.sql.syntax import Expression, Query
from schema_core.sql.tokens import expect_end

if TYPE_CHECKING:
    from schema_core.sql.statement_syntax import Statement


@cached()
def parse_expression(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ParseError: for what Flink's parser refuses, at the first token that does not fit; for more
            than 64 levels of nesting, 1,000,000 characters, or 1,000 digits in a number.

    >>> parse_expression("a + b.c")
    Call(name='+', arguments=(Name(parts=('a',)), Name(parts=('b', 'c'))), path=(), symbol=None, \
filter=None, within=(), over=None)
    >>> parse_expression("a + order")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: expected an expression, found 'order'
        a + order
            ^^^^^
      hint: quote a reserved word with backticks
    """
    return _parse(QueryCursor(text, query), _whole_expression)


def _whole_expression(cursor: QueryCursor) -> Expression:
    node = expression(cursor)
    expect_end(cursor)
    return node


@cached()
def parse_query(text: str) -> Query:
    """Parse a query, which may end in a semicolon.

    Raises:
        ParseError: for what Flink's parser refuses, at the first token that does not fit.

    >>> parse_query("SELECT a FROM t LIMIT 1").fetch.text
    '1'
    """
    return _parse(QueryCursor(text, query), _whole_query)


def _whole_query(cursor: QueryCursor) -> Query:
    node = query(cursor)
    cursor.accept(";")
    expect_end(cursor, "the end of the query")
    return node


def parse_statement(text: str, *, is_migration: bool = False) -> Statement:
    """Parse one statement, which may end in a semicolon.

    With `is_migration` it may also be COMMENT ON TABLE or COLUMN, which Flink does not have.

    Raises:
        ParseError: for what Flink's parser refuses, at the first token that does not fit; with code
            `invalid-statement` for more than one.

    >>> parse_statement("USE CATALOG c").path
    Name(parts=('c',))
    """
    with within(text):
        cursor = QueryCursor(text, query)
        cursor.is_migration = is_migration
        node = _parse(cursor, _one_statement)
        while cursor.accept(";"):
            pass
        if cursor.token.kind != "end":
            raise cursor.fail(
                "expected a single statement",
                code="invalid-statement",
                hint="use parse_statements for a script",
            )
        return node


def is_beginning(text: str) -> bool:
    """Return whether a text can begin a statement: it has no error before its end.

    >>> is_beginning("SELECT a FROM"), is_beginning("SELECT FROM t")
    (True, False)
    """
    try:
        with within(text):
            cursor = QueryCursor(text, query)
            _one_statement(cursor)  # without `_parse`, which looks for a hint
    except SchemaCoreError as error:
        return error.span is not None and error.span.start >= len(text)
    while cursor.accept(";"):
        pass
    return cursor.token.kind == "end"


def parse_statements(text: str, *, is_migration: bool = False) -> tuple[Statement, ...]:
    """Parse all statements of a script, separated by semicolons; empty ones are skipped.

    An error ends its statement only: the statements after the next semicolon are parsed as well.
    `is_migration` is that of `parse_statement`.

    Raises:
        ParseError: the first error, with the others in `others`.

    >>> len(parse_statements("USE a; SHOW TABLES;"))
    2
    >>> parse_statements("USE 1; SHOW TABELS; SHOW TABLES")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: expected a name, found '1'
        USE 1; SHOW TABELS; SHOW TABLES
            ^
    expected an object of SHOW, found 'TABELS'
        USE 1; SHOW TABELS; SHOW TABLES
                    ^^^^^^
      hint: did you mean TABLES?
    """
    results = list(read_statements(text, is_migration=is_migration))
    gathering = Gathering()
    for result in results:
        if isinstance(result, SchemaCoreError):
            gathering.add(result)
    gathering.raise_all()
    return tuple(result for result in results if not isinstance(result, SchemaCoreError))


def read_statements(
    text: str, *, is_migration: bool = False
) -> Iterator[Statement | SchemaCoreError]:
    """Parse a script statement by statement; yield the error of each that cannot be parsed.

    The rest after `MAX_ERRORS` errors is not parsed, as the last error reports.
    """
    with within(text):
        cursor = QueryCursor(text, query)
    cursor.is_migration = is_migration
    errors = 0
    while cursor.token.kind != "end" and errors < MAX_ERRORS:
        if cursor.accept(";"):
            continue
        start = cursor.index
        try:
            with within(text):
                cursor.depth = 0
                yield _parse(cursor, _one_statement)
        except SchemaCoreError as error:
            yield error
            errors += 1
            cursor.index = _end_of_statement(cursor, start)
    if errors == MAX_ERRORS and cursor.token.kind != "end":
        yield SchemaError(
            f"{MAX_ERRORS:,} statements cannot be parsed, and the rest of the text is not checked",
            code="too-many-errors",
            hint="correct these statements first",
            span=cursor.token.span,
            text=text,
        )


def _one_statement(cursor: QueryCursor) -> Statement:
    from schema_core.sql.statement import statement

    node = statement(cursor)
    if cursor.key != ";":
        expect_end(cursor, "the end of the statement")
    return node


T = TypeVar("T")


def _parse(cursor: QueryCursor, grammar: Callable[[QueryCursor], T]) -> T:
    """Parse, and improve the hint of a syntax error by speculative repairs.

    The hint names an edit, such as a missing comma, with which the statement can be parsed.
    """
    start = cursor.index
    try:
        return grammar(cursor)
    except ParseError as error:
        if error.code == ParseError.default_code and error.span is not None:
            stop = _end_of_statement(cursor, start)
            place = cursor.tokens[stop].start
            tokens = [*cursor.tokens[start:stop], Token("end", "end", "", place, place)]
            failure = partial(_failure, cursor, grammar)
            error.hint = corrected_hint(cursor, tokens, error, failure)
        raise


def _failure(
    cursor: QueryCursor, grammar: Callable[[QueryCursor], object], speculative: Sequence[Token]
) -> int | None:
    """Return the index of the token at which a grammar fails, or None."""
    inner = QueryCursor(cursor.text, query, speculative)
    try:
        grammar(inner)
    except ParseError as error:
        if error.code != ParseError.default_code:  # a rule beyond the grammar
            return None
        place = inner.index if error.span is None else error.span.start
        return next((i for i, token in enumerate(speculative) if token.start >= place), inner.index)
    return None


#: The tokens of ``COMPILE PLAN 'path' IF NOT EXISTS FOR STATEMENT SET BEGIN``.
MAX_OPENING = 10


def _end_of_statement(cursor: QueryCursor, start: int) -> int:
    """Return the index of the semicolon or end after the statement at the cursor.

    The semicolons in a statement set end its INSERT statements.
    """
    tokens, stop = cursor.tokens, cursor.index
    opening = [token.key for token in tokens[start : start + MAX_OPENING]]
    is_set = any(
        opening[place : place + 3] == ["STATEMENT", "SET", "BEGIN"]
        for place in range(1, len(opening))
    )
    while True:
        while tokens[stop].key != ";" and tokens[stop].kind != "end":
            stop += 1
        if not is_set or tokens[stop].kind == "end":
            return stop
        if tokens[stop + 1].key == "END":
            return stop + 2
        if tokens[stop + 1].key not in WRITING:  # END is missing
            return stop + 1
        stop += 1
