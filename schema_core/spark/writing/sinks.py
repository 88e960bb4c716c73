"""The rows that a connector writes: cast to the columns of the table, and checked.

Values are assigned by implicit casts. The options of the session determine how NOT NULL and the
lengths of strings are enforced. Metadata is cast to the types that the connector declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from schema_core.environment.options import ConfigOption, choice
from schema_core.errors import SchemaError, at
from schema_core.mappings.spark.pyspark_types import to_spark_sql
from schema_core.query.relation import Column, Columns, Relation, result_columns
from schema_core.schema.columns import MetadataColumn, PhysicalColumn
from schema_core.spark.compiler.expression import from_physical, to_physical
from schema_core.spark.compiler.functions.casts import convert, fit
from schema_core.spark.compiler.printer import quote
from schema_core.spark.compiler.projection import NamedNode, select
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import NULL, Cast, Node, fail
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import SparkConnector, metadata_column
from schema_core.spark.writing.row_checks import required
from schema_core.types import (
    MAX_LENGTH,
    CharType,
    DataType,
    LengthType,
    VarCharType,
    supports_implicit_cast,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.schema.resolved import ResolvedSchema

NOT_NULL = ConfigOption(
    "table.exec.sink.not-null-enforcer",
    choice("ERROR", "DROP"),
    "ERROR",
    "whether a NULL in a NOT NULL column fails the job, or its row is dropped",
)
LENGTH = ConfigOption(
    "table.exec.sink.type-length-enforcer",
    choice("IGNORE", "TRIM_PAD", "ERROR"),
    "IGNORE",
    "what happens to a string that exceeds the length of its column",
)

STRING = VarCharType(MAX_LENGTH)


class Sink:
    """The columns of a table that a query writes.

    Args:
        schema: The schema of the table.
        columns: The columns that the query fills, in its order, or None for all.
        options: The options of the session.
    """

    def __init__(
        self, schema: ResolvedSchema, columns: Sequence[str] | None, options: Mapping[str, str]
    ) -> None:
        self._columns = [column for column in schema.columns if column.is_persisted()]
        self._types = {column.name: column.data_type for column in self._columns}
        self._given = list(self._types) if columns is None else list(columns)
        self._options = options

    def targets(self, query: Relation) -> Columns:
        """Return the columns that the query fills, by position.

        Raises:
            SchemaError: with code `sink-column-mismatch`, `sink-type-mismatch`, or
                `missing-value` for a NOT NULL column that the query does not fill.
        """
        targets = _assignable(query, self._given, self._types)
        for name, type_ in self._types.items():
            if name not in self._given and not type_.is_nullable:
                raise SchemaError(f"no value for NOT NULL column {name!r}", code="missing-value")
        return targets

    def frame(self, frame: DataFrame, connector: SparkConnector, zone: str) -> DataFrame:
        """Return rows of the target columns as the connector writes them.

        The physical columns come first, in order, then the metadata of each key.
        """
        if NOT_NULL.of(self._options) == "DROP":
            needed = [
                f"{quote(name)} IS NOT NULL"
                for name, type_ in self._types.items()
                if not type_.is_nullable and name in self._given
            ]
            frame = frame.where(" AND ".join(needed)) if needed else frame
        checked = [self._checked(column.name, column.data_type) for column in self._columns]
        physical = [
            (ColumnNode(column.name), column.name)
            for column in self._columns
            if isinstance(column, PhysicalColumn)
        ]
        metadata = [
            _metadata(column, connector.metadata[column.key], zone)
            for column in self._columns
            if isinstance(column, MetadataColumn)
        ]
        frame = select(frame, checked)
        return select(frame, [*physical, *metadata]) if metadata else frame

    def _checked(self, name: str, type_: DataType) -> NamedNode:
        """Return a column with the checks of its type, or NULL where the query does not fill it."""
        if name not in self._given:
            return Cast(NULL, to_spark_sql(type_)), name
        node: Node = ColumnNode(name)
        rule = LENGTH.of(self._options)
        if isinstance(type_, LengthType) and type_.length < MAX_LENGTH:
            if rule == "TRIM_PAD":
                node = _fitted(node, type_)
            elif rule == "ERROR":
                node = _fitting(node, name, type_)
        return required(node, type_, name), name


def _metadata(column: MetadataColumn, given: DataType, zone: str) -> NamedNode:
    """Return a metadata column as the connector's metadata, cast to the type of the connector."""
    type_ = column.data_type
    with at(f"column {column.name!r}"):
        value = from_physical(ColumnNode(column.name), type_)
        node = to_physical(convert(value, type_.nullable(), given.nullable(), zone), given)
    return required(node, given, column.name), metadata_column(column.key)


def _fitted(node: Node, type_: LengthType) -> Node:
    """Return a string cut or padded to the length of its type; most strings are left as they are.

    Spark stores the number of bytes of a string, and every character has at least one.
    """
    fits = "octet_length({v}) <= {length}"
    if isinstance(type_, CharType):
        fits = "octet_length({v}) = {length} AND length({v}) = {length}"
    return inline(
        f"if({fits}, {{v}}, {{fitted}})",
        v=node,
        length=type_.length,
        fitted=fit(node, STRING, type_),
    )


def _fitting(node: Node, name: str, type_: LengthType) -> Node:
    """Return a string, or fail the job if it does not fit.

    A string has at most as many characters as bytes, whose number Spark stores: characters are
    counted only where there are more bytes than the length.
    """
    unfit = "length({v}) <> {length}"
    if not isinstance(type_, CharType):
        unfit = "octet_length({v}) > {length} AND length({v}) > {length}"
    elif type_.length == 1:
        unfit = f"octet_length({{v}}) <> {{length}} AND {unfit}"
    return inline(
        f"if({unfit}, {{problem}}, {{v}})",
        v=node,
        length=type_.length,
        problem=fail(f"column {name!r}: a value does not fit {type_.as_summary_string()}"),
    )


def _assignable(query: Relation, names: Sequence[str], types: dict[str, DataType]) -> Columns:
    """Return the target columns of a query; each column must cast to its target implicitly.

    Raises:
        SchemaError: with code `sink-column-mismatch` or `sink-type-mismatch`.
    """
    given = result_columns(query)
    unknown = [name for name in names if name not in types]
    if unknown or len(given) != len(names):
        raise SchemaError(
            f"the query has {len(given)} columns, expected {len(names)}"
            if not unknown
            else f"the table has no writable column {unknown[0]!r}",
            code="sink-column-mismatch",
        )
    for one, name in zip(given, names, strict=True):
        with at(f"column {name!r}"):
            if not supports_implicit_cast(one.type.nullable(), types[name].nullable()):
                raise SchemaError(
                    f"{one.type.as_summary_string()} of the query does not fit "
                    f"{types[name].as_summary_string()}",
                    code="sink-type-mismatch",
                    hint="add a CAST to the query",
                )
    return tuple(Column(name, types[name]) for name in names)
