"""Aggregates, and first rows, that a database computes as Flink does.

COUNT is exact everywhere. MIN and MAX are computed of types that all databases order alike, not of
strings (by a collation) and approximate numbers; first rows are found by the same types. Sums of
integers are computed in a wider type, and wrap when they are read; sums of decimals have digits
that no table exceeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from schema_core.connectors.jdbc import dialects
from schema_core.mappings.spark.pyspark_types import to_spark
from schema_core.spark.compiler.translation import sql_type
from schema_core.spark.compiler.tree import Cast, NamedNode, quote
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.session.frames import select
from schema_core.types import (
    BigIntType,
    DataType,
    DateType,
    DecimalType,
    IntType,
    SmallIntType,
    TimestampType,
    TinyIntType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from schema_core.spark.connector import AggregateExpression, Aggregation, TopN
    from schema_core.spark.filters import Filter

#: Integers whose sum, of fewer rows than any table has, is a 64-bit integer.
_NARROW: tuple[type[DataType], ...] = (TinyIntType, SmallIntType, IntType)
#: The types of which databases, with columns of declared types, have Flink's order.
_ORDERED: tuple[type[DataType], ...] = (*_NARROW, BigIntType, DecimalType, DateType, TimestampType)
#: The digits of decimals whose sum, of fewer than 10 ** 20 rows, has at most Flink's 38.
MAX_SUMMED_DIGITS = 18
#: How Spark reads a sum of BIGINT, before it wraps.
_WIDE = "DECIMAL(38,0)"


class ScannedColumns(Protocol):
    """The columns of a table that a query reads."""

    columns: Sequence[tuple[str, DataType, dialects.DatabaseColumn]]
    selected: dict[str, dialects.Selected]

    @property
    def check(self) -> str | None:
        """The number of the first check that a row fails, NULL for none, in SQL."""

    def condition(self, filters: Sequence[Filter]) -> str | None:
        """Return the WHERE clause of filters; None if the database might select other rows."""

    def is_plain(self, name: str) -> bool:
        """Return whether a column is read as the database stores it."""

    def checked(self, frame: DataFrame) -> DataFrame:
        """Return the rows of a query, whose job fails for a row that fails a check."""


def orders_alike(scan: ScannedColumns, dialect: dialects.JdbcDialect, name: str) -> bool:
    """Return whether the database orders and adds the values of a column as Flink does."""
    types = _ORDERED if dialect.typed else (*_NARROW, BigIntType)
    (type_,) = (type_ for column, type_, _ in scan.columns if column == name)
    return isinstance(type_, types) and scan.is_plain(name)


def top_n_clauses(scan: ScannedColumns, dialect: dialects.JdbcDialect, top_n: TopN) -> str | None:
    """Return the clauses after FROM that select first rows; None if they might be others."""
    where = scan.condition(top_n.filters)
    keys = [key.column for key in top_n.order]
    if where is None or not dialect.nulls_order:
        return None
    if not all(orders_alike(scan, dialect, name) for name in keys):
        return None
    order = ", ".join(
        f"{scan.selected[key.column].sql} {'DESC' if key.descending else 'ASC'}"
        f" NULLS {'LAST' if key.nulls_last else 'FIRST'}"
        for key in top_n.order
    )
    return f"{where} ORDER BY {order} {dialect.limit.format(n=top_n.limit)}"


class JdbcAggregation:
    """The query of an aggregation, and the conversion of its rows.

    Attributes:
        sql: The query; None if the database would compute other values.
    """

    def __init__(
        self,
        scan: ScannedColumns,
        dialect: dialects.JdbcDialect,
        table: str,
        aggregation: Aggregation,
    ) -> None:
        self._scan, self._dialect, self._table = scan, dialect, table
        self._types = {name: type_ for name, type_, _ in scan.columns}
        self._aggregation = aggregation
        self.sql: str | None = self._query()

    def _query(self) -> str | None:
        aggregation, where = self._aggregation, self._scan.condition(self._aggregation.filters)
        calls = [self._call(call) for call in aggregation.aggregates]
        if where is None or None in calls or not all(map(self._groups_alike, aggregation.keys)):
            return None
        keys = [self._key(name) for name in aggregation.keys]
        names = [*aggregation.keys, *(call.name for call in aggregation.aggregates)]
        pairs = zip([*keys, *calls], names, strict=True)
        items = [f"{item} AS {self._dialect.quote(name)}" for item, name in pairs]
        if (check := self._scan.check) is not None:
            items.append(f"MIN({check}) AS {self._dialect.quote(dialects.CHECK)}")
        groups = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(items)} FROM {self._table}{where}{groups}"

    def _key(self, name: str) -> str:
        is_string = isinstance(self._types[name], dialects.STRINGS)
        return f"{self._scan.selected[name].sql}{self._dialect.by_bytes if is_string else ''}"

    def _call(self, call: AggregateExpression) -> str | None:
        """Return an aggregate in SQL; None if the database would compute another value."""
        long = self._dialect.long
        if call.column is None:
            return f"{self._dialect.count}(*)"
        value, type_ = self._scan.selected[call.column].sql, self._types[call.column]
        match call.function:
            case "COUNT":
                return f"{self._dialect.count}({value})"
            case "MIN" | "MAX":
                return f"{call.function}({value})" if self._orders_alike(call.column) else None
            case "SUM" if self._orders_alike(call.column):
                if isinstance(type_, _NARROW):
                    return f"CAST(SUM(CAST({value} AS {long})) AS {long})"
                if isinstance(type_, BigIntType) and self._dialect.wide is not None:
                    return f"SUM(CAST({value} AS {self._dialect.wide}))"
                if isinstance(type_, DecimalType) and type_.precision <= MAX_SUMMED_DIGITS:
                    return f"SUM({value})"
        return None

    def _orders_alike(self, name: str) -> bool:
        return orders_alike(self._scan, self._dialect, name)

    def _groups_alike(self, name: str) -> bool:
        """Return whether values of a column are equal in the database if they are in Flink."""
        is_exact = isinstance(self._types[name], self._dialect.literals)
        return self._orders_alike(name) or (is_exact and self._scan.is_plain(name))

    @property
    def schema(self) -> str:
        """The types with which Spark reads the rows."""
        types = {
            name: to_spark(self._types[name]).simpleString() for name in self._aggregation.keys
        }
        types |= {call.name: self._read_type(call) for call in self._aggregation.aggregates}
        if self._scan.check is not None:
            types[dialects.CHECK] = "INT"
        return ", ".join(f"{quote(name)} {type_}" for name, type_ in types.items())

    def _read_type(self, call: AggregateExpression) -> str:
        if call.function == "SUM" and isinstance(call.type, BigIntType):
            return _WIDE
        if call.function == "SUM" and isinstance(call.type, _NARROW):
            return "BIGINT"
        name: str = to_spark(call.type).simpleString()
        return name

    def values(self, frame: DataFrame) -> DataFrame:
        """Return the aggregates from the rows of the query, which fails for invalid values."""
        columns: list[NamedNode] = [(ColumnNode(name), name) for name in self._aggregation.keys]
        for call in self._aggregation.aggregates:
            value = ColumnNode(call.name)
            wraps = call.function == "SUM" and isinstance(call.type, (*_NARROW, BigIntType))
            columns.append((Cast(value, sql_type(call.type)) if wraps else value, call.name))
        return select(self._scan.checked(frame), columns)
