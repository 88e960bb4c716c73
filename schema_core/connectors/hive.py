"""The connector `hive`: tables of a Hive catalog, read and written by Spark's Hive support.

The catalog and the session use one metastore. Spark treats Hive's timestamps, which have no time
zone, as instants in the JVM's time zone, so they are converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from schema_core.connectors.float_predicates import without_float_pushdown
from schema_core.connectors.shared_tables import exclusive, name_of, shares_source
from schema_core.environment.connector import Visibility
from schema_core.environment.jobs.atomicity import is_atomic
from schema_core.environment.options import ATOMICITY, ConfigOption
from schema_core.errors import NotFoundError, UnsupportedError, at
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import Literal, NamedNode, Node, fail, let, quote, to_sql
from schema_core.spark.connector import (
    ConnectorBase,
    ReadContext,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    TableContext,
    WriteContext,
)
from schema_core.spark.session.api_mode import checkpoint_frame, java_class, require_classic
from schema_core.spark.session.frames import select
from schema_core.spark.session.session import TemporaryNames
from schema_core.types import (
    ArrayType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    TimestampType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType

#: Session settings while writing: only partitions with rows are replaced, as by Flink.
WRITING: Mapping[str, str] = {
    "hive.exec.dynamic.partition.mode": "nonstrict",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}


#: Options of tables of which a drop may leave files, or delete others.
OWN_STORAGE: Final = ("hive.location-uri", "hive.is-external")


class HiveConnector(
    ConnectorBase, SupportsOverwrite, SupportsPartitioning, SupportsProjectionPushDown
):
    """Tables of a `HiveCatalog` with ``'connector' = 'hive'``."""

    identifier = "hive"
    requires: Final = ("pyspark",)

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """The options are the table's properties, of any name."""
        return [ConfigOption(key, str) for key in options if key != "connector"]

    def clean_up(self, context: WriteContext) -> None:
        """Do nothing: the metastore deletes the files of a dropped table."""

    def visibility(self, options: Mapping[str, str]) -> Visibility:
        """Spark moves the files of a finished job one by one."""
        return Visibility.INCREMENTAL

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of a table of the metastore.

        Codes: `table-not-found`, which is an `UnsupportedError` for a temporary table.
        """
        name = hive_table(context)
        session = context.session
        session.catalog.refreshTable(name)  # others may have added files
        frame = without_float_pushdown(session.table(name))
        stored = {field.name: field.dataType for field in frame.schema.fields}
        zone = jvm_zone(session)
        return select(
            frame,
            (
                _from_hive_column(column, type_, stored[column], zone)
                for column, type_ in context.columns.items()
                if column in stored
            ),
        )

    def validate_write(self, context: WriteContext) -> None:
        """Refuse what could not be replaced or rolled back (`unsupported-ability`).

        A table with partitions is not replaced: those without new rows would stay. CREATE TABLE AS
        is not rolled back in a given directory or an external table: dropping the table would
        delete files of others, or keep its own.
        """
        storage = [key for key in OWN_STORAGE if context.options.get(key, "false") != "false"]
        if context.creates and storage and is_atomic(context.configuration):
            raise UnsupportedError(
                f"CREATE TABLE AS into a Hive table with {storage[0]!r} cannot be rolled back: "
                "its directory may have files of other tables",
                code="unsupported-ability",
                hint=f"omit {storage[0]!r}, or SET '{ATOMICITY.key}' = 'false'",
            )
        if context.overwrite and context.creates and context.table.partition_keys:
            raise UnsupportedError(
                "REPLACE TABLE AS would keep partitions of a Hive table that get no rows",
                code="unsupported-ability",
                hint="drop the table, and create it again",
            )

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Insert rows with Spark's INSERT, partition columns last; errors as `read`.

        INSERT OVERWRITE replaces all rows of a table without partitions; else the partitions that
        get rows, and the one that a PARTITION clause gives completely. If the query reads the
        table, its rows are computed before.
        """
        name = hive_table(context)
        session = context.session
        table = session.table(name)
        reads_itself = context.overwrite and shares_source(frame, table)
        stored = {field.name: field.dataType for field in table.schema.fields}
        zone, types = jvm_zone(session), context.physical_columns
        converted = [
            _to_hive_column(column, types[column], stored[column], zone) for column in stored
        ]
        # the partition that is replaced even if it gets no rows
        fixed = context.partition or {}
        if not context.overwrite or set(fixed) != set(context.table.partition_keys):
            fixed = {}
        values = (f"{quote(key)} = {to_sql(Literal(value))}" for key, value in fixed.items())
        clause = f" PARTITION ({', '.join(values)})" if fixed else ""
        columns = ", ".join(quote(column) for column in stored if column not in fixed)
        verb = "OVERWRITE" if context.overwrite else "INTO"
        with (
            checkpoint_frame(frame, when=reads_itself) as rows,
            exclusive(name_of(session, name)),
            TemporaryNames(session) as names,
            _settings(session),
        ):
            view = names.view(select(rows, converted))
            session.sql(f"INSERT {verb} TABLE {name}{clause} SELECT {columns} FROM {view}")


def hive_table(context: TableContext) -> str:
    """Return the name of a table in Spark's catalog (`table-not-found`, `not-over-connect`).

    A temporary table is an `UnsupportedError` with the first code.
    """
    require_classic(context.session, "the connector 'hive'")
    hint = "create the table in a catalog of the type 'hive'"
    if context.is_temporary():
        raise UnsupportedError(
            "a temporary table is not a table of a Hive metastore",
            code="table-not-found",
            hint=hint,
        )
    path = (context.identifier.database_name, context.identifier.object_name)
    name = ".".join(map(quote, ("spark_catalog", *path)))
    session = context.session
    uses_hive = session.conf.get("spark.sql.catalogImplementation", "in-memory") == "hive"
    if not uses_hive or not session.catalog.tableExists(name):
        raise NotFoundError(
            f"the Hive metastore of Spark has no table {'.'.join(path)!r}",
            code="table-not-found",
            hint=hint,
        )
    return name


@contextmanager
def _settings(session: SparkSession) -> Iterator[None]:
    """Apply the settings `WRITING` in a block, for one job at a time."""
    with exclusive(f"settings of session {id(session)}"):
        before = {key: session.conf.get(key, None) for key in WRITING}
        for key, value in WRITING.items():
            session.conf.set(key, value)
        try:
            yield
        finally:
            for key, old in before.items():
                if old is None:
                    session.conf.unset(key)
                else:
                    session.conf.set(key, old)


# --- timestamps ----------------------------------------------------------------------------------


def jvm_zone(session: SparkSession) -> str:
    """Return the JVM's time zone."""
    return str(java_class(session, "java.util.TimeZone").getDefault().toZoneId().getId())


def with_timestamps(type_: DataType, spark: SparkType, timestamp: DataType) -> DataType:
    """Replace local timestamps within a type that Spark stores as an instant."""
    from pyspark.sql import types

    def inner(part: DataType, own: SparkType) -> DataType:
        return with_timestamps(part, own, timestamp)

    nullable = type_.is_nullable
    match type_, spark:
        case TimestampType(), types.TimestampType():
            return timestamp if nullable else timestamp.not_null()
        case ArrayType(), types.ArrayType():
            return ArrayType(inner(type_.element_type, spark.elementType), nullable=nullable)
        case MapType(), types.MapType():
            key, value = (
                inner(type_.key_type, spark.keyType),
                inner(type_.value_type, spark.valueType),
            )
            return MapType(key, value, nullable=nullable)
        case RowType(), types.StructType():
            pairs = zip(type_.fields, spark.fields, strict=True)
            fields = [
                RowField(field.name, inner(field.data_type, own.dataType)) for field, own in pairs
            ]
            return RowType(fields, nullable=nullable)
        case _:
            return type_


#: Hive's local timestamp as Spark reads it, and as the column declares it (microseconds).
INSTANT, LOCAL = LocalZonedTimestampType(6), TimestampType(6)


def _from_hive_column(name: str, type_: DataType, spark: SparkType, zone: str) -> NamedNode:
    with at(f"column {name!r}"):
        node: Node = ColumnNode(name)
        given = with_timestamps(type_, spark, INSTANT)
        if given == type_:
            return node, name
        return convert(node, given, with_timestamps(type_, spark, LOCAL), zone), name


def _to_hive_column(name: str, type_: DataType, spark: SparkType, zone: str) -> NamedNode:
    """Convert a column for Hive; a time of day that the zone skips fails the job."""
    with at(f"column {name!r}"):
        node: Node = ColumnNode(name)
        stored = with_timestamps(type_, spark, INSTANT)
        if stored == type_:
            return node, name
        type_ = with_timestamps(type_, spark, LOCAL)
        problem = f"column {name!r}: the time zone {zone} of the JVM has no such time of day"
        return let(
            convert(node, type_, stored, zone),
            lambda value: inline(
                "if({back} <=> {given}, {value}, {problem})",
                back=convert(value, stored, type_, zone),
                given=node,
                value=value,
                problem=fail(problem),
            ),
        ), name
