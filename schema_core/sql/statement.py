"""Statements read: one, or many with all their mistakes at once.

The grammar is that of Flink 2.3 (Flink documentation, "SQL Reference"). Spans are offsets into the
whole text, also where it holds many statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from schema_core.errors import MAX_ERRORS, Gathering, SchemaCoreError, SchemaError, within
from schema_core.sql.alter import alter
from schema_core.sql.calls import called
from schema_core.sql.clauses import (
    listed,
    one_of,
    partition,
    partition_or_keys,
    simple_names,
    table_alias,
    with_options,
)
from schema_core.sql.create import create, drop, replace
from schema_core.sql.expression import expression
from schema_core.sql.from_clause import hints
from schema_core.sql.query import OPENING, path_name, query, simple_name
from schema_core.sql.show import describe, show
from schema_core.sql.statement_syntax import (
    AnalyzeTable,
    CallProcedure,
    Delete,
    Execute,
    Explain,
    Insert,
    Jar,
    LoadModule,
    ResetOption,
    SelectStatement,
    SetOption,
    Statement,
    StatementSet,
    TruncateTable,
    UnloadModule,
    Update,
    UseCatalog,
    UseDatabase,
    UseModules,
)
from schema_core.sql.syntax import Expression, Name
from schema_core.sql.tokens import cursor_over, identifier, refuse, string
from schema_core.text import Cursor

DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


def parse_statement(text: str) -> Statement:
    """The one statement of the text, which may end in a semicolon.

    Raises:
        ParseError: for a text outside the grammar, with the place; with code
            `multiple-statements` where there is more than one.

    >>> parse_statement("USE CATALOG c").path
    Name(parts=('c',))
    """
    with within(text):
        cursor = cursor_over(text)
        found = statement(cursor)
        ended = cursor.accept(";")
        while cursor.accept(";"):
            pass
        if ended and cursor.token.kind != "end":
            raise cursor.fail(
                "only one statement is expected",
                code="multiple-statements",
                hint="give the statements one by one",
            )
        _expect_end(cursor)
        return found


def parse_statements(text: str) -> tuple[Statement, ...]:
    """All statements of a text, with semicolons between them; empty ones are left out.

    A mistake ends its statement only: those behind the next semicolon are read as well.

    Raises:
        ParseError: the first mistake, with the others behind it in `others`.

    >>> len(parse_statements("USE a; SHOW TABLES;"))
    2
    >>> parse_statements("USE 1; SHOW TABELS; SHOW TABLES")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: expected a name, found '1'
        USE 1; SHOW TABELS; SHOW TABLES
            ^
    expected what to show, found 'TABELS'
        USE 1; SHOW TABELS; SHOW TABLES
                    ^^^^^^
      hint: did you mean TABLES?
    """
    found = list(read_statements(text))
    gathering = Gathering()
    for one in found:
        if isinstance(one, SchemaCoreError):
            gathering.add(one)
    gathering.raise_all()
    return tuple(one for one in found if not isinstance(one, SchemaCoreError))


def read_statements(text: str) -> Iterator[Statement | SchemaCoreError]:
    """Each statement of a text in turn or, where one cannot be parsed, its error.

    After `MAX_ERRORS` errors the rest is not parsed, as the last error reports.
    """
    with within(text):
        cursor = cursor_over(text)
    errors = 0
    while cursor.token.kind != "end" and errors < MAX_ERRORS:
        if cursor.accept(";"):
            continue
        try:
            with within(text):
                yield _up_to_semicolon(cursor)
        except SchemaCoreError as error:
            yield error
            errors += 1
        _recover(cursor)
    if errors == MAX_ERRORS and cursor.token.kind != "end":
        yield SchemaError(
            f"{MAX_ERRORS:,} statements cannot be parsed, and the rest of the text is not checked",
            code="too-many-errors",
            hint="correct these statements first",
            span=cursor.token.span,
            text=text,
        )


def _up_to_semicolon(cursor: Cursor) -> Statement:
    cursor.depth = 0
    one = statement(cursor)
    if cursor.key != ";":
        _expect_end(cursor)
    return one


def _recover(cursor: Cursor) -> None:
    """Step to the semicolon behind a mistake; behind a whole statement that is the next token."""
    while cursor.key != ";" and cursor.token.kind != "end":
        cursor.advance()


def _expect_end(cursor: Cursor) -> None:
    if cursor.token.kind != "end":
        raise refuse(cursor, "the end of the statement")


def statement(cursor: Cursor) -> Statement:
    """A statement; stops at the first token that is not its own."""
    read = STATEMENTS.get(cursor.key)
    if read is None:
        raise refuse(cursor, "a statement")
    return read(cursor)


# ------------------------------------------------------------------------------------- sessions


def _use(cursor: Cursor) -> Statement:
    start = cursor.expect("USE").start
    if cursor.key == "CATALOG" and cursor.peek().kind in ("word", "name"):
        cursor.advance()
        return UseCatalog(simple_name(cursor), cursor.span_from(start))
    if cursor.accept("MODULES"):
        return UseModules(simple_names(cursor), cursor.span_from(start))
    return UseDatabase(path_name(cursor), cursor.span_from(start))


def _load(cursor: Cursor) -> Statement:
    start = cursor.expect("LOAD").start
    cursor.expect("MODULE")
    name = identifier(cursor)
    return LoadModule(name, with_options(cursor), cursor.span_from(start))


def _unload(cursor: Cursor) -> Statement:
    start = cursor.expect("UNLOAD").start
    cursor.expect("MODULE")
    return UnloadModule(identifier(cursor), cursor.span_from(start))


def _set(cursor: Cursor) -> Statement:
    start = cursor.expect("SET").start
    if cursor.token.kind == "end" or cursor.key == ";":
        return SetOption(span=cursor.span_from(start))
    key = _unquoted(cursor, "=")
    cursor.expect("=")
    return SetOption(key, _unquoted(cursor, ";"), cursor.span_from(start))


def _reset(cursor: Cursor) -> Statement:
    start = cursor.expect("RESET").start
    key = None if cursor.token.kind == "end" or cursor.key == ";" else _unquoted(cursor, ";")
    return ResetOption(key, cursor.span_from(start))


def _unquoted(cursor: Cursor, before: str) -> str:
    """A text in quotes, or what stands before a symbol without a blank in it."""
    if cursor.token.kind == "string":
        return string(cursor)
    start = stop = cursor.token.start
    while cursor.token.start == stop and cursor.key != before and cursor.token.kind != "end":
        stop = cursor.advance().stop
    if stop == start:
        raise refuse(cursor, "an option or its value")
    return cursor.text[start:stop]


def _jar(cursor: Cursor) -> Statement:
    start, word = cursor.token.start, cursor.advance().key
    cursor.expect("JAR")
    return Jar(string(cursor), word == "REMOVE", cursor.span_from(start))


# ----------------------------------------------------------------------------------------- data


def _select(cursor: Cursor) -> SelectStatement:
    start = cursor.token.start
    return SelectStatement(query(cursor), cursor.span_from(start))


def _insert(cursor: Cursor) -> Insert:
    start = cursor.expect("INSERT").start
    overwrite = one_of(cursor, "INTO", "OVERWRITE") == "OVERWRITE"
    path = path_name(cursor)
    found_hints = hints(cursor)
    chosen = partition(cursor) if cursor.key == "PARTITION" else None
    columns: tuple[Name, ...] = ()
    if cursor.key == "(" and cursor.peek().key not in (*OPENING, "("):
        columns = listed(cursor, path_name)
    source = query(cursor)
    span = cursor.span_from(start)
    return Insert(path, source, columns, chosen, overwrite, found_hints, span)


def _delete(cursor: Cursor) -> Statement:
    start = cursor.expect("DELETE").start
    cursor.expect("FROM")
    path = path_name(cursor)
    alias = table_alias(cursor)
    condition = expression(cursor) if cursor.accept("WHERE") else None
    return Delete(path, condition, alias, cursor.span_from(start))


def _update(cursor: Cursor) -> Statement:
    start = cursor.expect("UPDATE").start
    path = path_name(cursor)
    alias = table_alias(cursor)
    cursor.expect("SET")
    assignments = [_assignment(cursor)]
    while cursor.accept(","):
        assignments.append(_assignment(cursor))
    condition = expression(cursor) if cursor.accept("WHERE") else None
    return Update(path, tuple(assignments), condition, alias, cursor.span_from(start))


def _assignment(cursor: Cursor) -> tuple[Name, Expression]:
    column = path_name(cursor)
    cursor.expect("=")
    return column, expression(cursor)


def _statement_set(cursor: Cursor, start: int) -> StatementSet:
    """What follows STATEMENT: ``SET BEGIN insert; ... END``."""
    cursor.expect("SET", "BEGIN")
    inserts: list[Insert] = []
    while not inserts or cursor.key == "INSERT":
        inserts.append(_insert(cursor))
        cursor.expect(";")
    cursor.expect("END")
    return StatementSet(tuple(inserts), cursor.span_from(start))


def _execute(cursor: Cursor) -> Statement:
    start = cursor.expect("EXECUTE").start
    if cursor.accept("STATEMENT"):
        return _statement_set(cursor, start)
    if cursor.key == "INSERT":
        return Execute(_insert(cursor), cursor.span_from(start))
    return Execute(_select(cursor), cursor.span_from(start))


def _explain(cursor: Cursor) -> Statement:
    start = cursor.expect("EXPLAIN").start
    details: list[str] = []
    if not cursor.accept("PLAN", "FOR"):
        while cursor.key in DETAILS:
            details.append(cursor.advance().key)
            if not cursor.accept(","):
                break
    inner = cursor.token.start
    if cursor.accept("STATEMENT"):
        explained: Statement = _statement_set(cursor, inner)
        return Explain(explained, tuple(details), cursor.span_from(start))
    if cursor.key not in EXPLAINED:
        raise refuse(cursor, "a query or a statement that writes")
    return Explain(statement(cursor), tuple(details), cursor.span_from(start))


def _analyze(cursor: Cursor) -> Statement:
    start = cursor.expect("ANALYZE").start
    cursor.expect("TABLE")
    path = path_name(cursor)
    chosen = partition_or_keys(cursor) if cursor.key == "PARTITION" else None
    cursor.expect("COMPUTE", "STATISTICS")
    columns: tuple[Name, ...] = ()
    every = False
    if cursor.accept("FOR"):
        every = cursor.accept("ALL", "COLUMNS")
        if not every:
            cursor.expect("COLUMNS")
            columns = tuple(_column_names(cursor))
    return AnalyzeTable(path, chosen, columns, every, cursor.span_from(start))


def _column_names(cursor: Cursor) -> Iterator[Name]:
    yield simple_name(cursor)
    while cursor.accept(","):
        yield simple_name(cursor)


def _truncate(cursor: Cursor) -> Statement:
    start = cursor.expect("TRUNCATE").start
    cursor.expect("TABLE")
    return TruncateTable(path_name(cursor), cursor.span_from(start))


def _call(cursor: Cursor) -> Statement:
    start = cursor.expect("CALL").start
    path = path_name(cursor)
    if cursor.key != "(":
        raise refuse(cursor, "the arguments of the procedure")
    inner = called(cursor, path.parts, "").arguments
    return CallProcedure(path, inner, cursor.span_from(start))


#: First word of a statement -> how to read it.
STATEMENTS: dict[str, Callable[[Cursor], Statement]] = {
    "CREATE":    create,
    "REPLACE":   replace,
    "DROP":      drop,
    "ALTER":     alter,
    "USE":       _use,
    "SHOW":      show,
    "DESCRIBE":  describe,
    "DESC":      describe,
    "EXPLAIN":   _explain,
    "SELECT":    _select,
    "WITH":      _select,
    "VALUES":    _select,
    "VALUE":     _select,
    "TABLE":     _select,
    "(":         _select,
    "INSERT":    _insert,
    "DELETE":    _delete,
    "UPDATE":    _update,
    "EXECUTE":   _execute,
    "ANALYZE":   _analyze,
    "TRUNCATE":  _truncate,
    "CALL":      _call,
    "SET":       _set,
    "RESET":     _reset,
    "LOAD":      _load,
    "UNLOAD":    _unload,
    "ADD":       _jar,
    "REMOVE":    _jar,
}  # fmt: skip

#: First words of what EXPLAIN explains.
EXPLAINED = frozenset(
    {"SELECT", "WITH", "VALUES", "VALUE", "TABLE", "(", "INSERT", "DELETE", "UPDATE", "EXECUTE",
     "CREATE", "REPLACE"}
)  # fmt: skip
