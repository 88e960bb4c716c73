"""ANALYZE TABLE: statistics of tables, partitions and columns, computed and stored in the catalog.

The statistics of each type are those that Flink computes.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import CatalogPartitionSpec
from schema_core.catalog.statistics import (
    CatalogColumnStatistics,
    CatalogColumnStatisticsDataBinary,
    CatalogColumnStatisticsDataBoolean,
    CatalogColumnStatisticsDataDate,
    CatalogColumnStatisticsDataDouble,
    CatalogColumnStatisticsDataLong,
    CatalogColumnStatisticsDataString,
    CatalogTableStatistics,
    ColumnStatisticsData,
)
from schema_core.environment.operations.data import run_query
from schema_core.environment.operations.streaming_sinks import require_batch
from schema_core.environment.planner import BoundTable
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError, similar
from schema_core.schema.columns import Column, PhysicalColumn
from schema_core.sql.parser import parse_query
from schema_core.sql.statement_syntax import AnalyzeTable
from schema_core.types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

#: Returns the statistics of a column: the number of NULL, then the values of its expressions.
Make: TypeAlias = Callable[..., ColumnStatisticsData]

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def analyze(session: Session, statement: AnalyzeTable, text: str) -> TableResult:
    """Compute the statistics of a table or of its partitions, and store them in its catalog.

    Codes: `table-not-found`, `wrong-object-type`, `unknown-column`, `invalid-partition-spec`, and
    `feature-not-supported` for a temporary table, a catalog that stores no statistics, and in
    streaming mode.
    """
    require_batch(session, "ANALYZE TABLE")
    with at_span(statement.path.span):
        target = _permanent_table(session, session.identifier(statement.path))
        catalog = session.registry.get(target.identifier.catalog_name)
        if Capability.STATISTICS not in catalog.capabilities:
            raise UnsupportedError(
                f"the catalog {target.identifier.catalog_name!r} does not store statistics",
                code="feature-not-supported",
            )
    columns = _columns_of(statement, target)
    for spec in _partitions_of(statement, target, catalog):
        computed = _compute(session, target, columns, spec)
        if computed is not None:
            _store(catalog, target.identifier, spec, *computed)
    return OK


def _permanent_table(session: Session, identifier: ObjectIdentifier) -> BoundTable:
    target = session.bind(identifier)
    if target.is_temporary:
        raise UnsupportedError(
            f"{identifier.as_summary_string()} is a temporary table, of which no statistics are "
            "stored",
            code="feature-not-supported",
            hint="create the table without TEMPORARY",
        )
    return target


def _columns_of(statement: AnalyzeTable, target: BoundTable) -> list[Column]:
    """Return the columns to analyze: physical ones."""
    schema = target.table.resolved_schema
    physical = {
        column.name: column for column in schema.columns if isinstance(column, PhysicalColumn)
    }
    if statement.all_columns:
        return list(physical.values())
    for name in statement.columns:
        column = ".".join(name.parts)
        if column in physical:
            continue
        is_known = any(other.name == column for other in schema.columns)
        raise SchemaError(
            f"column {column!r} is not a physical column, of which only there are statistics"
            if is_known
            else f"the table has no column {column!r}",
            code="unknown-column",
            span=name.span,
            hint=similar(column, physical),
        )
    return [physical[name] for name in dict.fromkeys(path.parts[0] for path in statement.columns)]


def _partitions_of(
    statement: AnalyzeTable, target: BoundTable, catalog: Catalog
) -> Iterator[CatalogPartitionSpec | None]:
    """Yield the stored partitions that the statement selects; None for a table without any."""
    keys = target.table.partition_keys
    selected = dict(statement.partition.values) if statement.partition else {}
    if set(selected) != set(keys):
        raise SchemaError(
            f"PARTITION must name every partition key: {', '.join(map(repr, keys))}"
            if keys
            else f"{target.identifier.as_summary_string()} is not partitioned",
            code="invalid-partition-spec",
            span=statement.partition.span if statement.partition else statement.path.span,
            hint=f"write PARTITION ({', '.join(map(quote_identifier, keys))})" if keys else None,
        )
    if not keys:
        yield None
        return
    path = target.identifier.to_object_path()
    wanted = {key: value for key, value in selected.items() if value is not None}
    found = catalog.list_partitions(path, CatalogPartitionSpec(wanted) if wanted else None)
    if len(wanted) == len(keys) and not found:
        raise NotFoundError(
            f"{target.identifier.as_summary_string()} has no partition {wanted}",
            code="partition-not-found",
            span=statement.partition.span if statement.partition else None,
            hint="add it with ALTER TABLE ... ADD PARTITION",
        )
    yield from found


def _store(
    catalog: Catalog,
    identifier: ObjectIdentifier,
    spec: CatalogPartitionSpec | None,
    rows: int,
    columns: Mapping[str, ColumnStatisticsData],
) -> None:
    """Store statistics; those of other columns are kept."""
    path = identifier.to_object_path()
    if spec is None:
        stored, known = (
            catalog.get_table_statistics(path),
            catalog.get_table_column_statistics(path),
        )
    else:
        stored = catalog.get_partition_statistics(path, spec)
        known = catalog.get_partition_column_statistics(path, spec)
    table = CatalogTableStatistics(
        rows, stored.field_count, stored.total_size, stored.raw_data_size, stored.properties
    )
    merged = CatalogColumnStatistics({**known.column_statistics_data, **columns}, known.properties)
    if spec is None:
        catalog.alter_table_statistics(path, table, False)
        if columns:
            catalog.alter_table_column_statistics(path, merged, False)
        return
    catalog.alter_partition_statistics(path, spec, table, False)
    if columns:
        catalog.alter_partition_column_statistics(path, spec, merged, False)


# --- the query -----------------------------------------------------------------------------------


def _compute(
    session: Session,
    target: BoundTable,
    columns: Sequence[Column],
    spec: CatalogPartitionSpec | None,
) -> tuple[int, dict[str, ColumnStatisticsData]] | None:
    """Return the number of rows and the statistics of columns, by one query.

    None from a planner that runs no queries.
    """
    kinds = [
        (column.name, *kind)
        for column in columns
        if (kind := _kind_of(column.data_type)) is not None
    ]
    items = ["COUNT(1)"]
    for name, expressions, _ in kinds:
        quoted = quote_identifier(name)
        items.append(f"COUNT(1) - COUNT({quoted})")
        items += [expression.format(c=quoted) for expression in expressions]
    where = _condition(target, spec)
    text = f"SELECT {', '.join(items)} FROM {target.identifier.as_serializable_string()}{where}"
    with run_query(session, session.query(parse_query(text), text)).collect() as rows:
        row = next(iter(rows), None)
    if row is None:
        return None
    values = iter(row)
    count = next(values)
    return count, {
        name: make(next(values), *(next(values) for _ in expressions))
        for name, expressions, make in kinds
    }


def _condition(target: BoundTable, spec: CatalogPartitionSpec | None) -> str:
    if spec is None:
        return ""
    types = {column.name: column.data_type for column in target.table.resolved_schema.columns}
    parts = []
    for key, value in spec.get_partition_spec().items():
        type_ = types[key].nullable().as_serializable_string()
        parts.append(f"{quote_identifier(key)} = CAST({quote_string(value)} AS {type_})")
    return f" WHERE {' AND '.join(parts)}"


def _kind_of(type_: DataType) -> tuple[tuple[str, ...], Make] | None:
    """Return the expressions and statistics of a type; None for one without any, as in Flink."""
    return next((kind for classes, kind in _KINDS if isinstance(type_, classes)), None)


_RANGE = ("MIN({c})", "MAX({c})", "APPROX_COUNT_DISTINCT({c})")
_LENGTHS = (
    "CAST(MAX(CHAR_LENGTH({c})) AS BIGINT)",
    "AVG(CAST(CHAR_LENGTH({c}) AS DOUBLE))",
    "APPROX_COUNT_DISTINCT({c})",
)
_TRUTH = ("COUNT(1) FILTER (WHERE {c})", "COUNT(1) FILTER (WHERE NOT {c})")


def _boolean(nulls: int, true: int, false: int) -> ColumnStatisticsData:
    return CatalogColumnStatisticsDataBoolean(true, false, nulls)


def _binary(nulls: int) -> ColumnStatisticsData:
    return CatalogColumnStatisticsDataBinary(None, None, nulls)


def _string(nulls: int, longest: int | None, mean: float | None, ndv: int) -> ColumnStatisticsData:
    return CatalogColumnStatisticsDataString(longest, mean, ndv, nulls)


def _date(nulls: int, low: dt.date | None, high: dt.date | None, ndv: int) -> ColumnStatisticsData:
    return CatalogColumnStatisticsDataDate(low, high, ndv, nulls)


def _number(nulls: int, low: Any, high: Any, ndv: int) -> ColumnStatisticsData:
    """NaN is not a bound."""
    least, most = (
        None if value is None or math.isnan(value) else float(value) for value in (low, high)
    )
    return CatalogColumnStatisticsDataDouble(least, most, ndv, nulls)


def _long(convert: Callable[[Any], int]) -> Make:
    def make(nulls: int, low: Any, high: Any, ndv: int) -> ColumnStatisticsData:
        least, most = (None if value is None else convert(value) for value in (low, high))
        return CatalogColumnStatisticsDataLong(least, most, ndv, nulls)

    return make


def _nanoseconds_of_day(time: dt.time) -> int:
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return (seconds * 1_000_000 + time.microsecond) * 1_000


def _seconds(timestamp: dt.datetime) -> int:
    return (timestamp.replace(tzinfo=dt.UTC) - EPOCH) // dt.timedelta(seconds=1)


def _milliseconds(instant: dt.datetime) -> int:
    return (instant - EPOCH) // dt.timedelta(milliseconds=1)


#: Types -> the expressions over a column, and what makes statistics of their values.
_KINDS: tuple[tuple[tuple[type[DataType], ...], tuple[tuple[str, ...], Make]], ...] = (
    ((BooleanType,), (_TRUTH, _boolean)),
    ((TinyIntType, SmallIntType, IntType, BigIntType), (_RANGE, _long(int))),
    ((FloatType, DoubleType, DecimalType), (_RANGE, _number)),
    ((CharType, VarCharType), (_LENGTHS, _string)),
    ((DateType,), (_RANGE, _date)),
    ((TimeType,), (_RANGE, _long(_nanoseconds_of_day))),
    ((TimestampType,), (_RANGE, _long(_seconds))),
    ((LocalZonedTimestampType,), (_RANGE, _long(_milliseconds))),
    ((BinaryType, VarBinaryType), ((), _binary)),
)
