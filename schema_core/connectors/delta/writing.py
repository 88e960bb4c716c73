"""Commits of rows into Delta's tables: tasks write files, one commit of the driver adds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.transaction import AddAction, RemoveAction

from schema_core.connectors.delta.client import (
    TableAccess,
    delta_errors,
    require_removable,
    require_writable,
    schema_fields,
)
from schema_core.connectors.delta.definitions import (
    DeltaDefinition,
    encode_definition,
    split_options,
)
from schema_core.connectors.delta.files import DeltaFile, list_files
from schema_core.connectors.delta.options import TABLE_PROPERTIES
from schema_core.connectors.delta.reading import match_columns, read_frame
from schema_core.connectors.delta.tasks import (
    FileWriter,
    NewFile,
    delete_files,
    now_milliseconds,
    partition_text,
    to_arrow,
)
from schema_core.connectors.open_tables.staging import (
    OpenTableStage,
    require_read_version,
    to_stored_columns,
)
from schema_core.connectors.open_tables.tasks import is_file_of
from schema_core.errors import ExternalError, UnsupportedError
from schema_core.mappings.delta.types import to_delta_field
from schema_core.spark.session.worker_package import send_package
from schema_core.types import RowField

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext, WriteContext

#: The key of a commit's metadata with the id of its job.
JOB: Final = "schemaCoreJob"
#: How often the commit of an append is tried.
MAX_RETRIES: Final = 200


class DeltaStage(OpenTableStage[Any]):
    """The files of a job, and the table as it was when the stage was made.

    The rows of a micro-batch are committed with its number, and discarded if the table has it.
    """

    def __init__(self, context: WriteContext) -> None:
        super().__init__(context)
        self._access = TableAccess.of(context.options)
        self._table: DeltaTable | None = None
        self._definition: DeltaDefinition | None = None
        if not self._access.exists():
            self._definition = _definition_of(context)
            return
        self._table = self._access.open()
        require_writable(self._table)
        if context.overwrite or context.row_change is not None:
            require_removable(self._table)
        fields = match_columns(self._table, context.physical_columns)
        require_equal_properties(self._table.metadata().configuration, context.options)
        _require_all_columns(self._table, context, fields)
        require_read_version(context, version_names(self._access))

    @property
    def _opened(self) -> DeltaTable:
        return cast("DeltaTable", self._table)

    def _read(self, context: ReadContext) -> DataFrame | None:
        return None if self._table is None else read_frame(self._table, context)

    def _write_files(self, frame: DataFrame) -> list[Any]:
        names = tuple(self._context.physical_columns)
        send_package(self._context.session)
        if self._definition is not None:
            if self._access.directory is not None:  # tasks open the storage of a directory
                self._access.directory.mkdir(parents=True, exist_ok=True)
            fields, partitions = self._definition.schema["fields"], self._definition.partitions
        else:
            fields = schema_fields(self._opened)
            partitions = tuple(self._opened.metadata().partition_columns)
        writer = FileWriter(self._access, tuple(fields), partitions, names, self._job)
        rows = to_stored_columns(frame, len(names))
        files = [file for files in self._context.write_partitions(rows, writer.write)
                 for file in files]  # fmt: skip
        for file in files:
            for name, text in file.partition.items():
                partition_text(text, name)  # refuses an empty string
        return files

    def _open(self) -> None:
        """Create the table, unless there is one."""
        if self._table is None and self._definition is not None:
            create_table(self._access, self._definition)
            self._table = self._access.open()

    def _files(self) -> list[Any]:
        return list(list_files(self._opened))

    def _path(self, file: DeltaFile) -> str:
        return file.path

    def _files_of_partition(
        self, files: Sequence[DeltaFile], partition: Mapping[str, str]
    ) -> Sequence[DeltaFile]:
        wanted = self._texts_of(partition)
        return [
            file
            for file in files
            if all(_text(file, name) == text for name, text in wanted.items())
        ]

    def _files_of_new_partitions(self, files: Sequence[DeltaFile]) -> Sequence[DeltaFile]:
        partitions = {tuple(file.partition.items()) for file in self._added}
        names = self._opened.metadata().partition_columns
        return [
            file
            for file in files
            if tuple((name, _text(file, name)) for name in names) in partitions
        ]

    def _texts_of(self, partition: Mapping[str, str]) -> dict[str, str | None]:
        """Return the values of a PARTITION clause as the log has them: those of the new files.

        Without any they are parsed as the types of the columns.
        """
        if self._added:
            return {name: self._added[0].partition[name] for name in partition}
        types = {field["name"]: to_arrow(field["type"]) for field in schema_fields(self._opened)}
        return {
            name: partition_text(pa.scalar(text).cast(types[name]).as_py(), name)
            for name, text in partition.items()
        }

    def commit(self) -> None:
        batch = self._context.batch
        if batch is not None and self._table is not None:
            last = last_batch(self._access.open(), batch.job)
            if last is not None and last >= batch.number:
                self.abort()
                self.committed = True
                return
        super().commit()

    def _append(self) -> None:
        self._commit((), MAX_RETRIES)

    def _replace(self, removed: Sequence[DeltaFile]) -> None:
        self._commit(removed, 0)

    def _commit(self, removed: Sequence[DeltaFile], retries: int) -> None:
        batch = self._context.batch
        transactions = [] if batch is None else [Transaction(batch.job, batch.number)]
        commit_files(self._opened, self._added, removed, self._job, retries, transactions)

    def abort(self) -> None:
        """Delete the files, unless they may be committed."""
        if self.committed is not False:
            return
        paths = {file.path for file in self._added}
        if (root := self._access.directory) is not None:
            files = (file for file in root.rglob("*.parquet") if is_file_of(file.name, self._job))
            paths |= {file.relative_to(root).as_posix() for file in files}
        for path in paths:
            with suppress(Exception):  # an orphan file is never read
                delete_files(self._access, [path])


def require_equal_properties(stored: Mapping[str, str], options: Mapping[str, str]) -> None:
    """Require declared properties to be the table's (`schema-mismatch`)."""
    for option in TABLE_PROPERTIES:
        current = stored.get(option.key, str(option.default)).lower()
        if options.get(option.key, current).lower() != current:
            raise ExternalError(
                f"the property {option.key!r} of the table of Delta is {current!r}",
                code="schema-mismatch",
                hint="omit the option, which is that of a new table, or ALTER the table",
            )


def _text(file: DeltaFile, column: str) -> str | None:
    return partition_text(file.partition[column], column)


def _require_all_columns(
    table: DeltaTable, context: WriteContext, fields: Mapping[str, Mapping[str, Any]]
) -> None:
    """Refuse to write rows without a column, or with NULL where the table has NOT NULL."""
    stored = schema_fields(table)
    absent = [field["name"] for field in stored if field["name"] not in fields]
    if absent:
        raise ExternalError(
            f"the table of Delta has the columns {', '.join(map(repr, absent))}, which the "
            "definition lacks",
            code="schema-mismatch",
            hint="declare all columns of a table that is written",
        )
    for name, type_ in context.physical_columns.items():
        declared = to_delta_field(RowField(name, type_))
        if _accepts_null(declared, fields[name]):
            raise ExternalError(
                f"column {name!r} is NOT NULL in Delta, but {type_.as_summary_string()} in the "
                "table",
                code="schema-mismatch",
                hint="declare the column, and its fields and elements, NOT NULL as Delta has them",
            )
    partitions = table.metadata().partition_columns
    if list(context.table.partition_keys) != list(partitions):
        raise ExternalError(
            f"the table of Delta is partitioned by ({', '.join(partitions)})",
            code="schema-mismatch",
            hint="declare PARTITIONED BY with these columns",
        )


def _accepts_null(declared: Any, stored: Any) -> bool:
    """Return whether a declared type has a NULL that a stored type of equal shape refuses."""
    match declared, stored:
        case {"nullable": has_null}, {"nullable": may_have_null}:
            return (has_null and not may_have_null) or _accepts_null(
                declared["type"], stored["type"]
            )
        case {"type": "struct"}, {"type": "struct"}:
            pairs = zip(declared["fields"], stored["fields"], strict=True)
            return any(_accepts_null(*pair) for pair in pairs)
        case {"type": "array"}, {"type": "array"}:
            return (declared["containsNull"] and not stored["containsNull"]) or _accepts_null(
                declared["elementType"], stored["elementType"]
            )
        case {"type": "map"}, {"type": "map"}:
            return (
                (declared["valueContainsNull"] and not stored["valueContainsNull"])
                or _accepts_null(declared["keyType"], stored["keyType"])
                or _accepts_null(declared["valueType"], stored["valueType"])
            )
    return False


def _definition_of(context: WriteContext) -> DeltaDefinition:
    """Return the definition of a table without the options of its connector."""
    properties, _ = split_options(context.options)
    return encode_definition(context.table.copy(properties))


def ensure_table(context: WriteContext) -> None:
    """Create the table of a definition in its directory, unless there is one."""
    create_table(TableAccess.of(context.options), _definition_of(context))


def create_table(access: TableAccess, definition: DeltaDefinition) -> None:
    """Create a table without rows, unless there is one (`external-failure`)."""
    with delta_errors():
        DeltaTable.create(
            access.location,
            Schema.from_json(json.dumps(definition.schema)),
            mode="ignore",
            partition_by=list(definition.partitions),
            description=definition.comment,
            configuration=dict(definition.properties),
            storage_options=dict(access.properties),
            raise_if_key_not_exists=False,
        )


def commit_files(
    table: DeltaTable,
    added: Iterable[NewFile],
    removed: Sequence[DeltaFile],
    job: str,
    retries: int,
    transactions: Sequence[Transaction] = (),
) -> None:
    """Add and remove files in one commit; errors as `delta_errors`.

    Args:
        table: The version that the commit follows.
        added: The files that are added.
        removed: The files that are removed.
        job: The id of the job.
        retries: How often the commit is tried again if others have committed; with 0 they must not.
        transactions: The numbers of micro-batches that the commit has.

    Raises:
        UnsupportedError: with code `version-not-supported` for removals from a table that is
            append-only, and of a file with deleted rows: deltalake does not remove it as the
            protocol requires.
    """
    if removed:
        require_removable(table)
    now = now_milliseconds()
    actions: list[AddAction | RemoveAction] = []
    for old in removed:
        if old.kept is not None:
            raise UnsupportedError(
                "files of Delta with deletionVectors are not replaced",
                code="version-not-supported",
                hint="run OPTIMIZE or REORG of the engine that has deleted the rows, or append",
            )
        partition = {name: partition_text(value, name) for name, value in old.partition.items()}
        actions.append(RemoveAction(old.path, True, now, old.size, partition))
    actions += [
        AddAction(file.path, file.size, dict(file.partition), now, True, file.statistics)
        for file in added
    ]
    with delta_errors():
        table.create_write_transaction(
            actions,
            "append",
            table.schema(),
            list(table.metadata().partition_columns),
            commit_properties=CommitProperties(
                custom_metadata={JOB: job},
                max_commit_retries=retries,
                app_transactions=list(transactions),
            ),
        )


def version_names(access: TableAccess) -> frozenset[str]:
    """Return what identifies the rows of a table."""
    return frozenset({str(access.open().version())} if access.exists() else {"none"})


def has_committed(table: DeltaTable, job: str) -> bool:
    """Return whether a version of a table is that of a job (`external-failure`)."""
    with delta_errors():
        return any(item.get(JOB) == job for item in table.history())


def last_batch(table: DeltaTable, job: str) -> int | None:
    """Return the number of a job's last micro-batch in a table, or None (`external-failure`)."""
    with delta_errors():
        number: int | None = table.transaction_version(job)
        return number


def delete_rows(access: TableAccess) -> None:
    """Delete all rows in one commit."""
    table = access.open()
    require_writable(table)
    if files := list_files(table):
        commit_files(table, (), files, "", 0)
