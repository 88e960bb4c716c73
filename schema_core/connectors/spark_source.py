"""The connector `spark`: any data source of Spark by name, and tables of Spark's catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.connectors.files.file_formats import truncate_to_precision
from schema_core.connectors.files.filesystem import definition_of
from schema_core.connectors.float_predicates import without_float_pushdown
from schema_core.connectors.shared_tables import (
    exclusive,
    name_of,
    reads_below,
    shares_source,
)
from schema_core.environment.connector import Ability, Visibility
from schema_core.environment.jobs.atomicity import Unstaged
from schema_core.environment.options import ConfigOption, choice
from schema_core.errors import (
    ExternalError,
    Gathering,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    choose_from,
    similar,
)
from schema_core.mappings.spark.pyspark_types import to_spark
from schema_core.spark.commit.commit import (
    FileStage,
    OverwriteScope,
    clean,
    is_uncommitted,
    recover,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import absolute, locate_file_system
from schema_core.spark.compiler.tree import Column
from schema_core.spark.connector import ConnectorBase, SupportsOverwrite, SupportsPartitioning
from schema_core.spark.jobs import causes, condition_of
from schema_core.spark.reading.sources import comparable
from schema_core.spark.session.api_mode import checkpoint_frame
from schema_core.spark.session.frames import select
from schema_core.spark.session.packages import PACKAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructType

    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.connector import ReadContext, TableContext, WriteContext
    from schema_core.types import DataType

FORMAT = ConfigOption(
    "format", str, None, "the data source: its short name, such as delta, or its class"
)
TABLE = ConfigOption("table", str, None, "instead of a format: a table of Spark's catalogs")
PATH = ConfigOption(
    "path",
    str,
    None,
    "where the data is, for data sources of files; if relative, below the current directory of "
    "the process",
)
PASSED_ON = ConfigOption(
    "option", str, None, "`option.key` is the option `key` of the data source", is_map=True
)
SCHEMA = ConfigOption(
    "schema",
    choice("source", "table"),
    "source",
    "`source`: the types of the data source must be those of the table; `table`: they are given "
    "to the data source, which csv and json need",
)
MODE = ConfigOption(
    "sink.mode",
    choice("append", "error", "ignore"),
    "append",
    "what INSERT INTO does where there are rows: add, fail, or nothing",
)

#: Data sources that Spark includes.
BUILT_IN = ("parquet", "orc", "csv", "json", "text", "jdbc", "xml")
#: Data sources that can replace only the partitions that get rows.
DYNAMIC = frozenset({"parquet", "orc", "csv", "json", "text", "avro", "xml", "delta"})
#: Data sources whose files are staged for CREATE and REPLACE TABLE AS.
STAGED = DYNAMIC - {"delta"}
#: Data sources whose path names files; for others it may be any name.
OF_FILES = DYNAMIC | {"binaryfile", "hudi"}

#: Data source -> when readers see a job's rows. Finished files are moved one by one; each task of
#: `jdbc` commits for itself.
VISIBILITY: Mapping[str, Visibility] = {
    **dict.fromkeys((*DYNAMIC, "jdbc"), Visibility.INCREMENTAL),
    **dict.fromkeys(("delta", "hudi", "iceberg"), Visibility.FINAL),
}

#: Data sources whose tables a connector of their name reads and writes without a jar.
WITHOUT_JAR = frozenset({"delta", "iceberg"})

_NOT_FOUND = ("DATA_SOURCE_NOT_FOUND", "_DATA_SOURCE_NOT_ENABLED", "FAILED_TO_FIND")


class SparkSourceConnector(ConnectorBase, SupportsOverwrite, SupportsPartitioning):
    """A data source or a table of Spark. Abilities depend on the data source."""

    identifier: ClassVar[str] = "spark"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)
    options: ClassVar[Sequence[ConfigOption[Any]]] = (FORMAT, TABLE, PATH, PASSED_ON, SCHEMA, MODE)

    def visibility(self, options: Mapping[str, str]) -> Visibility:
        """Return the data source's visibility; `Visibility.WRITE_VISIBLE` if unknown."""
        source = (FORMAT.of(options) or "").lower()
        return VISIBILITY.get(source, Visibility.WRITE_VISIBLE)

    def creation_abilities(self, options: Mapping[str, str]) -> frozenset[Ability]:
        """Files can be staged: their directory is written as a whole."""
        source = (FORMAT.of(options) or "").lower()
        staged = source in STAGED and PATH.key in options and MODE.key not in options
        return frozenset({Ability.STAGING} if staged else ())

    def stage(self, context: WriteContext) -> Stage:
        """Return a hidden directory for CREATE or REPLACE TABLE AS; None for INSERT.

        Codes: `target-not-empty` (the directory of a new table contains files),
        `invalid-option-value`, `file-system-failed`.
        """
        if not context.creates:
            return Unstaged()
        directory, old = _directory(context), context.replaced
        new = definition_of(context.identifier, context.table)
        held = definition_of(context.identifier, old) if old is not None else None
        scope = OverwriteScope(empty=True)
        if old is not None and _has_source(old):
            owns = _locate_directory(context.session, old).root == directory.root
            scope = OverwriteScope(everything=owns, empty=not owns)
        changed = new if held not in (None, new) else None
        stage = FileStage(directory, scope, held=held, definition=changed, id=context.job)
        stage.check()
        return stage

    def was_committed(self, context: WriteContext, job: str) -> bool:
        """Return whether the directory has files, and no uncommitted ones of the job."""
        directory = _directory(context)
        recover(directory, definition_of(context.identifier, context.table))
        if is_uncommitted(directory, job):
            return False
        return directory.status("") is not None and bool(directory.files())

    def recover(self, context: WriteContext) -> None:
        """Complete the commits of killed jobs; remove their uncommitted files."""
        if Ability.STAGING in self.creation_abilities(context.options):
            held = definition_of(context.identifier, context.table)
            clean(_directory(context), held, created=context.creates)

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the data source.

        Codes: `missing-option` (not one of format and table), `factory-not-found`,
        `schema-mismatch`.
        """
        source, table = _source_of(context.options)
        self._complete(context)
        with source_errors(source, context.session.version):
            if table is not None:
                frame = context.session.table(table)
            else:
                reader = context.session.read.format(source)
                path = _path(source, context)
                frame = load(reader, context, path)
                if (schema := _with_partitions(source, frame, context)) is not None:
                    frame = reader.schema(schema).load(path)
            return select_columns(without_float_pushdown(frame), context)

    def _complete(self, context: TableContext) -> None:
        """Complete the commits of killed jobs before a table's files are used."""
        if Ability.STAGING in self.creation_abilities(context.options):
            recover(_directory(context), definition_of(context.identifier, context.table))

    def validate_write(self, context: WriteContext) -> None:
        """Refuse options without a data source, and what it cannot overwrite.

        Codes: `missing-option`, as `read`; `unsupported-ability` for INSERT OVERWRITE of partitions
        where the data source would replace all rows.
        """
        source, table = _source_of(context.options)
        keys = context.table.partition_keys
        is_partial = context.overwrite and keys and not context.creates
        if is_partial and (table is not None or source.lower() not in DYNAMIC):
            replaced = (
                f"the data source {source!r}" if table is None else f"Spark's table {table!r}"
            )
            raise UnsupportedError(
                f"INSERT OVERWRITE replaces all rows of {replaced}, not single partitions",
                code="unsupported-ability",
                hint="use INSERT INTO, or the connector 'filesystem'",
            )

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows; errors as `read`.

        `unsupported-ability` for INSERT OVERWRITE of one partition by no rows: Spark replaces only
        partitions of the rows that it writes.
        """
        source, table = _source_of(context.options)
        if table is not None:
            _write_table(frame, table, context)
            return
        keys = context.table.partition_keys
        replaced = set(context.partition or ()) if context.overwrite else set()
        if replaced and replaced == set(keys) and frame.isEmpty():
            raise UnsupportedError(
                f"the data source {source!r} cannot replace a partition by no rows",
                code="unsupported-ability",
                hint="delete the partition, or use the connector 'filesystem'",
            )
        path = _path(source, context)
        if isinstance(stage := context.stage, FileStage):
            stage.open()
            place = (
                f"file://{stage.staging_directory}" if stage.is_beside else f"{path}/{stage.name}"
            )
            staged = frame.write.format(source).mode("append").partitionBy(*keys)
            with source_errors(source, context.session.version):
                staged.options(**PASSED_ON.entries(context.options)).save(place)
            return
        self._complete(context)
        root = None
        if path is not None and source.lower() in OF_FILES:
            root = locate_file_system(context.session, path)[1]
        reads_itself = context.overwrite and root is not None and reads_below(frame, root)
        with (
            checkpoint_frame(frame, when=reads_itself) as rows,
            source_errors(source, context.session.version),
            exclusive(root or f"{source} {path}"),
        ):
            writer = rows.write.format(source).mode(mode_of(context, MODE.of(context.options)))
            if keys:
                replaced_parts = "static" if context.creates else "dynamic"
                writer = writer.partitionBy(*keys).option("partitionOverwriteMode", replaced_parts)
            writer.options(**PASSED_ON.entries(context.options)).save(path)


def _directory(context: TableContext) -> Directory:
    return _locate_directory(context.session, context.table)


def _locate_directory(session: SparkSession, table: CatalogTable) -> Directory:
    return Directory(*locate_file_system(session, absolute(session, PATH.of(table.options) or "")))


def _has_source(table: CatalogTable) -> bool:
    """Return whether a table has files that this connector stages."""
    is_ours = table.options.get("connector") == SparkSourceConnector.identifier
    return is_ours and PATH.key in table.options


def _source_of(options: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the data source, or the table (`missing-option` unless there is exactly one)."""
    source, table = FORMAT.of(options), TABLE.of(options)
    if (source is None) == (table is None):
        raise SchemaError(
            "either the option 'format' or the option 'table' is required",
            code="missing-option",
            hint="set 'format' = 'parquet', or 'table' = 'spark_catalog.default.orders'",
        )
    return source or "", table


def _with_partitions(source: str, frame: DataFrame, context: ReadContext) -> StructType | None:
    """Return the schema of files with the declared types of the partition columns.

    None if Spark infers these types from the names of directories.
    """
    if source.lower() not in DYNAMIC - {"delta"}:
        return None
    from pyspark.sql.types import StructField, StructType

    declared = {
        key: to_spark(context.physical_columns[key]) for key in context.table.partition_keys
    }
    schema = StructType(
        [
            StructField(
                field.name, declared.get(field.name, field.dataType), field.nullable, field.metadata
            )
            for field in frame.schema.fields
        ]
    )
    return None if schema == frame.schema else schema


def _path(source: str, context: TableContext) -> str | None:
    path = PATH.of(context.options)
    if path is None or source.lower() not in OF_FILES:
        return path
    return absolute(context.session, path)


def load(reader: DataFrameReader, context: ReadContext, path: str | None = None) -> DataFrame:
    """Return the rows of a data source."""
    if SCHEMA.of(context.options) == "table":
        reader = reader.schema(context.spark_schema)
    return reader.options(**PASSED_ON.entries(context.options)).load(path)


def mode_of(context: WriteContext, inserting: str | None) -> str:
    """Return Spark's write mode; CREATE TABLE AS must find no rows."""
    if context.overwrite:
        return "overwrite"
    if context.creates and MODE.key not in context.options:
        return "error"
    return inserting or "append"


@contextmanager
def source_errors(source: str, version: str) -> Iterator[None]:
    """Convert Spark's errors for a missing data source to `factory-not-found`.

    The error names the package that has it.
    """
    try:
        yield
    except Exception as error:
        conditions = [str(error), *(condition_of(cause) or "" for cause in causes(error))]
        if not any(mark in condition for mark in _NOT_FOUND for condition in conditions):
            raise
        package = PACKAGES.get(source.lower(), "").format(spark=version)
        setting = f"'spark.jars.packages' = '{package}'" if package else "'spark.jars.packages'"
        hint = f"start Spark with {setting}, or with the path of its jar as 'spark.jars'"
        if source.lower() in WITHOUT_JAR:
            hint += f"; the connector {source.lower()!r} needs no jar"
        close = None if package else similar(source, BUILT_IN)
        raise NotFoundError(
            f"Spark has no data source {source!r}",
            code="factory-not-found",
            hint=f"{hint}; {close}" if close else hint,
        ) from None


def _write_table(frame: DataFrame, table: str, context: WriteContext) -> None:
    """Write into a table of Spark's catalogs, by column names."""
    if context.creates and not context.overwrite:
        frame.write.mode("error").saveAsTable(table)
        return
    target = context.session.table(table)
    compare(target, context.physical_columns)
    if extra := sorted(set(target.columns) - set(context.physical_columns)):
        raise ExternalError(
            f"Spark's table {table!r} has further columns: {', '.join(map(repr, extra))}",
            code="schema-mismatch",
            hint="declare them to write the table",
        )
    reads_itself = context.overwrite and shares_source(frame, target)
    with (
        checkpoint_frame(frame, when=reads_itself) as rows,
        exclusive(name_of(context.session, table)),
    ):
        ordered = select(rows, [(Column(name), name) for name in target.columns])
        ordered.write.insertInto(table, overwrite=context.overwrite)


# --- types ---------------------------------------------------------------------------------


def select_columns(frame: DataFrame, context: ReadContext) -> DataFrame:
    """Return a table's columns in a frame, without further ones; errors as `compare`."""
    compare(frame, context.columns)
    columns = context.columns.items()
    return select(
        frame, [(truncate_to_precision(Column(name), type_), name) for name, type_ in columns]
    )


def compare(frame: DataFrame, declared: Mapping[str, DataType]) -> None:
    """Compare the columns of a data source with a table's, by name.

    `schema-mismatch` names every column that is missing or of another type.
    """
    types = {field.name: field.dataType for field in frame.schema.fields}
    gathered = Gathering()
    for name, type_ in declared.items():
        with gathered.catching():
            _compare(name, type_, types)
    gathered.raise_all()


def _compare(name: str, type_: DataType, types: Mapping[str, SparkType]) -> None:
    shown = type_.nullable().as_summary_string()
    if name not in types:
        raise ExternalError(
            f"the data source has no column {name!r}",
            code="schema-mismatch",
            hint=choose_from(name, types),
        )
    expected, actual = to_spark(type_), types[name]
    if comparable(actual) != comparable(expected):
        raise ExternalError(
            f"column {name!r} is {actual.simpleString()} in the data source, but {shown} in the "
            f"table, which is {expected.simpleString()}",
            code="schema-mismatch",
            hint="declare the column with the type of the data source and CAST it in queries",
        )
