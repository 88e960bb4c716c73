"""The printer of Flink's CREATE TABLE: one column a line, then a clause a line.

SHOW CREATE TABLE and the dialect `flink` share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask, mask_query
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.objects import CatalogMaterializedTable, CatalogTable
from schema_core.errors import UnsupportedError
from schema_core.schema.columns import (
    ResolvedExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    Written,
)
from schema_core.schema.resolved import AnyColumn, ComputedColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class Masking:
    """How secrets are shown in a statement: masked for people, in full for programs.

    `declared` are keys that connectors declare secret.
    """

    declared: frozenset[str] = frozenset()
    enabled: bool = True

    def options(self, options: Mapping[str, str]) -> Mapping[str, str]:
        return mask(options, self.declared) if self.enabled else options

    def query(self, text: str) -> str:
        return mask_query(text, self.declared) if self.enabled else text


IN_FULL = Masking(enabled=False)


def block(lines: Iterable[str]) -> str:
    """Format lines between parentheses, indented and separated by commas.

    >>> print(block(["`a` INT"]))
    (
      `a` INT
    )
    """
    return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"


def table_clauses(table: CatalogTable | CatalogMaterializedTable, masking: Masking) -> list[str]:
    """Return the clauses after the columns, as they are stored."""
    partitions = ", ".join(map(quote_identifier, table.partition_keys))
    return [
        *comment_clause(table.comment),
        *([str(table.distribution)] if table.distribution is not None else []),
        *([f"PARTITIONED BY ({partitions})"] if partitions else []),
        *with_clause(masking.options(table.options)),
    ]


def beyond_sql(schema: ResolvedSchema | Schema, masking: Masking) -> list[str]:
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
    return [f"/* not in SQL: {str(member).replace('*/', '* /')} */" for member in members]


def stored_columns(schema: Schema, masking: Masking) -> list[str]:
    """Return columns, watermarks and key as they are stored."""
    watermarks = [
        (spec.column_name, expression_text(spec.watermark_expression))
        for spec in schema.watermark_specs
    ]
    lines = _lines(map(stored_line, schema.columns), watermarks, schema.primary_key)
    return [block(lines), *beyond_sql(schema, masking)]


def _lines(columns: Iterable[str], watermarks: Iterable[tuple[str, str]], key: object) -> list[str]:
    return [
        *columns,
        *(f"WATERMARK FOR {quote_identifier(name)} AS {sql}" for name, sql in watermarks),
        *([str(key)] if key is not None else []),
    ]


def stored_line(column: UnresolvedColumn) -> str:
    """Return the line of an unresolved column."""
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
            return f"AS {expression_text(expression)}"
        case UnresolvedMetadataColumn(metadata_key=key, virtual=virtual):
            parts = ["METADATA", *([f"FROM {quote_string(key)}"] if key is not None else [])]
            return " ".join([*parts, *(["VIRTUAL"] if virtual else [])])
        case _:
            return None


def expression_text(expression: Written) -> str:
    """Return the SQL of an expression as it is stored."""
    if isinstance(expression, ResolvedExpression):
        return expression.written.text
    return expression.text


def schema_lines(schema: ResolvedSchema) -> list[str]:
    """Return the lines of columns, watermark and key."""
    watermarks = [
        (spec.rowtime_attribute, spec.watermark_expression.as_serializable_string())
        for spec in schema.watermark_specs
    ]
    return _lines(map(column_line, schema.columns), watermarks, schema.primary_key)


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


def comment_clause(comment: str | None) -> list[str]:
    """Return the clause of a comment; none for an empty one."""
    return [f"COMMENT {quote_string(comment)}"] if comment else []


def with_clause(options: Mapping[str, str]) -> list[str]:
    """Return the clause of options, sorted by key; none without options."""
    pairs = [f"{quote_string(key)} = {quote_string(options[key])}" for key in sorted(options)]
    return [f"WITH {block(pairs)}"] if pairs else []
