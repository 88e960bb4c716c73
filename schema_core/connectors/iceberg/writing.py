"""Commits of rows into Iceberg's tables: tasks write files, one commit of the driver adds them."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

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
from schema_core.connectors.iceberg.tasks import FileAccess, FileWriter, load_files
from schema_core.connectors.open_tables.definitions import physical_fields
from schema_core.connectors.open_tables.locations import local_path
from schema_core.connectors.open_tables.staging import (
    MAX_ATTEMPTS,
    OpenTableStage,
    require_read_version,
    to_stored_columns,
)
from schema_core.connectors.open_tables.tasks import is_file_of
from schema_core.errors import ConflictError, ExternalError, UnsupportedError
from schema_core.mappings.iceberg.partitioning import (
    identity_terms,
    make_spec,
    parse_terms,
    print_spec,
)
from schema_core.mappings.iceberg.schemas import new_schema
from schema_core.spark.session.worker_package import send_package

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext, WriteContext

#: The property of a snapshot with the id of its job, as Iceberg's sink for Flink names it.
JOB: Final = "flink.job-id"
#: The branch that is read by default.
MAIN: Final = "main"


class IcebergStage(OpenTableStage["DataFile"]):
    """The files of a job, and the table as it was when the stage was made."""

    def __init__(self, context: WriteContext) -> None:
        super().__init__(context)
        self._table: Table | None = None
        if context.creates and context.replaced is None:
            self._access = new_table_access(context, self._job)
        else:
            self._table = open_table(context.options)
            require_version(self._table.metadata.format_version)
            match_columns(self._table, context.physical_columns)
            require_layout(self._table, context)
            require_read_version(context, snapshot_names(self._table, context.options))
            self._access = FileAccess.of(self._table.metadata, self._table.io)

    def _read(self, context: ReadContext) -> DataFrame | None:
        table = self._table
        if table is None or snapshot_of(table, _branch(context.options)) is None:
            return None
        return read_frame(table, context)

    def _write_files(self, frame: DataFrame) -> list[DataFile]:
        names = tuple(self._context.physical_columns)
        send_package(self._context.session)
        writer = FileWriter(self._access, names, self._job)
        rows = to_stored_columns(frame, len(names)).mapInArrow(writer.write, "file binary")
        metadata, _ = self._access.load()
        return load_files(rows.collect(), metadata.default_spec_id)

    def _open(self) -> None:
        """Create the table of CREATE TABLE AS, unless its catalog has created it."""
        if self._table is None:
            create_table(self._context, self._access.load()[0])
            self._table = open_table(self._context.options)

    @property
    def _opened(self) -> Table:
        return cast("Table", self._table)

    def _files(self) -> list[DataFile]:
        tasks = plan_files(self._opened, _branch(self._context.options))
        return [task.file for task in tasks]

    def _path(self, file: DataFile) -> str:
        return str(file.file_path)

    def _files_of_partition(
        self, files: Sequence[DataFile], partition: Mapping[str, str]
    ) -> Sequence[DataFile]:
        return _files_of_partition(self._opened, files, partition, self._added)

    def _files_of_new_partitions(self, files: Sequence[DataFile]) -> Sequence[DataFile]:
        partitions = {(file.spec_id, repr(file.partition)) for file in self._added}
        _require_current_spec(self._opened, files)
        return [file for file in files if (file.spec_id, repr(file.partition)) in partitions]

    def _replace(self, removed: Sequence[DataFile]) -> None:
        options = self._context.options
        commit_files(self._opened, self._added, removed, options, {JOB: self._job}, checked=True)

    def _append(self) -> None:
        table, options = self._opened, self._context.options
        spec = table.metadata.default_spec_id
        for attempt in range(MAX_ATTEMPTS):
            try:
                commit_files(table, self._added, (), options, {JOB: self._job})
                return
            except ConflictError:
                table = open_table(options)
                if attempt == MAX_ATTEMPTS - 1 or table.metadata.default_spec_id != spec:
                    raise

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


def require_layout(table: Table, context: WriteContext) -> None:
    """Require declared partitions and version to be the table's (`schema-mismatch`)."""
    version = str(table.metadata.format_version)
    if (FORMAT_VERSION.of(context.options) or version) != version:
        raise ExternalError(
            f"the table of Iceberg has version {version} of the format",
            code="schema-mismatch",
            hint=f"omit the option {FORMAT_VERSION.key!r}, which is that of a new table",
        )
    terms = identity_terms(context.table.partition_keys)
    if (text := PARTITION_BY.of(context.options)) is not None:
        terms = parse_terms(text, ordered=False)
    stored = print_spec(table.spec(), table.schema())
    if terms and print_spec(make_spec(terms, table.schema()), table.schema()) != stored:
        raise ExternalError(
            f"the table of Iceberg is partitioned by ({stored})",
            code="schema-mismatch",
            hint=f"declare PARTITIONED BY or {PARTITION_BY.key!r} with these, or neither",
        )


def _branch(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key == BRANCH.key}


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
    """Return the files of a partition, as `OpenTableStage` describes it."""
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
    columns = list(physical_fields(context.table.resolved_schema))
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
