"""The environments of streams: of their own, and of streams with tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schema_core.base.arguments import require_instance
from schema_core.environment.config import Configuration, EnvironmentSettings
from schema_core.environment.jobs.client import JobExecutionResult
from schema_core.environment.jobs.run import JobID
from schema_core.environment.operations.streaming_sinks import has_updates, require_appended
from schema_core.environment.options import PARALLELISM, RUNTIME_MODE
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.environment.session import Session
from schema_core.environment.table_api.relational import require_expression
from schema_core.environment.table_api.table import Table, require_table
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.errors import SchemaError, UnsupportedError, similar
from schema_core.expressions.fluent import Expression
from schema_core.expressions.fluent_functions import call_sql, col, descriptor, map_
from schema_core.pyflink.absent import RefusesMethods
from schema_core.pyflink.common.typeinfo import (
    ExternalTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
    storage_type,
    type_info_of,
)
from schema_core.pyflink.datastream.data_stream import DataStream
from schema_core.pyflink.datastream.execution_mode import RuntimeExecutionMode
from schema_core.pyflink.datastream.stream_rows import (
    KEY,
    KIND,
    ORDER,
    TIME,
    StreamRows,
    column_types,
    row_type,
)
from schema_core.schema.columns import (
    Column,
    MetadataColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.spark.changelog import CHANGE_ORDER, ROW_KIND, normalized
from schema_core.spark.compiler.tree import quote
from schema_core.sql import syntax
from schema_core.types import DataTypes, supports_implicit_cast
from schema_core.types.row_value import Row, RowKind

__all__ = ["StreamExecutionEnvironment", "StreamTableEnvironment"]

#: The metadata of streams with timestamps.
ROWTIME = "rowtime"


class StreamExecutionEnvironment(RefusesMethods):
    """Creates streams of collections, and runs the jobs that print them."""

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        self._options = dict(options or {})
        self._tables: StreamTableEnvironment | None = None
        self._sinks: list[Callable[[], None]] = []
        self._max_parallelism = -1
        self._dependencies: list[Callable[[TableEnvironment], None]] = []

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment with the options of a configuration."""
        require_instance(configuration, (Configuration, type(None)), "configuration")
        return StreamExecutionEnvironment(configuration and configuration.to_dict())

    # --- settings ------------------------------------------------------------------------------

    def configure(self, configuration: Configuration) -> None:
        """Set the options of a configuration, for table environments that are created later."""
        self._options |= require_instance(configuration, Configuration, "configuration").to_dict()

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Run jobs in streaming mode, the default, or in batch mode."""
        require_instance(execution_mode, RuntimeExecutionMode, "execution_mode")
        self._options[RUNTIME_MODE.key] = execution_mode.name
        return self

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set how many tasks write a table in a batch job at most (``parallelism.default``).

        -1 is the default.

        Raises:
            SchemaError: with code `invalid-argument` if the number is 0 or less than -1.
        """
        number = require_instance(parallelism, int, "parallelism")
        if number < 1 and number != -1:
            raise SchemaError(
                f"parallelism must be at least 1, or -1 for the default, got {number}",
                code="invalid-argument",
            )
        self._options[PARALLELISM.key] = str(number)
        return self

    def get_parallelism(self) -> int:
        """Return the number of `set_parallelism`, by default 1."""
        return PARALLELISM.of(self._options) or 1

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set the number that `get_max_parallelism` returns; without effect on Spark."""
        self._max_parallelism = require_instance(max_parallelism, int, "max_parallelism")
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of `set_max_parallelism`, by default -1."""
        return self._max_parallelism

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """Return the environment itself: Spark sends no buffers."""
        require_instance(timeout_millis, int, "timeout_millis")
        return self

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Return the environment itself: Spark plans the tasks."""
        return self

    # --- dependencies of functions -------------------------------------------------------------

    def add_python_file(self, file_path: str) -> None:
        """Add modules that functions import, as `TableEnvironment.add_python_file`."""
        self._depend(lambda tables: tables.add_python_file(file_path))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Add an archive that functions read, as `TableEnvironment.add_python_archive`."""
        self._depend(lambda tables: tables.add_python_archive(archive_path, target_dir))

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Set the packages of functions, as `TableEnvironment.set_python_requirements`."""
        self._depend(
            lambda tables: tables.set_python_requirements(
                requirements_file_path, requirements_cache_dir
            )
        )

    def _depend(self, add: Callable[[TableEnvironment], None]) -> None:
        """Add a dependency to the first table environment, and to those that are created later."""
        self._dependencies.append(add)
        if self._tables is not None:
            add(self._tables)

    # --- streams -------------------------------------------------------------------------------

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of values, in their order.

        Args:
            collection: The values.
            type_info: Their type; by default any Python object.

        Raises:
            SchemaError: with code `invalid-argument`; when the stream is used, with code
                `invalid-data` or `limit-exceeded`.
        """
        require_instance(collection, Iterable, "collection")
        require_instance(type_info, (TypeInformation, type(None)), "type_info")
        values = list(collection)
        type_ = Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info

        def build(tables: TableEnvironment) -> StreamRows:
            kinds = [_kind_of(value) for value in values]
            hidden = (ORDER,) if set(kinds) <= {str(RowKind.INSERT)} else (KIND, ORDER)
            rows = [
                Row(*type_.to_columns(value), *([kind] if KIND in hidden else []), [place])
                for place, (value, kind) in enumerate(zip(values, kinds, strict=True))
            ]
            table = tables.from_elements(rows, row_type(type_, hidden))
            return StreamRows(table, type_, hidden, tables._session)  # noqa: SLF001 - as a subclass

        return DataStream(self, type_, build)

    def add_sink(self, run: Callable[[], None]) -> None:
        """Add what `execute` runs."""
        self._sinks.append(run)

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the jobs that print streams, one after the other, and wait for them.

        Raises:
            SchemaError: with code `invalid-state` if no stream is printed: jobs of tables are
                started by `execute_insert` and `execute_sql`.
        """
        require_instance(job_name, (str, type(None)), "job_name")
        sinks, self._sinks = self._sinks, []
        if not sinks:
            raise SchemaError(
                "no stream is printed",
                code="invalid-state",
                hint="call print() of a stream; execute_insert of a table starts its job itself",
            )
        begin = time.monotonic()
        for run in sinks:
            run()
        return JobExecutionResult(JobID.generate(), int(1000 * (time.monotonic() - begin)))

    def close(self) -> None:
        """Forget the streams that are to be printed."""
        self._sinks.clear()

    # --- tables --------------------------------------------------------------------------------

    @property
    def table_environment(self) -> StreamTableEnvironment:
        """The table environment of the streams: the first that was created for this one."""
        return self._tables or StreamTableEnvironment.create(self)

    def create_tables(self, settings: EnvironmentSettings | None) -> StreamTableEnvironment:
        """Create a table environment with these settings and the options of this environment."""
        if settings is None:
            streaming = EnvironmentSettings.new_instance().in_streaming_mode()
            settings = streaming.with_configuration(self._options).build()
        created = TableEnvironment.create(settings)
        for key, value in self._options.items():
            if key != RUNTIME_MODE.key:
                created.get_config().set(key, value)
        tables = StreamTableEnvironment(created._session, self)  # noqa: SLF001 - of the base class
        for add in self._dependencies:
            add(tables)
        self._tables = self._tables or tables
        return tables


class StreamTableEnvironment(TableEnvironment):
    """A table environment that converts streams to tables and back."""

    def __init__(self, session: Session, environment: StreamExecutionEnvironment) -> None:
        super().__init__(session)
        self._environment = environment

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """Create an environment of tables and streams.

        Args:
            stream_execution_environment: The environment of the streams; by default a new one.
            environment_settings: The settings; by default streaming mode, or the mode of
                `set_runtime_mode`.
        """
        environment = stream_execution_environment or StreamExecutionEnvironment()
        require_instance(environment, StreamExecutionEnvironment, "stream_execution_environment")
        require_instance(
            environment_settings, (EnvironmentSettings, type(None)), "environment_settings"
        )
        return environment.create_tables(environment_settings)

    # --- from streams --------------------------------------------------------------------------

    def from_data_stream(
        self, data_stream: DataStream, *fields_or_schema: Expression | Schema
    ) -> Table:
        """Return the values of a stream as a table.

        Args:
            data_stream: The stream: a column for each field of its values, or the column f0.
            fields_or_schema: A schema: physical columns are fields of the values, cast to their
                types; expressions may also read fields that the schema does not declare. Without
                physical columns, all fields come first. The metadata ``rowtime`` is the timestamp
                of `DataStream.assign_timestamps_and_watermarks`. Or new names of the columns, with
                ``col("p").proctime`` for one more.

        Raises:
            SchemaError: with code `unknown-column`, `invalid-metadata-column`, or the codes of
                schemas.
            UnsupportedError: with code `needs-flink` for values of any Python object, from which no
                columns can be made.
        """
        require_instance(data_stream, DataStream, "data_stream")
        rows = _require_columns(data_stream.build_rows(self).without_hidden((ORDER,)))
        if KIND in rows.hidden and isinstance(rows.type_info, RowTypeInfo | ExternalTypeInfo):
            raise SchemaError(
                "the stream has updates or deletions, and the table would have only added rows",
                code="invalid-argument",
                hint="call from_changelog_stream",
            )
        match fields_or_schema:
            case ():
                return _with_derived_types(rows.without_hidden())
            case (Schema() as schema,):
                return self._with_schema(rows, schema)
            case fields:
                return _with_names(_with_derived_types(rows.without_hidden()), fields)

    def create_temporary_view(  # type: ignore[override]
        self,
        view_path: str,
        table_or_data_stream: Any,
        *fields_or_schema: Any,
        **options: Any,
    ) -> None:
        """Create a temporary view of a table, a DataFrame or a stream.

        Args:
            view_path: The path of the view.
            table_or_data_stream: What the view reads.
            fields_or_schema: For a stream those of `from_data_stream`; otherwise the further
                arguments of `TableEnvironment.create_temporary_view`.
            options: As `fields_or_schema`, by name.
        """
        if isinstance(table_or_data_stream, DataStream):
            table = self.from_data_stream(table_or_data_stream, *fields_or_schema)
            super().create_temporary_view(view_path, table, **options)
            return
        super().create_temporary_view(view_path, table_or_data_stream, *fields_or_schema, **options)

    def from_changelog_stream(
        self,
        data_stream: DataStream,
        schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> Table:
        """Return the rows that a stream of changes leaves as a table.

        Args:
            data_stream: The stream: its values are rows with kinds, such as ``+U``.
            schema: A schema, as for `from_data_stream`. Its key identifies the rows of upserts.
            changelog_mode: The kinds of the rows, by default all; of added rows, the table is that
                of `from_data_stream`. Of upserts, the row of a key replaces the former one.

        Raises:
            SchemaError: as `from_data_stream`; with code `invalid-argument` for upserts without a
                key, `unknown-column` for upserts without a column of the key.
        """
        require_instance(data_stream, DataStream, "data_stream")
        require_instance(changelog_mode, (ChangelogMode, type(None)), "changelog_mode")
        mode = changelog_mode or ChangelogMode.all()
        if mode == ChangelogMode.insert_only():
            return self.from_data_stream(data_stream, *(() if schema is None else (schema,)))
        rows = _require_columns(data_stream.build_rows(self).without_hidden((ORDER, TIME, KEY)))
        changes = rows.with_kinds()
        if not mode.contains(RowKind.UPDATE_BEFORE):
            changes = changes._replace(table=self._normalize_upserts(changes, schema))
        codes = [(str(kind), kind.name) for kind in RowKind]
        mapping = map_(*(text for pair in codes for text in pair))
        table = changes.table.from_changelog(
            descriptor(KIND).as_argument("op"), mapping.as_argument("op_mapping")
        )
        changed = rows._replace(table=table, hidden=())
        if schema is None:
            return _with_derived_types(changed)
        columns = _declared_columns(schema, changed)
        return table.select(*(col(name).cast(type_).alias(name) for name, type_ in columns))

    def _normalize_upserts(self, changes: StreamRows, schema: Schema | None) -> Table:
        """Return changes by key, in their order, with the rows before updates."""
        key = None if schema is None else schema.primary_key
        if key is None:
            raise SchemaError(
                "a stream of upserts requires a schema with a primary key",
                code="invalid-argument",
                hint="declare the columns that identify a row by Schema.Builder.primary_key",
            )
        columns = Schema.new_builder().from_resolved_schema(changes.table.get_resolved_schema())
        own = [name for name in changes.table.column_names() if name != KIND]
        for name in key.column_names:
            if name not in own:
                raise SchemaError(
                    f"the stream of upserts has no column {name!r} of the primary key",
                    code="unknown-column",
                    hint=similar(name, own) or "declare a key of columns of the stream",
                )
        frame = changes.table.to_spark()
        order = f"struct(monotonically_increasing_id() AS place) AS {quote(CHANGE_ORDER)}"
        ordered = frame.withColumnRenamed(KIND, ROW_KIND).selectExpr("*", order)
        upserts = normalized(ordered, list(key.column_names), own).orderBy(quote(CHANGE_ORDER))
        in_order = [ROW_KIND if name == KIND else name for name in frame.columns]
        result = upserts.select(*map(quote, in_order)).toDF(*frame.columns)
        return self.from_spark(result, columns.build())

    def _with_schema(self, rows: StreamRows, schema: Schema) -> Table:
        """Return the table of a schema, whose expressions may read all fields of the stream."""
        metadata = [each for each in schema.columns if isinstance(each, UnresolvedMetadataColumn)]
        times = {each.name: _time_of(each, rows) for each in metadata}
        columns = [
            UnresolvedPhysicalColumn(each.name, each.data_type, each.comment)
            if isinstance(each, UnresolvedMetadataColumn) else each
            for each in schema.columns
        ]  # fmt: skip
        names = {each.name for each in columns}
        fields = [name for name in rows.type_info.column_names if name not in names]
        types = dict(zip(rows.type_info.column_names, column_types(rows.type_info), strict=True))
        undeclared = [UnresolvedPhysicalColumn(name, types[name]) for name in fields]
        source = rows.without_hidden().table
        if times:
            columns_read = [*map(col, types), *times.values()]
            source = rows.table.select(*columns_read)
        full = replace(schema, columns=(*undeclared, *columns))
        table = self.from_spark(source.to_spark(), full)
        resolved = table.get_resolved_schema()
        is_physical = any(isinstance(each, UnresolvedPhysicalColumn) for each in schema.columns)
        if fields and is_physical:
            table = table.select(*(col(each.name) for each in columns))
            resolved = replace(
                resolved, columns=tuple(each for each in resolved.columns if each.name in names)
            )
        shown = _with_metadata(resolved, metadata)
        return Table(self._session, table.query, table.relation, shown)

    # --- to streams ----------------------------------------------------------------------------

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table as a stream (`streaming-not-supported` for updates)."""
        require_table(table, self._session)
        require_appended(self._session, table.relation)
        return self._stream_of(table)

    def to_changelog_stream(
        self,
        table: Table,
        target_schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> DataStream:
        """Return the changes of a table as a stream of rows with kinds.

        Of a bounded table, these are the changes that `collect` returns.

        Args:
            table: The table.
            target_schema: The columns of the rows, by position: with the names of the table's
                columns, and types to which these can be cast implicitly. Its key is not used.
            changelog_mode: The kinds of changes, by default all; without those before an update,
                the updates have only their new rows.

        Raises:
            SchemaError: with code `invalid-argument` for a schema of other columns.
            UnsupportedError: with code `streaming-not-supported` for updates of an unbounded table,
                or where `changelog_mode` has only insertions.
        """
        require_table(table, self._session)
        require_instance(target_schema, (Schema, type(None)), "target_schema")
        require_instance(changelog_mode, (ChangelogMode, type(None)), "changelog_mode")
        mode = changelog_mode or ChangelogMode.all()
        is_endless = find_unbounded_table(self._session, table.relation) is not None
        if is_endless or mode == ChangelogMode.insert_only():
            require_appended(self._session, table.relation)
        if target_schema is not None:
            table = _with_target_columns(table, self._session.resolver.resolve(target_schema))
        stream = self._stream_of(table)
        if is_endless or not has_updates(self._session, table.relation):
            return stream
        return stream.with_changes(mode)

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table as a stream of values of a type.

        Raises:
            SchemaError: with code `invalid-argument` for a type of other columns.
            UnsupportedError: with code `streaming-not-supported` for a table with updates.
        """
        require_table(table, self._session)
        require_appended(self._session, table.relation)
        return self._typed_stream(table, type_info)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the changes of a table as pairs of whether a value is added, and the value.

        Errors are those of `to_append_stream`, but a bounded table may have updates.
        """
        require_table(table, self._session)
        if find_unbounded_table(self._session, table.relation) is not None:
            require_appended(self._session, table.relation)
        pairs = Types.TUPLE([Types.BOOLEAN(), type_info])
        return self._typed_stream(table, type_info).as_retractions(pairs)

    def _stream_of(self, table: Table) -> DataStream:
        columns = table.get_resolved_schema().columns
        types = [type_info_of(column.data_type) for column in columns]
        info = ExternalTypeInfo(RowTypeInfo(types, [column.name for column in columns]))
        return self._stream(table, info)

    def _typed_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        require_instance(type_info, TypeInformation, "type_info")
        given = [each.data_type for each in table.get_resolved_schema().columns]
        expected = type_info.column_types
        if [each.nullable() for each in map(storage_type, given)] != [
            each.nullable() for each in map(storage_type, expected)
        ]:
            raise SchemaError(
                f"the columns of the table are {', '.join(map(str, given))}, those of "
                f"{type_info!r} are {', '.join(map(str, expected))}",
                code="invalid-argument",
                hint="cast the columns, or pass other types",
            )
        return self._stream(table.alias(*type_info.column_names), type_info)

    def _stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        def build(tables: TableEnvironment) -> StreamRows:
            session = tables._session  # noqa: SLF001 - of the base class
            return StreamRows(require_table(table, session), type_info, (), session)

        return DataStream(self._environment, type_info, build, self)


def _kind_of(value: Any) -> str:
    return str(value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT)


def _time_of(column: UnresolvedMetadataColumn, rows: StreamRows) -> Any:
    """Return the timestamps of a stream as a metadata column (`invalid-metadata-column`)."""
    key = column.metadata_key or column.name
    if key != ROWTIME or TIME not in rows.hidden:
        raise SchemaError(
            f"the stream has no metadata {key!r}",
            code="invalid-metadata-column",
            hint="the key 'rowtime' requires assign_timestamps_and_watermarks with an assigner",
        )
    return call_sql(f"TO_TIMESTAMP_LTZ(`{TIME}`, 3)").alias(column.name)


def _with_metadata(
    schema: ResolvedSchema, declared: Sequence[UnresolvedMetadataColumn]
) -> ResolvedSchema:
    """Return the schema with the columns that were declared as metadata."""
    keys = {each.name: each for each in declared}
    columns = tuple(
        MetadataColumn(
            each.name, each.data_type, keys[each.name].metadata_key, keys[each.name].virtual
        )
        if each.name in keys else each
        for each in schema.columns
    )  # fmt: skip
    return replace(schema, columns=columns)


def _with_derived_types(rows: StreamRows) -> Table:
    """Return the rows with the data types that Flink derives."""
    types = zip(rows.type_info.column_names, rows.type_info.column_types, strict=True)
    return rows.table.select(
        *(
            col(name) if storage_type(type_) == type_ else col(name).cast(type_).alias(name)
            for name, type_ in types
        )
    )


def _with_names(table: Table, fields: Sequence[object]) -> Table:
    """Return columns by their names, or with new names by their positions, and time attributes."""
    names: list[str] = []
    added: list[Any] = []
    for field in fields:
        match require_expression(field):
            case syntax.Name(parts=(name,)):
                names.append(name)
            case syntax.Call(name="$PROCTIME", arguments=(syntax.Name(parts=(name,)),)):
                added.append(call_sql("PROCTIME()").alias(name))
            case tree:
                raise UnsupportedError(
                    f"{tree} is not the name of a column",
                    code="needs-flink",
                    hint="pass a Schema, with computed columns and the metadata 'rowtime'",
                )
    if set(names) <= set(table.column_names()):
        return table.select(*map(col, names), *added)
    given = table.column_names()
    if len(names) > len(given):
        raise SchemaError(
            f"{len(names)} names given for {len(given)} columns", code="column-count-mismatch"
        )
    renamed = (col(old).alias(new) for old, new in zip(given, names, strict=False))
    return table.select(*renamed, *added)


def _require_columns(rows: StreamRows) -> StreamRows:
    """Require that values have columns (`needs-flink` for any Python objects)."""
    if rows.type_info == Types.PICKLED_BYTE_ARRAY():
        raise UnsupportedError(
            "values of any Python object are not columns of a table",
            code="needs-flink",
            hint="pass output_type, or type_info for a collection",
        )
    return rows


def _declared_columns(schema: Schema, rows: StreamRows) -> list[tuple[str, Any]]:
    """Return the names and types of the physical columns of a schema, or those of the rows."""
    names = rows.type_info.column_names
    columns = [each for each in schema.columns if isinstance(each, UnresolvedPhysicalColumn)]
    if len(columns) < len(schema.columns) or schema.watermark_specs:
        raise UnsupportedError(
            "a stream of changes has physical columns only",
            code="needs-flink",
            hint="compute further columns with add_columns of the table",
        )
    if unknown := [each.name for each in columns if each.name not in names]:
        raise SchemaError(
            f"there is no field {unknown[0]!r}: the fields are {', '.join(names)}",
            code="unknown-column",
        )
    if not columns:
        return list(zip(names, rows.type_info.column_types, strict=True))
    return [(each.name, DataTypes.of(each.data_type)) for each in columns]


def _with_target_columns(table: Table, schema: ResolvedSchema) -> Table:
    """Return a table with the types of columns with the same names (`invalid-argument`)."""
    own, targets = table.get_resolved_schema().columns, schema.columns
    fit = len(own) == len(targets) and all(
        column.name == target.name
        and supports_implicit_cast(column.data_type.nullable(), target.data_type.nullable())
        for column, target in zip(own, targets, strict=False)
    )
    if not fit:
        raise SchemaError(
            f"the columns of the table are {_show_columns(own)}, those of the schema "
            f"{_show_columns(targets)}",
            code="invalid-argument",
            hint="select and cast the columns of the table",
        )
    pairs = zip(own, targets, strict=True)
    return table.select(
        *(
            col(column.name)
            if column.data_type.nullable() == target.data_type.nullable()
            else col(column.name).cast(target.data_type.nullable()).alias(column.name)
            for column, target in pairs
        )
    )


def _show_columns(columns: Sequence[Column]) -> str:
    return ", ".join(f"{column.name} {column.data_type}" for column in columns)
