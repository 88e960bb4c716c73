"""DESCRIBE: what a table, a catalog, a database, a function or a model is, as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from schema_core.catalog.functions import FoundFunction, FunctionClass, Place
from schema_core.catalog.objects import CatalogBaseTable, CatalogFunction
from schema_core.catalog.registry import masked_configuration
from schema_core.environment.operations.show_create import extras_of, written
from schema_core.environment.result import TableResult, texts
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.expressions.signatures import Function
from schema_core.paths import UnresolvedPath
from schema_core.schema.columns import UnresolvedColumn, UnresolvedComputedColumn
from schema_core.schema.resolved import AnyColumn, ResolvedSchema
from schema_core.sql.statement_syntax import Describe, ObjectKind
from schema_core.types import DataType, DataTypes, parse_type

#: The columns of a described table, without the comment.
COLUMNS = ("name", "type", "null", "key", "extras", "watermark")


def describe(session: Session, statement: Describe, text: str) -> TableResult:
    """The rows about what the path names."""
    with placed(statement.path.span):
        match statement.kind:
            case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
                return _table(session, statement)
            case ObjectKind.CATALOG:
                return _catalog(session, statement)
            case ObjectKind.DATABASE:
                return _database(session, statement)
            case ObjectKind.FUNCTION:
                return _function(session, statement)
            case ObjectKind.MODEL:
                return _model(session, statement)
            case _:
                assert_never(statement.kind)


def _table(session: Session, statement: Describe) -> TableResult:
    try:
        return described_columns(session.found(statement.path).table.resolved_schema)
    except SchemaCoreError as error:
        stored = session.tables.stored(session.identifier(statement.path))
        if stored is None:
            raise
        return _described_as_stored(stored, error)


def _described_as_stored(stored: CatalogBaseTable, error: SchemaCoreError) -> TableResult:
    """One row per column of a table that no longer resolves, without the types of its functions.

    The type of a computed column is NULL, and the extras of each invalid column hold the reason.
    """
    schema = stored.schema
    reasons = {place: one.message for one in error.diagnostics for place in one.path}
    marks = {one.column_name: written(one.watermark_expression) for one in schema.watermark_specs}
    keys = schema.primary_key.column_names if schema.primary_key else ()
    rows: list[tuple[Any, ...]] = []
    for column in schema.columns:
        type_, nullable = _stored_type(column)
        extras = extras_of(column)
        if reason := reasons.get(f"column {column.name!r}"):
            extras = f"{extras or ''} ({reason})".strip()
        of_key = f"PRI({', '.join(keys)})" if column.name in keys else None
        mark = marks.get(column.name)
        rows.append((column.name, type_, nullable, of_key, extras, mark, column.comment))
    commented = any(column.comment is not None for column in schema.columns)
    return _of_columns(rows if commented else [row[:-1] for row in rows], commented)


def _stored_type(column: AnyColumn | UnresolvedColumn) -> tuple[str | None, bool | None]:
    """The type and nullability of a stored column, as far as its stored text determines them."""
    if isinstance(column, UnresolvedComputedColumn):
        return None, None
    type_ = column.data_type
    if isinstance(type_, str):
        try:
            type_ = parse_type(type_)
        except SchemaCoreError:  # the name of a type that is gone
            return str(type_), None
    if not isinstance(type_, DataType):
        return str(type_), None
    return type_.nullable().as_summary_string(), type_.is_nullable


def described_columns(
    schema: ResolvedSchema, wanted: Callable[[str], bool] = lambda _: True
) -> TableResult:
    """A row a column: name, type, whether it may be NULL, key, extras, watermark, comment.

    There is a column of comments only where some column of the table has one.
    """
    chosen = [column for column in schema.columns if wanted(column.name)]
    rows = [_row(schema, column) for column in chosen]
    commented = any(column.comment is not None for column in schema.columns)
    if commented:
        rows = [(*row, column.comment) for row, column in zip(rows, chosen, strict=True)]
    return _of_columns(rows, commented)


def _of_columns(rows: list[tuple[Any, ...]], commented: bool) -> TableResult:
    names = [*COLUMNS, *(["comment"] if commented else [])]
    types = [DataTypes.BOOLEAN() if name == "null" else DataTypes.STRING() for name in names]
    return TableResult(ResolvedSchema.physical(names, types), rows)


def _row(schema: ResolvedSchema, column: AnyColumn) -> tuple[Any, ...]:
    key = schema.primary_key
    of_key = f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else None
    watermark = next(
        (
            spec.watermark_expression.as_summary_string()
            for spec in schema.watermark_specs
            if spec.rowtime_attribute == column.name
        ),
        None,
    )
    type_ = column.data_type
    shown = type_.nullable().as_summary_string()
    return (column.name, shown, type_.is_nullable, of_key, column.explain_extras(), watermark)


def _catalog(session: Session, statement: Describe) -> TableResult:
    descriptor = session.registry.descriptor(statement.path.parts[-1])
    options = masked_configuration(descriptor)
    rows = [
        ("name", descriptor.catalog_name),
        ("type", options.get("type")),
        ("comment", descriptor.comment),
    ]
    if statement.extended:
        rows += [(f"option:{key}", options[key]) for key in sorted(options) if key != "type"]
    return texts(["info name", "info value"], rows)


def _database(session: Session, statement: Describe) -> TableResult:
    """Refused, as Flink does: its grammar has the statement, but nothing behind it."""
    catalog, name = session.database(statement.path)
    session.registry.get(catalog).get_database(name)
    raise UnsupportedError(
        "DESCRIBE DATABASE is not supported",
        code="statement-not-supported",
        hint="ask the catalog: environment.get_catalog(...).get_database(...)",
    )


def _function(session: Session, statement: Describe) -> TableResult:
    found = session.functions.get(UnresolvedPath(statement.path.parts))
    temporary = found.place in (Place.TEMPORARY, Place.TEMPORARY_SYSTEM)
    system = found.place in (Place.SYSTEM, Place.TEMPORARY_SYSTEM)
    rows = [
        ("is system function", str(system).lower()),
        ("is temporary", str(temporary).lower()),
        *([] if system else _of_class(found)),
    ]
    if statement.extended:
        rows += _of_calls(found, session.functions.rows(found))
    return texts(["info name", "info value"], rows)


def _of_class(found: FoundFunction) -> list[tuple[str, str]]:
    match found.definition:
        case CatalogFunction(class_name, language, resources):
            return [
                ("class name", class_name),
                ("function language", language.value),
                ("resource uris", f"[{', '.join(f'{one.kind} {one.uri}' for one in resources)}]"),
            ]
        case FunctionClass() | tuple():
            return []


def _of_calls(found: FoundFunction, rows: tuple[Function, ...]) -> list[tuple[str, str]]:
    """How a function is called."""
    deterministic = str(all(one.deterministic for one in rows)).lower()
    name = ".".join(found.path)
    signatures = (
        ", ".join(f"arg{number} => {one.label}" for number, one in enumerate(row.parameters))
        for row in rows
    )
    return [
        ("kind", rows[0].kind.name),
        ("requirements", "[]"),
        ("is deterministic", deterministic),
        ("supports constant folding", deterministic),
        ("signature", "\n".join(f"{name}({arguments})" for arguments in signatures)),
    ]


def _model(session: Session, statement: Describe) -> TableResult:
    """One row per column, from the stored text of a model that no longer resolves."""
    identifier = session.identifier(statement.path)
    columns: list[tuple[AnyColumn | UnresolvedColumn, str]]
    try:
        model = session.models.get(identifier)
        columns = [
            *((column, "true") for column in model.resolved_input_schema.columns),
            *((column, "false") for column in model.resolved_output_schema.columns),
        ]
    except SchemaCoreError:
        stored = session.models.stored(identifier)
        if stored is None:
            raise
        columns = [
            *((column, "true") for column in stored.input_schema.columns),
            *((column, "false") for column in stored.output_schema.columns),
        ]
    commented = any(column.comment is not None for column, _ in columns)
    rows = []
    for column, is_input in columns:
        type_, nullable = _stored_type(column)
        null = None if nullable is None else str(nullable).lower()
        comment = [column.comment] if commented else []
        rows.append((column.name, type_, null, is_input, *comment))
    return texts(["name", "type", "null", "is input", *(["comment"] if commented else [])], rows)
