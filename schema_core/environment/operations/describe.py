"""DESCRIBE: what a table, a catalog, a database, a function or a model is, as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from schema_core.catalog.functions import FoundFunction, FunctionClass, Place
from schema_core.catalog.objects import CatalogFunction
from schema_core.environment.result import TableResult, texts
from schema_core.environment.session import Session, placed
from schema_core.errors import UnsupportedError
from schema_core.expressions.signatures import Function
from schema_core.paths import UnresolvedPath
from schema_core.schema.resolved import AnyColumn, ResolvedSchema
from schema_core.secrets import mask
from schema_core.sql.statement_syntax import Describe, ObjectKind
from schema_core.types import DataTypes

#: The columns of a described table, without the comment.
COLUMNS = ("name", "type", "null", "key", "extras", "watermark")


def describe(session: Session, statement: Describe, text: str) -> TableResult:
    """The rows about what the path names."""
    with placed(statement.path.span):
        match statement.kind:
            case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
                return described_columns(session.found(statement.path).table.resolved_schema)
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
    options = mask(descriptor.configuration)
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
        ", ".join(f"arg{number} => {one.shown}" for number, one in enumerate(row.takes))
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
    model = session.models.get(session.identifier(statement.path))
    columns = [
        *((column, "true") for column in model.resolved_input_schema.columns),
        *((column, "false") for column in model.resolved_output_schema.columns),
    ]
    commented = any(column.comment is not None for column, _ in columns)
    rows = [
        (
            column.name,
            column.data_type.nullable().as_summary_string(),
            str(column.data_type.is_nullable).lower(),
            is_input,
            *([column.comment] if commented else []),
        )
        for column, is_input in columns
    ]
    return texts(["name", "type", "null", "is input", *(["comment"] if commented else [])], rows)
