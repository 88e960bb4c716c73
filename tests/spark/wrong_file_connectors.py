"""Connectors of files whose commit is wrong: it shows if a process is killed within it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.connectors import Ability, Stage
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.errors import ExternalError
from schema_core.spark.commit.commit import CommitFileKind, FileStage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.connectors import ReadContext, WriteContext


class OneByOne(FileStage):
    """A commit without a journal."""

    def commit(self) -> None:
        for path, _ in self.directory.files(self.name):
            self.directory.mkdirs(path.rpartition("/")[0])
            self.directory.rename(f"{self.name}/{path}", path)
        self.committed = True
        self.directory.delete(self.name.of(CommitFileKind.DRAFT))
        self.directory.delete(self.name)
        self._close()


class Locking(FileStage):
    """A commit with a lock that outlives its process."""

    def prepare(self) -> None:
        if self.directory.status(".locked") is not None:
            raise ExternalError("the table is locked")
        super().prepare()
        self.directory.create(".locked", b"")

    def commit(self) -> None:
        super().commit()
        self.directory.delete(".locked")


class PublishesFilesOneByOne(FilesystemConnector):
    abilities = frozenset({Ability.STAGING})  # type: ignore[misc]
    staged: ClassVar[type[FileStage]] = OneByOne

    def stage(self, context: WriteContext) -> FileStage:
        stage = super().stage(context)
        assert isinstance(stage, FileStage)
        stage.__class__ = self.staged
        return stage


class LeavesItsLock(PublishesFilesOneByOne):
    staged = Locking


class StartsAtTheEnd(FilesystemConnector):
    """A stream that begins with the rows that are added after its start, also when it restarts."""

    first: ClassVar[dict[str, set[Any]]] = {}

    def read_stream(self, context: ReadContext) -> DataFrame:
        present = {row["a"] for row in self.read(context).collect()}
        first = self.first.setdefault(context.options["path"], present)
        frame = super().read_stream(context)
        return frame.where(~frame["a"].isin([*present - first]))


class RemovesCommittedRows(FilesystemConnector):
    """Each job publishes its rows by a rename of the whole directory that it has read before."""

    def stage(self, context: WriteContext) -> Stage:
        return super().stage(replace(context, overwrite=context.batch is not None))


#: Connector -> the test that it fails, and how its failure is described.
WRONG_JOBS: Mapping[type[FilesystemConnector], tuple[str, str]] = {
    StartsAtTheEnd: (
        "test_a_stream_continues_where_it_ended", "written while the job was stopped are lost: [4]",
    ),
    RemovesCommittedRows: (
        "test_micro_batches_are_written_as_guaranteed", "micro-batches left",
    ),
}  # fmt: skip

#: Connector -> how its failure is described.
WRONG: Mapping[type[FilesystemConnector], str] = {
    PublishesFilesOneByOne: "INSERT INTO, committing 25%",
    LeavesItsLock: "the table is locked",
}
