"""Connectors of files whose commit is wrong: it shows if a process is killed within it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from schema_core.connectors import Ability
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.errors import ExternalError
from schema_core.spark.commit.commit import CommitFileKind, FileStage

if TYPE_CHECKING:
    from schema_core.connectors import WriteContext


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
    abilities = frozenset({Ability.PARTITIONS, Ability.STAGING})  # type: ignore[misc]
    staged: ClassVar[type[FileStage]] = OneByOne

    def stage(self, context: WriteContext) -> FileStage:
        stage = super().stage(context)
        assert isinstance(stage, FileStage)
        stage.__class__ = self.staged
        return stage


class LeavesItsLock(PublishesFilesOneByOne):
    abilities = frozenset({Ability.STAGING})  # type: ignore[misc]
    staged = Locking


#: Connector -> how its failure is described.
WRONG: Mapping[type[FilesystemConnector], str] = {
    PublishesFilesOneByOne: "INSERT INTO, committing 25%",
    LeavesItsLock: "the table is locked",
}
