"""Stages of jobs: tasks of Spark write files, one commit of the driver adds them to the table."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from schema_core.connectors.open_tables.frames import FILE_PATH
from schema_core.errors import ConflictError, SchemaError
from schema_core.errors.hints import RUN_AGAIN
from schema_core.mappings.spark.pyspark_types import as_months
from schema_core.spark.compiler.tree import quote
from schema_core.spark.connector import ReadContext, metadata_column
from schema_core.spark.session.api_mode import checkpoint_frame, functions_of
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import WriteContext

#: A file of a table, as the format describes it.
File = TypeVar("File")

#: How often the commit of an append is tried, each time with the attempts of the format's library.
MAX_ATTEMPTS: Final = 20


class OpenTableStage(ABC, Generic[File]):
    """The files of a job, which `commit` adds to the table in one transaction.

    A commit that replaces rows fails if others have changed them since the stage was made; an
    append is repeated on the new state.
    """

    def __init__(self, context: WriteContext) -> None:
        self.committed: bool | None = False
        self._context = context
        self._job = context.job or uuid.uuid4().hex
        self._added: list[File] = []
        self._has_written = False
        self._replaced: frozenset[str] = frozenset()

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write the rows of a frame into files; the context has the files that they replace."""
        self._context = context
        if self._upserts:
            with checkpoint_frame(frame, when=True) as rows:  # the query is computed once
                self._write(self._with_kept_rows(rows))
        elif context.upsert_key and context.row_change is None:
            names = [quote(name) for name in context.physical_columns]
            self._write(_last_rows(frame.select(*names), context.upsert_key))
        else:
            self._write(frame)

    def _write(self, frame: DataFrame) -> None:
        self._added += self._write_files(frame)
        self._has_written = True

    @property
    def _upserts(self) -> bool:
        """Whether the rows replace those with their key."""
        context = self._context
        replaces = context.overwrite or context.creates or context.row_change is not None
        return bool(context.upsert_key) and not replaces

    def _with_kept_rows(self, frame: DataFrame) -> DataFrame:
        """Return the last row of each key, and the rows of the files that have such a key.

        These files are replaced.
        """
        context, key = self._context, list(self._context.upsert_key)
        names = [quote(name) for name in context.physical_columns]
        rows = _last_rows(frame.select(*names), key)
        keys = rows.select(*map(quote, key))
        reading = ReadContext(
            identifier=context.identifier,
            table=context.table,
            configuration=context.configuration,
            session=context.session,
            zone=context.zone,
            metadata={FILE_PATH: DataTypes.STRING()},
            projection=tuple(name for name in context.physical_columns if name in key),
        )
        frame_of_keys = self._read(reading)
        if frame_of_keys is None:
            return rows
        stored = frame_of_keys.join(keys, on=key, how="left_semi")
        paths = stored.select(quote(metadata_column(FILE_PATH))).distinct().collect()
        self._replaced = frozenset(row[0] for row in paths)
        whole = replace(reading, metadata={}, projection=None, groups=self._replaced)
        others = self._read(whole) if self._replaced else None
        if others is None:
            return rows
        kept = others.join(keys, on=key, how="left_anti")
        return kept.select(*names).unionByName(rows)

    def prepare(self) -> None:
        return None

    def commit(self) -> None:
        """Add the files, and remove those that they replace.

        Raises:
            ConflictError: with code `concurrent-modification` if others have changed the rows.
            SchemaError: with code `target-not-empty` for CREATE TABLE AS, if the table has rows.
            ExternalError: of the format.
        """
        self._open()
        context = self._context
        if context.creates and context.replaced is None and self._files():
            raise SchemaError(
                "the new table has rows already",
                code="target-not-empty",
                hint="name another table or directory, or INSERT INTO the table",
            )
        removed = self._removed_files()
        self.committed = None
        try:
            if removed or (self._upserts and self._added):
                self._replace(removed)
            elif self._added:
                self._append()
        except ConflictError:
            self.committed = False
            raise
        self.committed = True

    def _removed_files(self) -> Sequence[File]:
        """Return the files whose rows the job replaces."""
        context = self._context
        change = context.row_change
        if not self._has_written or not (change or context.overwrite or self._replaced):
            return []
        files = self._files()
        if change is not None:
            return files if change.groups is None else self._named_files(files, change.groups)
        if self._upserts:
            return self._named_files(files, self._replaced)
        keys = context.table.partition_keys
        if context.creates or not keys:
            return files
        if context.partition and set(keys) == set(context.partition):
            return self._files_of_partition(files, context.partition)
        return self._files_of_new_partitions(files)

    def _named_files(self, files: Sequence[File], paths: frozenset[str]) -> Sequence[File]:
        """Return the files with these paths, all of which the table must have."""
        named = {self._path(file): file for file in files}
        if not paths <= set(named):
            raise ConflictError(
                "the table does not have a file whose rows are replaced",
                hint=RUN_AGAIN,
            )
        return [named[path] for path in sorted(paths)]

    @abstractmethod
    def _read(self, context: ReadContext) -> DataFrame | None:
        """Return rows of the table; None if it has no version."""

    @abstractmethod
    def _write_files(self, frame: DataFrame) -> list[File]:
        """Return the files that tasks have written."""

    @abstractmethod
    def _open(self) -> None:
        """Create the table unless it exists, before a commit."""

    @abstractmethod
    def _files(self) -> list[File]:
        """Return the files of the table."""

    @abstractmethod
    def _path(self, file: File) -> str:
        """Return the path of a file, as `FILE_PATH` has it."""

    @abstractmethod
    def _files_of_partition(
        self, files: Sequence[File], partition: Mapping[str, str]
    ) -> Sequence[File]:
        """Return the files of a partition, whose values are text.

        The values are compared as those of the new files, or as text if there is none.
        """

    @abstractmethod
    def _files_of_new_partitions(self, files: Sequence[File]) -> Sequence[File]:
        """Return the files of the partitions that the new files have."""

    @abstractmethod
    def _append(self) -> None:
        """Commit the new files, after those that other writers have added meanwhile."""

    @abstractmethod
    def _replace(self, removed: Sequence[File]) -> None:
        """Commit the new files and the removal of others, unless the table has changed."""


def _last_rows(frame: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the last row of each key, in the order of partitions and of their rows."""
    functions = functions_of(frame)
    names = [quote(name) for name in frame.columns]
    values = functions.struct(*(functions.col(name) for name in names)).alias("v")
    places = frame.select(values, functions.monotonically_increasing_id().alias("place"))
    groups = places.groupBy(*(functions.col(f"v.{quote(name)}") for name in key))
    return groups.agg(functions.max_by("v", "place").alias("v")).select(
        *(functions.col(f"v.{name}") for name in names)
    )


def to_stored_columns(frame: DataFrame, count: int) -> DataFrame:
    """Return the first columns of a frame as ``c0``, ``c1``, ..., intervals of months as integers.

    `mapInArrow` does not quote names.
    """
    col = functions_of(frame).col
    columns: list[Any] = []
    for field in frame.schema.fields[:count]:
        column = col(quote(field.name))
        for type_ in as_months(field.dataType):
            column = column.cast(type_)
        columns.append(column.alias(f"c{len(columns)}"))
    return frame.select(*columns)


def require_read_version(context: WriteContext, current: frozenset[str]) -> None:
    """Refuse to replace rows that others have changed since the query was planned."""
    if context.files is not None and context.files != current:
        raise ConflictError(
            "another writer has changed the table since the query read it",
            hint=RUN_AGAIN,
        )
