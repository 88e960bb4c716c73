"""Rows with the fields of another type."""

from __future__ import annotations

from schema_core.mappings.spark.pyspark_types import to_spark_sql
from schema_core.spark.compiler import tree as nodes
from schema_core.types import DataType, RowType


def with_fields(node: nodes.Node, source: DataType, target: DataType) -> nodes.Node:
    """Return a value of a type with the fields of another one, at every depth of rows.

    Fields that only the target has are NULL, those that only the source has are left out.

    >>> from schema_core.types import parse_type
    >>> source, target = parse_type("ROW<a INT>"), parse_type("ROW<a INT, b STRING>")
    >>> print(nodes.to_sql(with_fields(nodes.Column("r"), source, target)))
    if(`r` IS NULL, NULL, named_struct('a', `r`.`a`, 'b', CAST(NULL AS string)))
    >>> print(nodes.to_sql(with_fields(nodes.Column("r"), target, target)))
    `r`
    """
    if not isinstance(source, RowType) or not isinstance(target, RowType):
        return node
    types = {field.name: field.data_type for field in source.fields}
    if source.nullable() == target.nullable():
        return node

    def convert_row(row: nodes.Node) -> nodes.Node:
        return nodes.null_or(
            nodes.is_null(row),
            nodes.named_struct(
                (
                    field.name,
                    with_fields(nodes.Field(row, field.name), types[field.name], field.data_type)
                    if field.name in types
                    else nodes.Cast(nodes.NULL, to_spark_sql(field.data_type)),
                )
                for field in target.fields
            ),
        )

    return nodes.let(node, convert_row)
