"""Commits of rows into Iceberg's tables: tasks write files, one commit of the driver adds them."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyiceberg.expressions.literals import literal
from pyiceberg.io import load_file_io
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.transforms import IdentityTransform

from schema_core.connectors.iceberg.client import (
    catalog_properties,
    iceberg_errors,
    local_path,
    open_catalog,
    open_table,
    require_version,
)
from schema_core.connectors.iceberg.options import (
    BRANCH,
    CATALOG_DATABASE,
    CATALOG_TABLE,
    CATALOG_TYPE,
    DEFAULT_VERSION,
    FILE_PATH,
    FORMAT_VERSION,
    ICEBERG,
    PARTITION_BY,
)
from schema_core.connectors.iceberg.reading import (
    match_columns,
    plan_files,
    read_frame,
    snapshot_of,
)
from schema_core.connectors.iceberg.tasks import FileAccess, FileWriter, is_file_of, load_files
from schema_core.errors import ConflictError, SchemaCoreError, UnsupportedError
from schema_core.mappings.iceberg.partitioning import identity_terms, make_spec, parse_terms
from schema_core.mappings.iceberg.schemas import new_schema
from schema_core.mappings.spark.pyspark_types import as_months
from schema_core.schema.columns import PhysicalColumn, plain
from schema_core.spark.compiler.tree import quote
from schema_core.spark.connector import ReadContext, metadata_column
from schema_core.spark.session.api_mode import checkpoint_frame, functions_of
from schema_core.spark.session.worker_package import send_package
from schema_core.types import DataTypes, RowField

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import WriteContext

#: The property of a snapshot with the id of its job, as Iceberg's sink for Flink names it.
JOB: Final = "flink.job-id"
#: How often the commit of an append is tried, each time with the attempts of pyiceberg.
MAX_ATTEMPTS: Final = 20
#: The branch that is read by default.
MAIN: Final = "main"


class IcebergStage:
    """The files of a job, which `commit` adds to the table in one transaction.

    The table is as it was when the stage was made: a commit that replaces rows fails if others have
    changed them since; an append is repeated on the new state.
    """

    def __init__(self, context: WriteContext) -> None:
        self.committed: bool | None = False
        self._context = context
        self._job = context.job or uuid.uuid4().hex
        self._added: list[DataFile] = []
        self._has_written = False
        self._replaced: frozenset[str] = frozenset()
        self._table: Table | None = None
        if context.creates and context.replaced is None:
            self._access = new_table_access(context, self._job)
        else:
            self._table = open_table(context.options)
            require_version(self._table.metadata.format_version)
            match_columns(self._table, context.physical_columns)
            _require_read_snapshot(self._table, context)
            self._access = FileAccess(
                self._table.metadata.model_dump_json(), dict(self._table.io.properties)
            )

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write the rows of a frame into files; the context has the files that they replace."""
        self._context = context
        if not self._upserts:
            self._write_files(frame)
            return
        with checkpoint_frame(frame, when=True) as rows:  # the query is computed once
            self._write_files(self._with_kept_rows(rows))

    @property
    def _upserts(self) -> bool:
        """Whether the rows replace those with their key."""
        context = self._context
        replaces = context.overwrite or context.creates or context.row_change is not None
        return bool(context.upsert_key) and not replaces

    def _with_kept_rows(self, frame: DataFrame) -> DataFrame:
        """Return one row of each key, and the rows of the files that have a row with such a key.

        These files are replaced.
        """
        context, key = self._context, list(self._context.upsert_key)
        names = [quote(name) for name in context.physical_columns]
        rows = frame.select(*names).dropDuplicates(key)
        keys = rows.select(*map(quote, key))
        table = self._table
        if table is None or snapshot_of(table, _branch(context.options)) is None:
            return rows
        reading = ReadContext(
            identifier=context.identifier,
            table=context.table,
            configuration=context.configuration,
            session=context.session,
            zone=context.zone,
            metadata={FILE_PATH: DataTypes.STRING()},
            projection=tuple(name for name in context.physical_columns if name in key),
        )
        stored = read_frame(table, reading).join(keys, on=key, how="left_semi")
        paths = stored.select(quote(metadata_column(FILE_PATH))).distinct().collect()
        self._replaced = frozenset(row[0] for row in paths)
        if not self._replaced:
            return rows
        whole = replace(reading, metadata={}, projection=None, groups=self._replaced)
        kept = read_frame(table, whole).join(keys, on=key, how="left_anti")
        return kept.select(*names).unionByName(rows)

    def _write_files(self, frame: DataFrame) -> None:
        names = tuple(self._context.physical_columns)
        col = functions_of(frame).col
        columns: list[Any] = []
        for field in frame.schema.fields[: len(names)]:
            column = col(quote(field.name))
            for type_ in as_months(field.dataType):
                column = column.cast(type_)
            columns.append(column.alias(f"c{len(columns)}"))  # names are not quoted
        send_package(self._context.session)
        writer = FileWriter(self._access, names, self._job)
        rows = frame.select(*columns).mapInArrow(writer.write, "file binary").collect()
        metadata, _ = self._access.load()
        self._added += load_files(rows, metadata.default_spec_id)
        self._has_written = True

    def prepare(self) -> None:
        return None

    def commit(self) -> None:
        """Add the files, and remove those that they replace.

        Raises:
            ConflictError: with code `concurrent-modification` if others have changed the rows.
            ExternalError: as `iceberg_errors`.
        """
        table = self._table or self._new_table()
        removed = self._removed_files(table)
        self.committed = None
        try:
            if removed or (self._upserts and self._added):
                commit_files(
                    table, self._added, removed, self._context.options, {JOB: self._job},
                    checked=True,
                )  # fmt: skip
            elif self._added:
                self._append(table)
        except SchemaCoreError as error:
            if isinstance(error, ConflictError):
                self.committed = False
            raise
        self.committed = True

    def _append(self, table: Table) -> None:
        """Add the files, after those that other writers have added meanwhile."""
        options, spec = self._context.options, table.metadata.default_spec_id
        for attempt in range(MAX_ATTEMPTS):
            try:
                commit_files(table, self._added, (), options, {JOB: self._job})
                return
            except ConflictError:
                table = open_table(options)
                if attempt == MAX_ATTEMPTS - 1 or table.metadata.default_spec_id != spec:
                    raise

    def _new_table(self) -> Table:
        """Return the table that CREATE TABLE AS creates; one of another catalog is created now."""
        create_table(self._context, self._access.load()[0])
        return open_table(self._context.options)

    def _removed_files(self, table: Table) -> list[DataFile]:
        """Return the files whose rows the job replaces."""
        context = self._context
        change = context.row_change
        if not self._has_written or not (change or context.overwrite or self._replaced):
            return []
        files = [task.file for task in plan_files(table, _branch(context.options))]
        if change is not None:
            return [file for file in files if change.groups is None
                    or file.file_path in change.groups]  # fmt: skip
        if self._upserts:
            return [file for file in files if file.file_path in self._replaced]
        if context.creates or not context.table.partition_keys:
            return files
        if context.partition:
            return _files_of_partition(table, files, context.partition, self._added)
        partitions = {(file.spec_id, repr(file.partition)) for file in self._added}
        _require_current_spec(table, files)
        return [file for file in files if (file.spec_id, repr(file.partition)) in partitions]

    def abort(self) -> None:
        """Delete the files, unless they may be committed."""
        if self.committed is not False:
            return
        io = load_file_io(dict(self._access.properties), self._location())
        paths = {file.file_path for file in self._added}
        for path in paths | set(find_files(self._location(), self._job)):
            with suppress(Exception):  # an orphan file is never read
                io.delete(path)

    def _location(self) -> str:
        return str(self._access.load()[0].location)


def _branch(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key == BRANCH.key}


def _require_read_snapshot(table: Table, context: WriteContext) -> None:
    """Refuse to replace rows that others have changed since the query was planned."""
    if context.files is not None and context.files != snapshot_names(table, context.options):
        raise ConflictError(
            "another writer has changed the table since the query read it",
            hint="run the statement again",
        )


def snapshot_names(table: Table, options: Mapping[str, str]) -> frozenset[str]:
    """Return what identifies the rows of a table."""
    return frozenset({str(snapshot_of(table, _branch(options)))})


def commit_files(
    table: Table,
    added: Iterable[DataFile],
    removed: Iterable[DataFile],
    options: Mapping[str, str],
    properties: Mapping[str, str],
    *,
    checked: bool = False,
) -> None:
    """Add and remove files in one commit; errors as `iceberg_errors`.

    With `checked` others must not have added files since the table was loaded, as if some were
    removed.
    """
    branch, gone = BRANCH.of(options) or MAIN, list(removed)
    with iceberg_errors(), table.transaction() as transaction:
        update = transaction.update_snapshot(dict(properties), branch)
        with update.overwrite() if gone or checked else update.fast_append() as producer:
            for file in gone:
                producer.delete_data_file(file)
            for file in added:
                producer.append_data_file(file)


def _require_current_spec(table: Table, files: Sequence[DataFile]) -> None:
    spec = table.spec()
    if any(file.spec_id != spec.spec_id for file in files):
        raise UnsupportedError(
            "files of the table have other partitions than it has now, so single ones cannot be "
            "replaced",
            code="unsupported-ability",
            hint="DELETE the rows, and INSERT the new ones",
        )


def _files_of_partition(
    table: Table,
    files: Sequence[DataFile],
    partition: Mapping[str, str],
    added: Sequence[DataFile],
) -> list[DataFile]:
    """Return the files of the partitions that a PARTITION clause names.

    The values are compared as those of the new files, or as text if there is none.
    """
    _require_current_spec(table, files)
    names = {field.field_id: field.name for field in table.schema().fields}
    places = {
        names[field.source_id]: place
        for place, field in enumerate(table.spec().fields)
        if isinstance(field.transform, IdentityTransform)
    }
    if added:
        wanted = {name: added[0].partition[places[name]] for name in partition}
    else:
        wanted = {}
        for name, text in partition.items():
            field = table.spec().fields[places[name]]
            source = table.schema().find_field(field.source_id)
            wanted[name] = field.transform.transform(source.field_type)(
                _literal(text, source.field_type)
            )
    return [
        file
        for file in files
        if all(file.partition[places[name]] == value for name, value in wanted.items())
    ]


def _literal(text: str, type_: Any) -> Any:
    return literal(text).to(type_).value


def new_table_access(context: WriteContext, job: str) -> FileAccess:
    """Return the table that CREATE TABLE AS creates when it commits, as tasks have it.

    The ids of fields are those that the catalog gives to the columns. Its files are beside the
    directory that the table gets.

    Raises:
        UnsupportedError: with code `unsupported-ability` where the catalog chooses directories.
    """
    properties = catalog_properties(context.options)
    if CATALOG_TYPE.of(context.options) != "sql":
        raise UnsupportedError(
            "CREATE TABLE AS needs the directory of the table, which this catalog chooses",
            code="unsupported-ability",
            hint="CREATE the table, then INSERT INTO it",
        )
    columns = [
        RowField(column.name, plain(column.data_type), column.comment)
        for column in context.table.resolved_schema.columns
        if isinstance(column, PhysicalColumn)
    ]
    version = FORMAT_VERSION.of(context.options) or DEFAULT_VERSION
    require_version(version)
    schema = new_schema(columns, context.upsert_key, nanoseconds=False)
    terms = identity_terms(context.table.partition_keys)
    if (text := PARTITION_BY.of(context.options)) is not None:
        terms = parse_terms(text, ordered=False)
    spec: PartitionSpec = make_spec(terms, schema)
    location = f"{properties['warehouse']}/created/{job}"
    with iceberg_errors():
        metadata = new_table_metadata(
            schema, spec, UNSORTED_SORT_ORDER, location, {"format-version": version}
        )
    return FileAccess(metadata.model_dump_json(), properties)


def create_table(context: WriteContext, metadata: Any = None) -> None:
    """Create the table of the options in its catalog, with its database, unless it exists."""
    options = context.options
    namespace = tuple((CATALOG_DATABASE.of(options) or "").split("."))
    identifier = (*namespace, CATALOG_TABLE.of(options) or "")
    with iceberg_errors():
        catalog = open_catalog(ICEBERG, options)
        if catalog.table_exists(identifier):
            return
        if metadata is None:
            metadata = new_table_access(context, uuid.uuid4().hex).load()[0]
        catalog.create_namespace_if_not_exists(namespace)
        catalog.create_table_if_not_exists(
            identifier,
            metadata.schema(),
            location=metadata.location,
            partition_spec=metadata.spec(),
            properties={"format-version": str(metadata.format_version)},
        )


def find_files(location: str, job: str) -> list[str]:
    """Return the files of a job below the directory of a table on the local file system."""
    if (root := local_path(location)) is None:
        return []
    files = Path(root, "data").rglob("*.parquet")
    return [str(file) for file in files if is_file_of(str(file), job)]


def has_committed(table: Table, job: str) -> bool:
    """Return whether a snapshot of a table is that of a job."""
    return any(
        snapshot.summary is not None and snapshot.summary.additional_properties.get(JOB) == job
        for snapshot in table.metadata.snapshots
    )


def delete_rows(table: Table, options: Mapping[str, str]) -> None:
    """Delete all rows in one commit."""
    files = [task.file for task in plan_files(table, _branch(options))]
    if files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            commit_files(table, (), files, options, {})
