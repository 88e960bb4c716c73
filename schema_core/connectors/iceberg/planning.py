"""The files of a scan of Iceberg, each with the files of deletions that apply to it.

pyiceberg plans files and deletions by position; deletions by equality are added here, by the rules
of Iceberg's specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyiceberg.manifest import (
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestFile,
)
from pyiceberg.table import DataScan, FileScanTask
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.types import NestedField

from schema_core.errors import ExternalError


def plan_scan(scan: DataScan) -> list[FileScanTask]:
    """Return the files of a scan with their deletions; errors as pyiceberg, and `external-failure`.

    A REST server that plans scans for its clients refuses deletions by equality.
    """
    snapshot = scan.snapshot()
    if snapshot is None or scan._should_use_server_side_planning():  # noqa: SLF001
        return list(scan.plan_files())
    manifests = snapshot.manifests(scan.io)
    deletions = list(_equality_deletions(scan, manifests))
    numbers: dict[str, int] = {}

    def accept(entry: ManifestEntry) -> bool:
        numbers[entry.data_file.file_path] = entry.sequence_number or 0
        return bool(entry.data_file.content != DataFileContent.EQUALITY_DELETES)

    tasks = list(scan._manifest_planner.plan_files(manifests, accept))  # noqa: SLF001
    if deletions:
        unpartitioned = {
            number
            for number, spec in scan.table_metadata.specs().items()
            if spec.is_unpartitioned()
        }
        for task in tasks:
            number = numbers[task.file.file_path]
            task.delete_files |= {
                entry.data_file
                for entry in deletions
                if number < (entry.sequence_number or 0)
                and (
                    entry.data_file.spec_id in unpartitioned
                    or (entry.data_file.spec_id, entry.data_file.partition)
                    == (task.file.spec_id, task.file.partition)
                )
            }
    return tasks


def _equality_deletions(
    scan: DataScan, manifests: Iterable[ManifestFile]
) -> Iterator[ManifestEntry]:
    """Yield the deletions by equality; a filter of rows does not prune them."""
    for manifest in manifests:
        if manifest.content != ManifestContent.DELETES:
            continue
        for entry in manifest.fetch_manifest_entry(scan.io):
            file = entry.data_file
            if file.content != DataFileContent.EQUALITY_DELETES:
                continue
            if file.file_format != FileFormat.PARQUET or not file.equality_ids:
                raise ExternalError(
                    f"deletions by equality in the format {file.file_format} are not read",
                    code="external-failure",
                    hint="rewrite the files of the table, or write deletions as parquet",
                )
            for field_id in file.equality_ids:
                find_column(scan.table_metadata, field_id)
            yield entry


def find_column(metadata: TableMetadata, field_id: int) -> NestedField:
    """Return a column of the latest schema that has it, also one that was dropped.

    Raises:
        ExternalError: with code `external-failure` for a field of a row.
    """
    schemas = sorted(metadata.schemas, key=lambda schema: schema.schema_id, reverse=True)
    for schema in (metadata.schema(), *schemas):
        for field in schema.fields:
            if field.field_id == field_id:
                return field
    raise ExternalError(
        f"the table has no column with the id {field_id}, by which rows are deleted",
        code="external-failure",
        hint="rewrite the files of the table with the engine that has deleted the rows",
    )
