"""SHOW CREATE: the statement that creates an object, with its secrets masked.

Flink does not mask them; `TableEnvironment.get_create_statement` returns the full statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
    ResolvedCatalogMaterializedTable,
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.catalog.registry import masked_configuration
from schema_core.environment.connector import secret_keys
from schema_core.environment.operations.connections import connection_statement
from schema_core.environment.result import TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.environment.views import QueryView, tables_in
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError
from schema_core.masking import mask_query
from schema_core.paths import ObjectIdentifier
from schema_core.schema.columns import (
    ResolvedExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    Written,
)
from schema_core.schema.resolved import AnyColumn, ComputedColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.secrets import mask
from schema_core.sql.parser import parse_query
from schema_core.sql.statement_syntax import ObjectKind, ShowCreate
from schema_core.text import quote_identifier, quote_string
from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class Masking:
    """How secrets are shown in a statement: masked for people, in full for programs.

    `declared` are keys that connectors declare secret, beside those that contain a secret word.
    """

    declared: frozenset[str] = frozenset()
    enabled: bool = True

    def options(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """The options of a table."""
        return mask(options, self.declared) if self.enabled else options

    def query(self, text: str) -> str:
        """The query of a view."""
        return mask_query(text, self.declared) if self.enabled else text


IN_FULL = Masking(enabled=False)


def show_create(session: Session, statement: ShowCreate, text: str) -> TableResult:
    """Return the statement as one row.

    Raises:
        SchemaError: with code `wrong-object-kind` where the object is of another kind.
    """
    with at_span(statement.path.span):
        text = _written(session, statement)
    return string_result(["result"], [(text,)])


def _written(session: Session, statement: ShowCreate) -> str:
    match statement.kind:
        case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
            return _table(session, statement)
        case ObjectKind.CATALOG:
            return catalog_statement(session, statement.path.parts[-1])
        case ObjectKind.MODEL:
            return model_statement(session, statement)
        case ObjectKind.CONNECTION:
            return connection_statement(session, statement.path)
        case ObjectKind.DATABASE | ObjectKind.FUNCTION:
            raise SchemaError(f"SHOW CREATE {statement.kind.value} is not supported", code="syntax")
        case _:
            assert_never(statement.kind)


def _table(session: Session, statement: ShowCreate) -> str:
    identifier = session.identifier(statement.path)

    def require_kind(found: TableKind) -> None:
        right = found.value.replace("_", " ")
        if right != statement.kind.value:
            raise SchemaError(
                f"{identifier.as_summary_string()} is a {right.lower()}",
                code="wrong-object-kind",
                hint=f"write SHOW CREATE {right}",
            )

    text = create_statement(session, identifier, require_kind=require_kind)
    return f"CREATE OR ALTER{text.removeprefix('CREATE')}" if statement.or_alter else text


# --- tables and views ----------------------------------------------------------------------


def create_statement(
    session: Session,
    identifier: ObjectIdentifier,
    *,
    with_secrets: bool = False,
    require_kind: Callable[[TableKind], None] = lambda kind: None,
) -> str:
    """Return the statement of a table or view, from its stored text where it no longer resolves.

    Args:
        session: The session.
        identifier: The path of the object.
        with_secrets: Whether secrets are shown: for programs, not for people.
        require_kind: Called with the kind of the object; raises for one that is not wanted.

    Raises:
        NotFoundError: with code `table-not-found`.
        UnsupportedError: as `table_statement`.
        SchemaCoreError: as `require_kind`.
    """
    try:
        found = session.tables.get(identifier)
    except SchemaCoreError:
        stored = session.tables.stored(identifier)
        if stored is None:
            raise
        require_kind(stored.get_table_kind())
        masking = IN_FULL if with_secrets else _masking(session, stored)
        return stored_statement(identifier, stored, masking)
    require_kind(found.kind)
    return table_statement(found, IN_FULL if with_secrets else _masking(session, found.table))


def _masking(session: Session, table: CatalogBaseTable) -> Masking:
    """Return the masking of a table: the declared keys of its connector and of hinted tables."""
    declared = secret_keys(table.get_options())
    query = getattr(table, "expanded_query", "")
    if "/*+" in query:
        with suppress(SchemaCoreError):  # the query may no longer resolve
            for identifier in tables_in(session.query(parse_query(query), query)):
                declared |= secret_keys(session.tables.get(identifier).table.get_options())
    return Masking(declared)


def table_statement(found: FoundTable, masking: Masking) -> str:
    """Return the statement that creates a table, a view or a materialized table.

    Flink's SQL has no syntax for indexes and immutable columns. What people see names them in a
    comment, so that their loss shows; a program is refused a statement that would lose them.

    Raises:
        UnsupportedError: with code `not-in-sql` where they would be lost (unless options are
            masked), `query-not-in-sql` for a temporary view that has no text.
    """
    temporary = "TEMPORARY " if found.is_temporary else ""
    path = found.identifier.as_serializable_string()
    match found.table:
        case ResolvedCatalogTable() as table:
            head = f"CREATE {temporary}TABLE {path} "
            clauses = [
                *_resolved_columns(table.resolved_schema, masking),
                *_table_parts(table, masking),
            ]
        case QueryView(expanded_query=""):
            raise UnsupportedError(
                f"{found.identifier.as_summary_string()} was created from a Table that SQL "
                "cannot express",
                code="query-not-in-sql",
                hint="read its columns with DESCRIBE",
            )
        case ResolvedCatalogView() as view:
            head = f"CREATE {temporary}VIEW {path} "
            names = [quote_identifier(name) for name in view.resolved_schema.get_column_names()]
            query = masking.query(view.expanded_query)
            clauses = [block(names), *_comment(view.comment), f"AS {query}"]
        case ResolvedCatalogMaterializedTable() as materialized:
            head = f"CREATE MATERIALIZED TABLE {path} "
            clauses = [
                *_resolved_columns(materialized.resolved_schema, masking),
                *_materialized_parts(materialized, masking),
                f"AS {masking.query(materialized.expanded_query)}",
            ]
        case _:
            assert_never(found.table)
    return head + "\n".join(clauses) + "\n"


def block(lines: Iterable[str]) -> str:
    """Format lines between parentheses, indented and separated by commas.

    >>> print(block(["`a` INT"]))
    (
      `a` INT
    )
    """
    return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"


def _resolved_columns(schema: ResolvedSchema, masking: Masking) -> list[str]:
    return [block(schema_lines(schema)), *_beyond_sql(schema, masking)]


def _table_parts(table: CatalogTable | CatalogMaterializedTable, masking: Masking) -> list[str]:
    """Return the clauses after the columns, as they are stored."""
    return [
        *_comment(table.comment),
        *([str(table.distribution)] if table.distribution is not None else []),
        *_partitioned(table.partition_keys),
        *_with(masking.options(table.options)),
    ]


def _beyond_sql(schema: ResolvedSchema | Schema, masking: Masking) -> list[str]:
    """Return comments for the parts of a schema that Flink's SQL cannot express."""
    members: list[object] = [*schema.indexes]
    if schema.immutable_columns is not None:
        members.append(schema.immutable_columns)
    if members and not masking.enabled:
        raise UnsupportedError(
            f"SQL has no syntax for {', '.join(map(str, members))}",
            code="not-in-sql",
            hint="copy the table with CREATE TABLE LIKE, or create it with a TableDescriptor",
        )
    return [f"/* not in SQL: {str(one).replace('*/', '* /')} */" for one in members]


def _materialized_parts(table: CatalogMaterializedTable, masking: Masking) -> list[str]:
    return [
        *_table_parts(table, masking),
        *([f"START_MODE = {table.start_mode.value}"] if table.start_mode else []),
        *([f"FRESHNESS = {table.freshness}"] if table.freshness else []),
        *([f"REFRESH_MODE = {table.refresh_mode.value}"] if table.refresh_mode else []),
    ]


def stored_statement(
    identifier: ObjectIdentifier, stored: CatalogBaseTable, masking: Masking
) -> str:
    """Return the statement of a permanent table or view whose functions or types are missing.

    Raises:
        UnsupportedError: as `table_statement`.
    """
    path = identifier.as_serializable_string()
    match stored:
        case CatalogTable():
            head = f"CREATE TABLE {path} "
            clauses = [*_stored_columns(stored.schema, masking), *_table_parts(stored, masking)]
        case CatalogView():
            head = f"CREATE VIEW {path} "
            names = [quote_identifier(column.name) for column in stored.schema.columns]
            query = masking.query(stored.expanded_query)
            clauses = [block(names), *_comment(stored.comment), f"AS {query}"]
        case CatalogMaterializedTable():
            head = f"CREATE MATERIALIZED TABLE {path} "
            clauses = [
                *_stored_columns(stored.schema, masking),
                *_materialized_parts(stored, masking),
                f"AS {masking.query(stored.expanded_query)}",
            ]
        case _:
            raise UnsupportedError(
                f"a catalog returned a {type(stored).__name__}", code="unknown-table-kind"
            )
    return head + "\n".join(clauses) + "\n"


def _stored_columns(schema: Schema, masking: Masking) -> list[str]:
    """Return columns, watermarks and key as they are stored."""
    key = schema.primary_key
    lines = [
        *map(_stored_line, schema.columns),
        *(
            f"WATERMARK FOR {quote_identifier(spec.column_name)} "
            f"AS {written(spec.watermark_expression)}"
            for spec in schema.watermark_specs
        ),
        *([str(key)] if key is not None else []),
    ]
    return [block(lines), *_beyond_sql(schema, masking)]


def _stored_line(column: UnresolvedColumn) -> str:
    parts = [quote_identifier(column.name)]
    if not isinstance(column, UnresolvedComputedColumn):
        type_ = column.data_type
        parts.append(type_.as_serializable_string() if isinstance(type_, DataType) else str(type_))
    if extras := extras_of(column):
        parts.append(extras)
    return f"{' '.join(parts)}{_remark(column.comment)}"


def extras_of(column: UnresolvedColumn) -> str | None:
    """Return what a statement has after the type of a column, or in place of it."""
    match column:
        case UnresolvedComputedColumn(expression=expression):
            return f"AS {written(expression)}"
        case UnresolvedMetadataColumn(metadata_key=key, virtual=virtual):
            parts = ["METADATA", *([f"FROM {quote_string(key)}"] if key is not None else [])]
            return " ".join([*parts, *(["VIRTUAL"] if virtual else [])])
        case _:
            return None


def written(expression: Written) -> str:
    """Return the SQL of an expression as it is stored."""
    if isinstance(expression, ResolvedExpression):
        return expression.written.text
    return expression.text


def schema_lines(schema: ResolvedSchema) -> list[str]:
    """Return the lines of columns, watermark and key."""
    key = schema.primary_key
    return [
        *(column_line(column) for column in schema.columns),
        *(
            f"WATERMARK FOR {quote_identifier(spec.rowtime_attribute)} "
            f"AS {spec.watermark_expression.as_serializable_string()}"
            for spec in schema.watermark_specs
        ),
        *([str(key)] if key is not None else []),
    ]


def column_line(column: AnyColumn) -> str:
    """Return the line of a column; a computed one has its expression instead of a type."""
    computed, extras = isinstance(column, ComputedColumn), column.explain_extras()
    parts = [
        quote_identifier(column.name),
        *([] if computed else [column.data_type.as_serializable_string()]),
        *([extras] if extras else []),
    ]
    return f"{' '.join(parts)}{_remark(column.comment)}"


def _remark(comment: str | None) -> str:
    return f" COMMENT {quote_string(comment)}" if comment else ""


def _comment(comment: str | None) -> list[str]:
    return [f"COMMENT {quote_string(comment)}"] if comment else []


def _partitioned(keys: Iterable[str]) -> list[str]:
    names = ", ".join(map(quote_identifier, keys))
    return [f"PARTITIONED BY ({names})"] if names else []


def _with(options: Mapping[str, str]) -> list[str]:
    pairs = [f"{quote_string(key)} = {quote_string(options[key])}" for key in sorted(options)]
    return [f"WITH {block(pairs)}"] if pairs else []


# --- catalogs and models -------------------------------------------------------------------


def catalog_statement(session: Session, name: str) -> str:
    """Return the statement that creates a catalog."""
    descriptor = session.registry.descriptor(name)
    comment = descriptor.comment
    noted = [] if comment is None else [f"COMMENT {quote_string(comment)}"]
    clauses = [*noted, *_with(masked_configuration(descriptor))]
    return "\n".join([f"CREATE CATALOG {quote_identifier(name)}", *clauses]) + "\n"


def model_statement(session: Session, statement: ShowCreate) -> str:
    """Return the statement that creates a model.

    It is the stored definition where the model no longer resolves.
    """
    identifier = session.identifier(statement.path)
    temporary = "TEMPORARY " if session.models.is_temporary(identifier) else ""
    model: CatalogModel
    try:
        model = resolved = session.models.get(identifier)
        taken = [*map(column_line, resolved.resolved_input_schema.columns)]
        given = [*map(column_line, resolved.resolved_output_schema.columns)]
    except SchemaCoreError:
        stored = session.models.stored(identifier)
        if stored is None:
            raise
        model = stored
        taken = [*map(_stored_line, stored.input_schema.columns)]
        given = [*map(_stored_line, stored.output_schema.columns)]
    sides = [
        f"{word} ({', '.join(lines)})"
        for word, lines in (("INPUT", taken), ("OUTPUT", given))
        if lines
    ]
    clauses = [*sides, *_comment(model.comment), *_with(mask(model.options))]
    head = f"CREATE {temporary}MODEL {identifier.as_serializable_string()}"
    return "\n".join([head, *clauses]) + "\n"
