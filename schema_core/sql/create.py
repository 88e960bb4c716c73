"""CREATE and DROP, read: tables, views, catalogs, databases, functions, models.

The grammar is that of Flink 2.3 (Flink documentation, "CREATE Statements", "DROP Statements").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schema_core.sql.clauses import (
    comment,
    if_exists,
    if_not_exists,
    interval,
    listed,
    one_of,
    with_options,
)
from schema_core.sql.columns import columns, distribution, elements, like
from schema_core.sql.definition_syntax import Elements, Resource
from schema_core.sql.expression import expression
from schema_core.sql.query import path_name, query, simple_name
from schema_core.sql.statement_rules import check_constraints, check_model, check_table
from schema_core.sql.statement_syntax import (
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateMaterializedTable,
    CreateModel,
    CreateTable,
    CreateView,
    Drop,
    ObjectKind,
    Statement,
)
from schema_core.sql.syntax import Call
from schema_core.sql.tokens import refuse, string
from schema_core.text import Cursor

LANGUAGES = ("JAVA", "SCALA", "SQL", "PYTHON")
RESOURCES = ("JAR", "ARTIFACT")

#: Where the first refresh of a materialized table begins; some take a moment in parentheses.
START_MODES = (
    "FROM_BEGINNING", "FROM_NOW", "FROM_TIMESTAMP", "RESUME_OR_FROM_BEGINNING",
    "RESUME_OR_FROM_NOW", "RESUME_OR_FROM_TIMESTAMP",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Opening:
    """The words between CREATE and what is created."""

    start: int
    temporary: bool = False
    system: bool = False
    or_replace: bool = False
    or_alter: bool = False


def create(cursor: Cursor) -> Statement:
    """A statement that begins with CREATE."""
    start = cursor.expect("CREATE").start
    or_replace = cursor.accept("OR", "REPLACE")
    or_alter = not or_replace and cursor.accept("OR", "ALTER")
    temporary = cursor.accept("TEMPORARY")
    system = cursor.accept("SYSTEM")
    opening = Opening(start, temporary, system, or_replace, or_alter)
    creation = CREATIONS.get(cursor.key)
    if creation is None or not _allowed(opening, cursor.key):
        raise refuse(cursor, "what to create")
    cursor.advance()
    return creation(cursor, opening)


def _allowed(opening: Opening, kind: str) -> bool:
    """Whether the words before the kind go with it; those that mean nothing there are let pass."""
    return (
        (not opening.or_alter or kind == "MATERIALIZED")
        and (kind != "MATERIALIZED" or not (opening.temporary or opening.or_replace))
        and (not opening.system or (kind == "FUNCTION" and opening.temporary))
    )


def replace(cursor: Cursor) -> Statement:
    """``REPLACE TABLE ... AS query``."""
    start = cursor.expect("REPLACE").start
    cursor.expect("TABLE")
    found = _create_table(cursor, Opening(start, or_replace=True), create=False)
    if found.query is None:
        raise refuse(cursor, "AS and a query")
    return found


# --------------------------------------------------------------------------------------- tables


def _table(cursor: Cursor, opening: Opening) -> Statement:
    return _create_table(cursor, opening)


def _create_table(cursor: Cursor, opening: Opening, *, create: bool = True) -> CreateTable:
    unless = if_not_exists(cursor)
    found = CreateTable(
        path=path_name(cursor),
        elements=elements(cursor) if cursor.key == "(" else Elements(),
        comment=comment(cursor),
        distribution=distribution(cursor) if cursor.accept("DISTRIBUTED") else None,
        partition_keys=listed(cursor, simple_name) if cursor.accept("PARTITIONED", "BY") else (),
        options=with_options(cursor),
        like=like(cursor) if cursor.accept("LIKE") else None,
        query=query(cursor) if cursor.accept("AS") else None,
        temporary=opening.temporary,
        if_not_exists=unless,
        or_replace=opening.or_replace,
        create=create,
        span=cursor.span_from(opening.start),
    )
    if found.like is not None and found.query is not None:
        raise cursor.fail("LIKE and AS exclude each other", span=found.like.span)
    check_table(found)
    return found


def _materialized_table(cursor: Cursor, opening: Opening) -> Statement:
    cursor.expect("TABLE")
    path = path_name(cursor)
    inner = elements(cursor) if cursor.key == "(" else Elements()
    note = comment(cursor)
    spread = distribution(cursor) if cursor.accept("DISTRIBUTED") else None
    keys = listed(cursor, simple_name) if cursor.accept("PARTITIONED", "BY") else ()
    options = with_options(cursor)
    start_mode = _start_mode(cursor) if cursor.accept("START_MODE", "=") else None
    freshness = interval(cursor) if cursor.accept("FRESHNESS", "=") else None
    mode = one_of(cursor, "FULL", "CONTINUOUS") if cursor.accept("REFRESH_MODE", "=") else None
    cursor.expect("AS")
    check_constraints(inner.constraints)
    return CreateMaterializedTable(
        path, query(cursor), inner, note, spread, keys, options, freshness, mode, start_mode,
        opening.or_alter, cursor.span_from(opening.start),
    )  # fmt: skip


def _start_mode(cursor: Cursor) -> Call:
    start, name = cursor.token.start, one_of(cursor, *START_MODES)
    moment = listed(cursor, expression) if cursor.key == "(" else ()
    return Call(name, moment, span=cursor.span_from(start))


def _view(cursor: Cursor, opening: Opening) -> Statement:
    unless = if_not_exists(cursor)
    path = path_name(cursor)
    names = listed(cursor, simple_name) if cursor.key == "(" else ()
    note = comment(cursor)
    cursor.expect("AS")
    return CreateView(
        path, query(cursor), names, note, (), opening.temporary, unless, opening.or_replace,
        cursor.span_from(opening.start),
    )  # fmt: skip


# ------------------------------------------------------------------------------ everything else


def _catalog(cursor: Cursor, opening: Opening) -> Statement:
    unless = if_not_exists(cursor)
    path = simple_name(cursor)
    note = comment(cursor)
    options = with_options(cursor)
    return CreateCatalog(path, note, options, unless, cursor.span_from(opening.start))


def _database(cursor: Cursor, opening: Opening) -> Statement:
    unless = if_not_exists(cursor)
    path = path_name(cursor)
    note = comment(cursor)
    options = with_options(cursor)
    return CreateDatabase(path, note, options, unless, cursor.span_from(opening.start))


def _function(cursor: Cursor, opening: Opening) -> Statement:
    unless = if_not_exists(cursor)
    path = simple_name(cursor) if opening.system else path_name(cursor)
    cursor.expect("AS")
    class_name = string(cursor)
    language = one_of(cursor, *LANGUAGES) if cursor.accept("LANGUAGE") else None
    resources = _resources(cursor) if cursor.accept("USING") else ()
    return CreateFunction(
        path, class_name, language, resources, with_options(cursor), opening.temporary,
        opening.system, unless, cursor.span_from(opening.start),
    )  # fmt: skip


def _resources(cursor: Cursor) -> tuple[Resource, ...]:
    found = []
    while True:
        start = cursor.token.start
        kind = one_of(cursor, *RESOURCES)
        found.append(Resource(kind, string(cursor), cursor.span_from(start)))
        if not cursor.accept(","):
            return tuple(found)


def _model(cursor: Cursor, opening: Opening) -> Statement:
    unless = if_not_exists(cursor)
    found = CreateModel(
        path=path_name(cursor),
        input=columns(cursor) if cursor.accept("INPUT") else (),
        output=columns(cursor) if cursor.accept("OUTPUT") else (),
        comment=comment(cursor),
        options=with_options(cursor),
        query=query(cursor) if cursor.accept("AS") else None,
        temporary=opening.temporary,
        if_not_exists=unless,
        span=cursor.span_from(opening.start),
    )
    check_model(found)
    return found


#: The word behind CREATE -> how to read what follows it.
CREATIONS: dict[str, Callable[[Cursor, Opening], Statement]] = {
    "TABLE":        _table,
    "MATERIALIZED": _materialized_table,
    "VIEW":         _view,
    "CATALOG":      _catalog,
    "DATABASE":     _database,
    "FUNCTION":     _function,
    "MODEL":        _model,
}  # fmt: skip


# ----------------------------------------------------------------------------------------- DROP


def kind_of(cursor: Cursor) -> ObjectKind:
    """The kind of object whose words come next."""
    for kind in ObjectKind:
        if cursor.accept(*kind.value.split()):
            return kind
    raise refuse(cursor, "a kind of object")


def drop(cursor: Cursor) -> Statement:
    """A statement that begins with DROP."""
    start = cursor.expect("DROP").start
    temporary = cursor.accept("TEMPORARY")
    system = cursor.accept("SYSTEM")
    place = cursor.token
    kind = kind_of(cursor)
    if temporary and kind == ObjectKind.MATERIALIZED_TABLE:
        raise cursor.fail("no materialized table is temporary", span=place.span)
    if system and kind != ObjectKind.FUNCTION:
        raise cursor.fail("only functions belong to the system", span=place.span)
    if_there = if_exists(cursor)
    path = path_name(cursor)
    cascade = False
    if kind == ObjectKind.DATABASE:
        cascade = cursor.accept("CASCADE")
        if not cascade:
            cursor.accept("RESTRICT")
    return Drop(kind, path, temporary, system, if_there, cascade, cursor.span_from(start))
