"""The files of a checkpoint of Spark: which are missing or damaged when a job continues.

Spark takes a checkpoint that lacks files for that of a younger job, and reads rows again. A record
of the last micro-batch lists its files and sizes. Files that it cannot list, and those of
checkpoints without a record, are compared with each other. A missing file of a query's state fails
the job in Spark, which reads it by its version.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from schema_core.base.lazy import dataclass, regex
from schema_core.errors import ExternalError
from schema_core.spark.commit.directory import Directory

#: Spark's checkpoint, in the directory of a job, and its parts.
QUERY: Final = "query"
METADATA: Final = f"{QUERY}/metadata"
OFFSETS: Final = "offsets"
COMMITS: Final = "commits"
SOURCES: Final = "sources"
STATE: Final = "state"
#: The directory of the last micro-batch's record.
BATCHES: Final = "batches"

#: The first line of a log's file; Spark's Kafka source writes a byte before it.
_VERSION = regex(r"\0?v[0-9]+")
#: An entry of a source's log. A compact one contains those before it.
_ENTRY = regex(r"([0-9]{1,18})(\.compact)?")
#: A local file's checksum.
_CHECKSUM = regex(r"\.(.+)\.crc")
#: Log -> the least number of lines after an entry's version.
_LINES: Mapping[str, int] = {OFFSETS: 2, COMMITS: 1, SOURCES: 1}


def invalid_checkpoint(path: str, problem: str) -> ExternalError:
    """Return the error for a checkpoint that no job can continue from."""
    return ExternalError(
        f"the checkpoint in {path!r} {problem}",
        code="invalid-checkpoint",
        hint="restore the whole directory from a backup; or delete it, or name another one, to "
        "read everything from the beginning",
    )


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The files of the checkpoint in a job's directory, which errors name `path`."""

    directory: Directory
    path: str

    def has_progress(self) -> bool:
        logs = (BATCHES, f"{QUERY}/{OFFSETS}", f"{QUERY}/{COMMITS}")
        return any(map(self._names, logs)) or any(True for _ in self._source_entries())

    def last(self, log: str) -> int | None:
        """Return the number of the last micro-batch in a log of Spark's query."""
        names = self._names(f"{QUERY}/{log}")
        return max((int(name) for name in names if name.isdecimal()), default=None)

    def create_metadata(self) -> str:
        """Return the id of Spark's query; write one, which Spark then keeps, if there is none."""
        if self.directory.status(METADATA) is None:
            self._put(QUERY, "metadata", {"id": str(uuid.uuid4())})
        return self.stream()

    def stream(self) -> str:
        """Return the id of Spark's query (`invalid-checkpoint`)."""
        content = self._content(METADATA)
        try:
            query = json.loads(content)["id"]
        except (ValueError, KeyError, TypeError, RecursionError):
            query = None
        if not isinstance(query, str):
            raise self._damaged_file_error(METADATA)
        return query

    def record(self, number: int) -> None:
        """Record the files that a micro-batch depends on, before its rows are written."""
        names = [f"{QUERY}/{OFFSETS}/{number}"]
        if number:
            names.append(f"{QUERY}/{COMMITS}/{number - 1}")
        sizes = {name: self._size(name) for name in names}
        sizes |= dict(self._source_entries())
        files = {name: size for name, size in sizes.items() if size is not None}
        previous = self._names(BATCHES)
        self._put(BATCHES, str(number), {"version": 1, "files": files})
        for name in previous - {str(number)}:
            self.directory.delete(f"{BATCHES}/{name}")

    def _put(self, parent: str, name: str, content: Mapping[str, Any]) -> None:
        """Write a file that is complete as soon as it has its name."""
        directory, draft = self.directory, f"{parent}/.{name}.draft"
        directory.mkdirs(parent)
        directory.delete(draft)
        directory.create(draft, json.dumps(content).encode())
        directory.delete(f"{parent}/{name}")
        directory.rename(draft, f"{parent}/{name}")

    def delete_checksums(self) -> None:
        """Delete checksums of Hadoop whose files are missing: Spark would fail to write them."""
        pending = [QUERY]
        while pending:
            parent = pending.pop()
            place = Directory(self.directory.system, self.directory.path(parent))
            entries = place.entries("")
            names = {entry.name for entry in entries}
            pending += [f"{parent}/{entry.name}" for entry in entries if entry.is_directory]
            for name in names:
                checksum = _CHECKSUM.fullmatch(name)
                if checksum is not None and checksum[1] not in names:
                    self.directory.delete(f"{parent}/{name}")

    def require_complete(self) -> None:
        """Require the files with which Spark continues a query.

        The error names the file (`invalid-checkpoint`).
        """
        begun, ended = self.last(OFFSETS), self.last(COMMITS)
        self._require_record(begun)
        if begun is None:
            if ended is not None:
                raise self._lacks(f"{QUERY}/{OFFSETS}/{ended}")
            return
        if ended is not None and ended > begun:
            raise self._lacks(f"{QUERY}/{OFFSETS}/{ended}")
        if begun and (ended is None or ended < begun - 1):
            raise self._lacks(f"{QUERY}/{COMMITS}/{begun - 1}")
        offsets = self._lines(OFFSETS, str(begun))
        if begun:  # Spark starts from it
            self._lines(OFFSETS, str(begun - 1))
        if ended is not None:
            self._lines(COMMITS, str(ended))
        for place, offset in enumerate(offsets[1:]):
            if isinstance(offset, dict) and isinstance(offset.get("logOffset"), int):
                self._require_entries(f"{SOURCES}/{place}", offset["logOffset"])

    def _require_record(self, begun: int | None) -> None:
        """Require the files in the last micro-batch's record."""
        numbers = [int(name) for name in self._names(BATCHES) if name.isdecimal()]
        if not numbers:
            return
        name = f"{BATCHES}/{max(numbers)}"
        try:
            content = json.loads(self._content(name))
            files = {str(key): int(size) for key, size in content["files"].items()}
            is_valid = content["version"] == 1
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            is_valid = False
        if not is_valid:
            raise self._damaged_file_error(name)
        if begun is None or begun < max(numbers):
            raise self._lacks(f"{QUERY}/{OFFSETS}/{max(numbers)}")
        for file, size in files.items():
            actual = self._size(file)
            if actual is None and not self._is_compacted(file):
                raise self._lacks(file)
            if actual is not None and actual != size:
                raise invalid_checkpoint(
                    self.path, f"has a damaged file {file!r}: expected {size} bytes, got {actual}"
                )

    def _is_compacted(self, file: str) -> bool:
        """Return whether a later entry of a source's log contains this one."""
        log, _, name = file.removeprefix(f"{QUERY}/").rpartition("/")
        entry = _ENTRY.fullmatch(name)
        if entry is None or not log.startswith(f"{SOURCES}/"):
            return False
        return any(number > int(entry[1]) for number in self._compact(log))

    def _compact(self, log: str) -> list[int]:
        entries = map(_ENTRY.fullmatch, self._names(f"{QUERY}/{log}"))
        return [int(entry[1]) for entry in entries if entry is not None and entry[2]]

    def _require_entries(self, log: str, last: int) -> None:
        """Require a source's last compact entry and those after it."""
        start = max(self._compact(log), default=0)
        names = self._names(f"{QUERY}/{log}")
        numbers = [int(entry[1]) for entry in map(_ENTRY.fullmatch, names) if entry is not None]
        for number in range(start, max(last, *numbers, -1) + 1):
            is_compact = f"{number}.compact" in names
            self._lines(log, f"{number}.compact" if is_compact else str(number))

    # --- reading -------------------------------------------------------------------------------

    def _names(self, name: str) -> set[str]:
        entries = Directory(self.directory.system, self.directory.path(name)).entries("")
        return {entry.name for entry in entries if not entry.name.startswith(".")}

    def _size(self, name: str) -> int | None:
        status = self.directory.status(name)
        return None if status is None else status.size

    def _source_entries(self) -> Iterator[tuple[str, int]]:
        """Yield the entries of sources' logs that no later one contains."""
        system, root = self.directory.system, self.directory.path(f"{QUERY}/{SOURCES}")
        for source in Directory(system, root).entries(""):
            if not source.is_directory:
                continue
            log = f"{SOURCES}/{source.name}"
            first = max(self._compact(log), default=-1)
            for file in Directory(system, f"{root}/{source.name}").entries(""):
                entry = _ENTRY.fullmatch(file.name)
                if entry is not None and int(entry[1]) >= first:
                    yield f"{QUERY}/{log}/{file.name}", file.size

    def _lines(self, log: str, name: str) -> list[Any]:
        """Return the values of a log's entry, without its version."""
        file = f"{QUERY}/{log}/{name}"
        try:
            version, *lines = self._content(file).decode().splitlines()
            values = [None if line == "-" else json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            raise self._damaged_file_error(file) from None
        if not _VERSION.fullmatch(version) or len(values) < _LINES[log.partition("/")[0]]:
            raise self._damaged_file_error(file)
        return values

    def _content(self, file: str) -> bytes:
        content = None
        if self.directory.status(file) is not None:
            content = self.directory.read(file)
        if content is None:
            raise self._lacks(file)
        return content

    def _lacks(self, file: str) -> ExternalError:
        return invalid_checkpoint(self.path, f"lacks the file {file!r}")

    def _damaged_file_error(self, file: str) -> ExternalError:
        return invalid_checkpoint(self.path, f"has a damaged file {file!r}")
