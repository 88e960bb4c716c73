"""Streaming reads of Delta's tables: the rows of versions that append, each once.

An offset is the number of versions that were read.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake._internal import DeltaFileSystemHandler

from schema_core.base.lazy import dataclass
from schema_core.connectors.delta.client import TableAccess, delta_errors
from schema_core.connectors.delta.files import DeltaFile, list_files
from schema_core.connectors.delta.options import SKIP_CHANGES, STARTING_VERSION
from schema_core.connectors.delta.reading import match_columns
from schema_core.connectors.delta.tasks import FileReader
from schema_core.connectors.open_tables.streams import (
    NONE,
    AppendedFiles,
    AppendSource,
    stream_frame,
)
from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext


@dataclass(frozen=True, slots=True)
class DeltaFiles(AppendedFiles):
    """The files of a table by version."""

    def start(self) -> int:
        first = STARTING_VERSION.of(self.options)
        return NONE if first is None else first

    def latest(self) -> tuple[int, str]:
        table = TableAccess.of(self.options).open()
        return table.version() + 1, str(table.metadata().id)

    def precedes(self, first: int, second: int) -> bool:
        return first < second

    def failure(self, problem: str, hint: str) -> ExternalError:
        return ExternalError(problem, code="external-failure", hint=hint)

    def plan(self, start: int, end: int) -> tuple[FileReader, Sequence[bytes]]:
        """Return the files; errors as `match_columns` and `appended_files`."""
        access = TableAccess.of(self.options)
        table = access.open(end - 1)
        fields = match_columns(table, self.columns)
        files = list_files(table)
        if start != NONE:
            files = list(appended_files(access, start, end, files, self.options))
        has_path = len(self.schema.fields) > len(self.columns)
        reader = FileReader(access, tuple(fields.values()), self.schema, has_path)
        return reader, [pickle.dumps(file) for file in files]


def appended_files(
    access: TableAccess,
    start: int,
    end: int,
    files: Sequence[DeltaFile],
    options: Mapping[str, str],
) -> Iterator[DeltaFile]:
    """Yield the files that versions have added, the oldest first.

    Args:
        access: The table.
        start: The first version.
        end: The version after the last one.
        files: The files of the last version.
        options: The options of the table.

    Raises:
        ExternalError: with code `external-failure` for a version that is not in the log, and for
            one that removes rows, unless an option skips it.
    """
    by_path = {file.path: file for file in files}
    log = DeltaFileSystemHandler(access.location, dict(access.properties))
    for version in range(start, end):
        added, removed = _changed_paths(log, version)
        if removed:
            if not SKIP_CHANGES.of(options):
                raise ExternalError(
                    f"version {version} removes rows, but the stream reads appended ones",
                    code="external-failure",
                    hint=f"skip such versions by the option {SKIP_CHANGES.key!r} = 'true'",
                )
            continue
        if not by_path.keys() >= set(added):  # files that were rewritten since
            by_path |= {file.path: file for file in list_files(access.open(version))}
        yield from (by_path[path] for path in added)


def _changed_paths(log: Any, version: int) -> tuple[list[str], list[str]]:
    """Return the files that a version adds and removes, except for those with equal rows."""
    name = f"_delta_log/{version:020}.json"
    with delta_errors():
        if not log.get_file_info([name])[0].is_file:
            raise ExternalError(
                f"the log does not have version {version}, up to which rows were not read",
                code="external-failure",
                hint="the log has expired: start the job without a checkpoint",
            )
        text = pa.PythonFile(log.open_input_file(name), mode="r").read()
        actions = [json.loads(line) for line in text.splitlines() if line.strip()]
    added, removed = (
        [
            unquote(action[kind]["path"])
            for action in actions
            if kind in action and action[kind].get("dataChange", True)
        ]
        for kind in ("add", "remove")
    )
    return added, removed


class DeltaSource(AppendSource):
    """The appended rows of a table of Delta."""

    files = DeltaFiles

    @classmethod
    def name(cls) -> str:
        return "schema_core_delta"


def read_stream(context: ReadContext) -> DataFrame:
    """Return the rows of a table, and those that are appended later.

    Raises:
        NotFoundError: with code `table-not-found`.
        ExternalError, UnsupportedError: as `match_columns` and `TableAccess.open`.
    """
    match_columns(TableAccess.of(context.options).open(), context.columns)
    return stream_frame(context, DeltaSource)
