"""The files of dropped tables: only those below the location of a table are deleted.

Metadata may name others, such as files that were added to a table where they are. What metadata
names is data, and does not decide what is deleted elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pyiceberg.catalog import Catalog
from pyiceberg.table import Table

from schema_core.base.contained_paths import normalize_path
from schema_core.connectors.open_tables.locations import local_path


def purge_table(catalog: Catalog, identifier: tuple[str, ...], table: Table) -> None:
    """Drop a table, and delete its files. A REST catalog does both itself."""
    if catalog.properties.get("type") == "rest":
        catalog.purge_table(identifier)
        return
    files = {path for path in named_files(table) if is_below(path, table.location())}
    catalog.drop_table(identifier)
    for path in sorted(files):
        with suppress(FileNotFoundError):
            table.io.delete(path)
    _remove_directories(table.location())


def named_files(table: Table) -> Iterator[str]:
    """Yield all files that the metadata of a table names, some repeatedly."""
    metadata = table.metadata
    yield table.metadata_location
    yield from (entry.metadata_file for entry in metadata.metadata_log)
    yield from (file.statistics_path for file in metadata.statistics)
    yield from (file.statistics_path for file in metadata.partition_statistics)
    for snapshot in metadata.snapshots:
        yield snapshot.manifest_list
        for manifest in snapshot.manifests(table.io):
            yield manifest.manifest_path
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                yield entry.data_file.file_path


def is_below(path: str, location: str) -> bool:
    """Return whether a file is in the directory of a table, also by links of a local file system.

    >>> is_below("s3://b/t/data/x", "s3://b/t"), is_below("s3://b/t/../x", "s3://b/t")
    (True, False)
    """
    file, directory = normalize_path(path), normalize_path(location)
    if file.startswith("/") and directory.startswith("/"):
        file, directory = os.path.realpath(file), os.path.realpath(directory)
    return file.startswith(f"{directory.rstrip('/')}/")


def _remove_directories(location: str) -> None:
    """Remove the empty directories that Iceberg made for a dropped table, on a local file system.

    They are those of data and metadata, and those of partitions (``day=2026-01-01``) below them.
    Others are not the table's.
    """
    if (root := local_path(location)) is None:
        return
    for directory in (Path(root, "data"), Path(root, "metadata")):
        for inner, _, _ in os.walk(directory, topdown=False):
            parts = Path(inner).relative_to(directory).parts
            if all("=" in part for part in parts):
                _remove_if_empty(Path(inner))
    _remove_if_empty(root)


def _remove_if_empty(directory: Path) -> None:
    with suppress(OSError):
        directory.rmdir()
