"""Snapshots of a table's files: the versions that ``FOR SYSTEM_TIME AS OF`` reads.

Each commit of a table that keeps snapshots writes one: a file with the time of the commit and the
files that the table has after it. Files that a commit replaces are moved into a hidden directory
beside the snapshots, in place of being deleted. When a snapshot expires, the moved files that no
other one names are deleted: only files of this directory, never others of the table.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from schema_core.base.contained_paths import is_plain
from schema_core.base.lazy import dataclass, regex
from schema_core.errors import ExternalError, UnsupportedError

if TYPE_CHECKING:
    from schema_core.spark.commit.directory import Directory
    from schema_core.spark.commit.file_systems import FileStatus

#: The directory of the snapshots below a table's, and that of the files they keep.
DIRECTORY: Final = ".schema-core-snapshots"
FILES: Final = f"{DIRECTORY}/files"
#: Seconds after which the part of a snapshot that a killed process has left is deleted.
ABANDONED_PART: Final = 3600.0
_NAME = regex(r"([0-9]{16})\.json")
_PART = regex(r"[0-9]{16}\.json\.[0-9a-f]{32}")
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Retention:
    """How many snapshots a table keeps, and the digest of its columns."""

    count: int
    schema: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a table after a commit, with their sizes.

    `time` is in milliseconds since 1970, `schema` the digest of the table's columns. `retained` is
    how many snapshots are kept after this one is written.
    """

    time: int
    retained: int
    schema: str
    files: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{DIRECTORY}/{self.time:016d}.json"

    @classmethod
    def parse(cls, fields: Any) -> Snapshot:
        """Return a snapshot from untrusted fields; raise `ValueError` for others."""
        if not isinstance(fields, dict) or fields.keys() != {"time", "retained", "schema", "files"}:
            raise ValueError("it has no snapshot of four fields")
        numbers = fields["time"], fields["retained"]
        if not all(type(number) is int and 0 < number < 10**16 for number in numbers):
            raise ValueError(f"its snapshot has the time and count {numbers!r}")
        if not isinstance(fields["schema"], str) or not isinstance(fields["files"], list):
            raise ValueError("its snapshot has no schema or files")  # noqa: TRY004 - untrusted text
        files = []
        for item in fields["files"]:
            if not (
                isinstance(item, list)
                and len(item) == 2
                and isinstance(item[0], str)
                and is_plain(item[0])
                and not item[0].startswith(f"{DIRECTORY}/")
                and type(item[1]) is int
                and item[1] >= 0
            ):
                raise ValueError(f"its snapshot has the file {item!r}")
            files.append((item[0], item[1]))
        return cls(*numbers, fields["schema"], tuple(files))

    def fields(self) -> dict[str, Any]:
        """Return the fields that `parse` reads."""
        return {
            "time": self.time,
            "retained": self.retained,
            "schema": self.schema,
            "files": [list(item) for item in self.files],
        }


def kept_path(path: str) -> str:
    """Return where a file is kept that a commit has replaced."""
    return f"{FILES}/{path}"


def next_snapshot(
    directory: Directory, retention: Retention, files: list[tuple[str, int]]
) -> Snapshot:
    """Return the snapshot of a commit that is prepared now. The caller holds the lock.

    Its time is later than that of each other one.
    """
    last = max((time for time, _ in _entries(directory)), default=0)
    now = max(time.time_ns() // 1_000_000, last + 1)
    return Snapshot(now, retention.count, retention.schema, tuple(sorted(files)))


def keep_file(directory: Directory, path: str) -> None:
    """Move a replaced file to the kept ones, unless that is done."""
    target = kept_path(path)
    directory.mkdirs(target.rpartition("/")[0])
    try:
        directory.rename(path, target)
    except ExternalError:
        if directory.status(path) is None:
            return  # moved before, by this process or by another one
        if directory.status(target) is not None:  # a rename that copies was cut short
            directory.delete_file(target)
        raise


def write_snapshot(directory: Directory, snapshot: Snapshot) -> None:
    """Write a snapshot unless it is there, and delete those that expire, with their files."""
    if directory.status(snapshot) is None:
        directory.mkdirs(DIRECTORY)
        part = f"{snapshot}.{uuid.uuid4().hex}"
        content = {"version": _VERSION, **snapshot.fields()}
        directory.create(part, json.dumps(content).encode())
        try:
            directory.rename(part, snapshot)
        except ExternalError:
            directory.delete(part)
            if directory.status(snapshot) is None:
                raise
    _expire(directory, snapshot.retained)


def _expire(directory: Directory, retained: int) -> None:
    """Delete snapshots, the oldest first, and kept files that no other one names."""
    entries = sorted(_entries(directory))
    kept = [read_snapshot(directory, name) for _, name in entries[-retained:]]
    for _, name in entries[:-retained]:
        directory.delete_file(name)
    named = {path for snapshot in kept if snapshot is not None for path, _ in snapshot.files}
    if directory.status(FILES) is not None:
        for path, _ in directory.files(FILES):
            if path not in named:
                directory.require_unlinked([kept_path(path)])
                directory.delete_file(kept_path(path))
    for entry in _list_snapshots(directory):
        if _PART.fullmatch(entry.name) and time.time() - entry.modified > ABANDONED_PART:
            directory.delete_file(f"{DIRECTORY}/{entry.name}")


def read_snapshot(directory: Directory, name: str) -> Snapshot | None:
    """Return a snapshot; None if it has expired meanwhile.

    Raises:
        ExternalError: `invalid-journal` if this library has not written it.
    """
    content = directory.read(name)
    if content is None:
        return None
    try:
        fields = json.loads(content)
        known = isinstance(fields, dict) and fields.pop("version", None) == _VERSION
        return Snapshot.parse(fields if known else None)
    except (ValueError, RecursionError) as error:
        raise ExternalError(
            f"the snapshot {directory.path(name)!r} is malformed: {error}",
            code="invalid-journal",
            hint="delete the file: the version of the table that it describes is lost",
        ) from None


def find_files(directory: Directory, timestamp: int, schema: str) -> tuple[list[str], list[str]]:
    """Return the files of the version at a time: those of the table, and kept ones.

    Args:
        directory: The directory of the table.
        timestamp: The time in milliseconds since 1970.
        schema: The digest of the columns by which the files are read.

    Raises:
        UnsupportedError: `time-travel-not-supported` without a version at the time, and if the
            table had other columns then.
        ExternalError: `file-system-failed` if a file of the version is missing.
    """
    entries = [entry for entry in _entries(directory) if entry[0] <= timestamp]
    snapshot = read_snapshot(directory, max(entries)[1]) if entries else None
    if snapshot is None:
        raise UnsupportedError(
            f"{directory.root!r} has no version from before the time of FOR SYSTEM_TIME AS OF",
            code="time-travel-not-supported",
            hint="read a later version: the first one is the first commit after the option "
            "'snapshot.num-retained.max' was set, and its number is how many are kept",
        )
    if snapshot.schema != schema:
        raise UnsupportedError(
            f"the columns of the table at {directory.root!r} have changed since the version of FOR "
            "SYSTEM_TIME AS OF",
            code="time-travel-not-supported",
            hint="read a version from after the last ALTER TABLE",
        )
    current: list[str] = []
    kept: list[str] = []
    sizes = dict(directory.files())
    before = dict(directory.files(FILES)) if directory.status(FILES) is not None else {}
    for path, size in snapshot.files:
        if sizes.get(path) == size:
            current.append(path)
        elif before.get(path) == size:
            kept.append(path)
        else:
            raise ExternalError(
                f"the file {path!r} of a version of {directory.root!r} is missing or was changed",
                code="file-system-failed",
                hint="read another version; files of a table are only deleted by its statements",
            )
    return current, kept


def _entries(directory: Directory) -> Iterator[tuple[int, str]]:
    """Yield the time and the name of each snapshot."""
    for entry in _list_snapshots(directory):
        if match := _NAME.fullmatch(entry.name):
            yield int(match[1]), f"{DIRECTORY}/{entry.name}"


def _list_snapshots(directory: Directory) -> list[FileStatus]:
    path = directory.path(DIRECTORY)
    if directory.status(DIRECTORY) is None:
        return []
    return directory.call(f"list {path!r}", lambda: directory.system.list(path))
