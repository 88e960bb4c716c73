"""Streaming reads of Iceberg's tables: the rows of snapshots that append, each once."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pyiceberg.manifest import DataFileContent, ManifestContent, ManifestEntryStatus
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.snapshots import Operation, Snapshot, ancestors_of

from schema_core.base.lazy import dataclass
from schema_core.connectors.iceberg.client import open_table, require_version
from schema_core.connectors.iceberg.options import (
    BRANCH,
    SKIP_DELETES,
    SKIP_OVERWRITES,
    START_SNAPSHOT,
)
from schema_core.connectors.iceberg.reading import (
    match_columns,
    plan_files,
    require_parquet,
    snapshot_of,
)
from schema_core.connectors.iceberg.tasks import FileAccess, FileReader
from schema_core.connectors.open_tables.streams import (
    NONE,
    AppendedFiles,
    AppendSource,
    stream_frame,
)
from schema_core.connectors.open_tables.versions import no_such_version
from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext

#: Operation of a snapshot that removes rows -> the option that skips it.
SKIPPED = {Operation.OVERWRITE: SKIP_OVERWRITES, Operation.DELETE: SKIP_DELETES}


@dataclass(frozen=True, slots=True)
class IcebergFiles(AppendedFiles):
    """The files of a table by snapshot."""

    def start(self) -> int:
        return START_SNAPSHOT.of(self.options) or NONE

    def latest(self) -> tuple[int, str]:
        table = open_table(self.options)
        return self._snapshot(table) or NONE, str(table.metadata.table_uuid)

    def precedes(self, first: int, second: int) -> bool:
        """Return False: numbers of snapshots have no order, `plan` follows their parents."""
        return False

    def _snapshot(self, table: Table) -> int | None:
        branch = {key: value for key, value in self.options.items() if key == BRANCH.key}
        return snapshot_of(table, branch)

    def failure(self, problem: str, hint: str) -> ExternalError:
        return ExternalError(problem, code="external-failure", hint=hint)

    def plan(self, start: int, end: int) -> tuple[FileReader, Sequence[bytes]]:
        """Return the files; errors as `match_columns`, `plan_files` and `appended_tasks`."""
        table = open_table(self.options)
        match_columns(table, self.columns)
        if start == NONE:
            tasks = plan_files(table, {"snapshot-id": str(end)})
        else:
            tasks = list(appended_tasks(table, start, end, self.options))
        has_path = len(self.schema.fields) > len(self.columns)
        access = FileAccess.of(table.metadata, table.io)
        reader = FileReader(access, tuple(self.columns), self.schema, has_path)
        return reader, [pickle.dumps(require_parquet(task)) for task in tasks]


def appended_tasks(
    table: Table, start: int, end: int, options: Mapping[str, str]
) -> Iterator[FileScanTask]:
    """Yield the files that snapshots have added after one up to another, the oldest first.

    Raises:
        ExternalError: with code `external-failure` if the first is not an ancestor of the other,
            and for a snapshot that removes rows, unless an option skips it.
    """
    chain: list[Snapshot] = []
    for snapshot in ancestors_of(table.snapshot_by_id(end), table.metadata):
        if snapshot.snapshot_id == start:
            break
        chain.append(snapshot)
    else:
        raise ExternalError(
            f"the snapshot {start}, up to which rows were read, is not followed by {end}",
            code="external-failure",
            hint="it has expired, or the table was rolled back: start the job without a checkpoint",
        )
    for snapshot in reversed(chain):
        operation = Operation.APPEND if snapshot.summary is None else snapshot.summary.operation
        if operation in SKIPPED and not SKIPPED[operation].of(options):
            raise ExternalError(
                f"the snapshot {snapshot.snapshot_id} removes rows ({operation.value}), which a "
                "stream of appended rows does not have",
                code="external-failure",
                hint=f"skip such snapshots by the option {SKIPPED[operation].key!r} = 'true'",
            )
        if operation is not Operation.APPEND:  # others do not change rows
            continue
        for manifest in snapshot.manifests(table.io):
            is_own = manifest.added_snapshot_id == snapshot.snapshot_id
            if manifest.content != ManifestContent.DATA or not is_own:
                continue
            for entry in manifest.fetch_manifest_entry(table.io):
                is_added = entry.status == ManifestEntryStatus.ADDED
                if is_added and entry.data_file.content == DataFileContent.DATA:
                    yield FileScanTask(entry.data_file)


class IcebergSource(AppendSource):
    """The appended rows of a table of Iceberg."""

    files = IcebergFiles

    @classmethod
    def name(cls) -> str:
        return "schema_core_iceberg"


def read_stream(context: ReadContext) -> DataFrame:
    """Return the rows of a table, and those that are appended later.

    Raises:
        NotFoundError: with code `table-not-found`, or `not-found` without the first snapshot.
        ExternalError: as `match_columns`.
        UnsupportedError: with code `version-not-supported`.
    """
    table, start = open_table(context.options), START_SNAPSHOT.of(context.options)
    require_version(table.metadata.format_version)
    match_columns(table, context.columns)
    if start is not None and table.snapshot_by_id(start) is None:
        raise no_such_version(START_SNAPSHOT, start)
    return stream_frame(context, IcebergSource)
