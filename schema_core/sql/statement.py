"""Grammar of statements other than definitions (`sql.ddl`).

It is Flink 2.3's (Flink documentation, "SQL Reference").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schema_core.base.keywords import QUERYING, WRITING
from schema_core.sql import literals
from schema_core.sql import statement_syntax as nodes
from schema_core.sql.ddl import (
    alter,
    comment_on,
    create,
    drop,
    from_or_in,
    one_of,
    parse_list,
    partition,
    replace_table,
    with_options,
)
from schema_core.sql.expression import QueryCursor, expression, parse_call, path_name, simple_name
from schema_core.sql.query import alias, hints, query
from schema_core.sql.syntax import Expression, Name, TypeName
from schema_core.sql.tokens import identifier, parse_separated, refuse, string
from schema_core.sql.type_name import type_name

DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


def statement(cursor: QueryCursor) -> nodes.Statement:
    """Parse a statement, up to the first token that does not belong to it."""
    read = STATEMENTS.get(cursor.key)
    if read is None and cursor.is_migration:
        read = OF_MIGRATIONS.get(cursor.key)
    if read is None:
        raise refuse(cursor, "a statement")
    return read(cursor)


# ------------------------------------------------------------------------------------- sessions


def _use(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("USE").start
    if cursor.key == "CATALOG" and cursor.peek().kind in ("word", "name"):
        cursor.advance()
        return nodes.UseCatalog(simple_name(cursor), cursor.span_from(start))
    if cursor.accept("MODULES"):
        return nodes.UseModules(parse_separated(cursor, identifier), cursor.span_from(start))
    return nodes.UseDatabase(path_name(cursor), cursor.span_from(start))


def _set(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("SET").start
    if cursor.token.kind == "end" or cursor.key == ";":
        return nodes.SetOption(span=cursor.span_from(start))
    is_quoted = cursor.token.kind in literals.STRINGS
    key = _parse_option_text(cursor, "=")
    cursor.expect("=")
    if is_quoted and cursor.token.kind not in literals.STRINGS:
        raise refuse(cursor, "a string in single quotes")
    return nodes.SetOption(key, _parse_option_text(cursor, ";"), cursor.span_from(start))


def _reset(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("RESET").start
    is_plain = cursor.token.kind == "end" or cursor.key == ";"
    key = None if is_plain else _parse_option_text(cursor, ";")
    return nodes.ResetOption(key, cursor.span_from(start))


def _parse_option_text(cursor: QueryCursor, before: str) -> str:
    """Parse a string, or the characters before a symbol or blank."""
    if cursor.token.kind in literals.STRINGS:
        return literals.string_in_pieces(cursor)
    start = stop = cursor.token.start
    while cursor.token.start == stop and cursor.key != before and cursor.token.kind != "end":
        if cursor.token.kind == "bad" and cursor.token.value[0] == "'":  # an unterminated string
            break
        stop = cursor.advance().stop
    if stop == start or (cursor.token.kind == "bad" and cursor.token.value[0] == "'"):
        raise refuse(cursor, "an option or its value")
    return cursor.text[start:stop]


# ----------------------------------------------------------------------------------------- data


def _select(cursor: QueryCursor) -> nodes.SelectStatement:
    start = cursor.token.start
    return nodes.SelectStatement(query(cursor), cursor.span_from(start))


def _insert(cursor: QueryCursor) -> nodes.Insert:
    upsert = cursor.key == "UPSERT"
    start = cursor.expect("UPSERT" if upsert else "INSERT").start
    overwrite = one_of(cursor, *(("INTO",) if upsert else ("INTO", "OVERWRITE"))) == "OVERWRITE"
    path = path_name(cursor)
    own_hints = hints(cursor)
    chosen = partition(cursor) if cursor.key == "PARTITION" else None
    columns: tuple[Name, ...] = ()
    types: tuple[TypeName, ...] = ()
    if cursor.key == "(" and cursor.peek().key not in QUERYING | {"("}:
        columns, types = _target_columns(cursor)
    source = query(cursor)
    on_conflict = None
    if cursor.accept("ON"):
        cursor.expect("CONFLICT", "DO")
        on_conflict = one_of(cursor, *CONFLICTS)
    return nodes.Insert(
        path, source, columns, chosen, overwrite, own_hints, on_conflict, types, upsert,
        cursor.span_from(start),
    )  # fmt: skip


#: What INSERT does with rows whose key exists.
CONFLICTS = ("NOTHING", "ERROR", "DEDUPLICATE")


def _target_columns(cursor: QueryCursor) -> tuple[tuple[Name, ...], tuple[TypeName, ...]]:
    """Parse the columns of an INSERT, with types or without."""
    types: list[TypeName] = []

    def column(inner: QueryCursor) -> Name:
        name = path_name(inner)
        if types or inner.key not in (",", ")"):
            types.append(type_name(inner))
        return name

    names = parse_list(cursor, column)
    if types and len(types) < len(names):
        raise cursor.fail("columns with and without types cannot be mixed", span=names[0].span)
    return names, tuple(types)


def _delete(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("DELETE").start
    cursor.expect("FROM")
    path = path_name(cursor)
    name = alias(cursor)
    condition = expression(cursor) if cursor.accept("WHERE") else None
    return nodes.Delete(path, condition, name, cursor.span_from(start))


def _update(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("UPDATE").start
    path = path_name(cursor)
    name = alias(cursor)
    cursor.expect("SET")
    assignments = parse_separated(cursor, _assignment)
    condition = expression(cursor) if cursor.accept("WHERE") else None
    return nodes.Update(path, assignments, condition, name, cursor.span_from(start))


def _assignment(cursor: QueryCursor) -> tuple[Name, Expression]:
    column = simple_name(cursor)
    cursor.expect("=")
    return column, expression(cursor)


def _statement_set(cursor: QueryCursor, start: int) -> nodes.StatementSet:
    cursor.expect("SET", "BEGIN")
    inserts: list[nodes.Insert] = []
    while not inserts or cursor.key in WRITING:
        inserts.append(_insert(cursor))
        cursor.expect(";")
    cursor.expect("END")
    return nodes.StatementSet(tuple(inserts), cursor.span_from(start))


def _stop(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("STOP").start
    cursor.expect("JOB")
    job_id = string(cursor)
    with_savepoint = cursor.accept("WITH", "SAVEPOINT")
    with_drain = with_savepoint and cursor.accept("WITH", "DRAIN")
    return nodes.StopJob(job_id, with_savepoint, with_drain, cursor.span_from(start))


def _compile(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("COMPILE").start
    execute = cursor.accept("AND", "EXECUTE")
    cursor.expect("PLAN")
    path = literals.string_in_pieces(cursor)
    if_not_exists = not execute and cursor.accept("IF", "NOT", "EXISTS")
    cursor.expect("FOR")
    inner = cursor.token.start
    if cursor.accept("STATEMENT"):
        compiled: nodes.Insert | nodes.StatementSet = _statement_set(cursor, inner)
    elif cursor.key in WRITING:
        compiled = _insert(cursor)
    else:
        raise refuse(cursor, "INSERT or STATEMENT SET")
    return nodes.CompilePlan(path, compiled, if_not_exists, execute, cursor.span_from(start))


def _execute(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("EXECUTE").start
    if cursor.accept("PLAN"):
        return nodes.ExecutePlan(literals.string_in_pieces(cursor), cursor.span_from(start))
    if cursor.accept("STATEMENT"):
        return _statement_set(cursor, start)
    if cursor.key in WRITING:
        return nodes.Execute(_insert(cursor), cursor.span_from(start))
    return nodes.Execute(_select(cursor), cursor.span_from(start))


def _explain(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("EXPLAIN").start
    details: tuple[str, ...] = ()
    if not cursor.accept("PLAN", "FOR") and cursor.key in DETAILS:
        first = cursor.token.start
        details = parse_separated(cursor, lambda cursor: one_of(cursor, *DETAILS))
        if twice := [detail for detail in details if details.count(detail) > 1]:
            problem = f"duplicate EXPLAIN detail {twice[0]}"
            raise cursor.fail(problem, span=cursor.span_from(first))
    inner = cursor.token.start
    if cursor.accept("STATEMENT"):
        explained: nodes.Statement = _statement_set(cursor, inner)
        return nodes.Explain(explained, details, cursor.span_from(start))
    is_plan = cursor.key == "EXECUTE" and cursor.peek().key == "PLAN"
    if cursor.key not in EXPLAINED or is_plan:
        raise refuse(cursor, "a query or a statement that writes")
    match explained := statement(cursor):
        case nodes.SelectStatement() | nodes.Insert() | nodes.StatementSet() | nodes.Execute():
            pass
        case nodes.CreateTable(query=created) if created is not None:
            pass
        case _:
            raise cursor.fail(
                "EXPLAIN supports only queries, INSERT, statement sets and CREATE TABLE AS",
                code="feature-not-supported",
                span=cursor.span_from(inner),
            )
    return nodes.Explain(explained, details, cursor.span_from(start))


def _analyze(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("ANALYZE").start
    cursor.expect("TABLE")
    path = path_name(cursor)
    chosen = partition(cursor, keys_allowed=True) if cursor.key == "PARTITION" else None
    cursor.expect("COMPUTE", "STATISTICS")
    columns: tuple[Name, ...] = ()
    every = False
    if cursor.accept("FOR"):
        every = cursor.accept("ALL", "COLUMNS")
        if not every:
            cursor.expect("COLUMNS")
            columns = parse_separated(cursor, simple_name)
    return nodes.AnalyzeTable(path, chosen, columns, every, cursor.span_from(start))


def _call(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("CALL").start
    path = path_name(cursor)
    if cursor.key != "(":
        raise refuse(cursor, "the arguments of the procedure")
    if cursor.peek().key in ("DISTINCT", "ALL", "*"):
        cursor.index += 1
        raise refuse(cursor, "an argument or ')'")
    inner = parse_call(cursor, path.parts, "").arguments
    return nodes.CallProcedure(path, inner, cursor.span_from(start))


# --- SHOW and DESCRIBE ----------------------------------------------------------------------------


#: Kinds of SHOW CREATE.
PRINTABLE = (
    nodes.ObjectKind.TABLE, nodes.ObjectKind.VIEW, nodes.ObjectKind.MATERIALIZED_TABLE,
    nodes.ObjectKind.CATALOG, nodes.ObjectKind.MODEL, nodes.ObjectKind.CONNECTION,
)  # fmt: skip

#: Keyword after DESCRIBE -> kind; without one it is a table or view.
DESCRIBED = {
    "CATALOG": nodes.ObjectKind.CATALOG,
    "DATABASE": nodes.ObjectKind.DATABASE,
    "FUNCTION": nodes.ObjectKind.FUNCTION,
    "MODEL": nodes.ObjectKind.MODEL,
    "CONNECTION": nodes.ObjectKind.CONNECTION,
}


def show(cursor: QueryCursor) -> nodes.Statement:
    """Parse a SHOW statement."""
    start = cursor.expect("SHOW").start
    if cursor.accept("CREATE"):
        return _show_create(cursor, start)
    for subject in nodes.SHOW_SUBJECTS:
        if cursor.accept(*subject.words.split()):
            break
    else:
        raise refuse(cursor, "an object of SHOW")
    preposition, path = from_or_in(cursor) if subject.place else (None, None)
    if subject.words == "COLUMNS" and path is None:
        raise refuse(cursor, "FROM or IN")
    if subject.table:
        path = path_name(cursor)
    pattern = None
    negated = cursor.peek().key in subject.like and cursor.accept("NOT")
    for word in subject.like:
        if cursor.accept(word):
            pattern = nodes.Pattern(string(cursor), word == "ILIKE", negated)
    chosen = partition(cursor) if subject.table and cursor.key == "PARTITION" else None
    return nodes.Show(subject.words, path, preposition, pattern, chosen, cursor.span_from(start))


def _show_create(cursor: QueryCursor, start: int) -> nodes.Statement:
    or_alter = cursor.accept("OR", "ALTER")
    kinds = (nodes.ObjectKind.MATERIALIZED_TABLE,) if or_alter else PRINTABLE
    for kind in kinds:
        if cursor.accept(*kind.value.split()):
            return nodes.ShowCreate(kind, path_name(cursor), or_alter, cursor.span_from(start))
    *first, last = (kind.value for kind in kinds)
    raise refuse(cursor, f"{', '.join(first)} or {last}" if first else last)


def describe(cursor: QueryCursor) -> nodes.Statement:
    """Parse a DESCRIBE or DESC statement."""
    start = cursor.advance().start
    if cursor.key == "JOB" and cursor.peek().key != ".":
        cursor.advance()
        return nodes.DescribeJob(string(cursor), cursor.span_from(start))
    kind = nodes.ObjectKind.TABLE
    named = cursor.peek().kind in ("word", "name", "reserved")
    if cursor.key in DESCRIBED and named:
        kind = DESCRIBED[cursor.advance().key]
    extended = cursor.accept("EXTENDED")
    path = simple_name(cursor) if kind == nodes.ObjectKind.CATALOG else path_name(cursor)
    return nodes.Describe(kind, path, extended, cursor.span_from(start))


# --- dispatch -------------------------------------------------------------------------------------


def _plain(
    words: str, build: Callable[..., nodes.Statement], *parts: Callable[[QueryCursor], object]
) -> Callable[[QueryCursor], nodes.Statement]:
    """Return a parser of keywords and the parts after them."""

    def parse(cursor: QueryCursor) -> nodes.Statement:
        start = cursor.token.start
        cursor.expect(*words.split())
        arguments = [parse_part(cursor) for parse_part in parts]
        return build(*arguments, span=cursor.span_from(start))

    return parse


#: First word of a statement -> parser.
STATEMENTS: dict[str, Callable[[QueryCursor], nodes.Statement]] = {
    **dict.fromkeys((*QUERYING, "("), _select),
    **dict.fromkeys(WRITING, _insert),
    "CREATE":    create,
    "REPLACE":   replace_table,
    "DROP":      drop,
    "ALTER":     alter,
    "USE":       _use,
    "SHOW":      show,
    "DESCRIBE":  describe,
    "DESC":      describe,
    "EXPLAIN":   _explain,
    "DELETE":    _delete,
    "UPDATE":    _update,
    "EXECUTE":   _execute,
    "COMPILE":   _compile,
    "ANALYZE":   _analyze,
    "TRUNCATE":  _plain("TRUNCATE TABLE", nodes.TruncateTable, path_name),
    "CALL":      _call,
    "SET":       _set,
    "RESET":     _reset,
    "LOAD":      _plain("LOAD MODULE", nodes.LoadModule, identifier, with_options),
    "UNLOAD":    _plain("UNLOAD MODULE", nodes.UnloadModule, identifier),
    "ADD":       _plain("ADD JAR", nodes.Jar, string),
    "REMOVE":    _plain("REMOVE JAR", partial(nodes.Jar, remove=True), string),
    "BEGIN":     _plain("BEGIN STATEMENT SET", nodes.BeginStatementSet),
    "END":       _plain("END", nodes.EndStatementSet),
    "STOP":      _stop,
}  # fmt: skip

#: The same for statements that only migrations have.
OF_MIGRATIONS = {"COMMENT": comment_on}

#: First words of the statements that EXPLAIN accepts.
EXPLAINED = QUERYING | WRITING | {"(", "EXECUTE", "CREATE", "REPLACE"}
