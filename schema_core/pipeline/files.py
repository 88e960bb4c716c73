"""The few steps on file systems that writing needs, on whatever system Spark reaches.

They go through Hadoop's classes in Spark's process, so a path may be local, on HDFS or in a store.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory of a file system that Spark can reach."""

    session: SparkSession
    path: str

    def _path(self, *parts: str) -> Any:
        kind = self.session._jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr, unused-ignore] # noqa: SLF001
        return kind("/".join((self.path, *parts)))

    def _system(self) -> Any:
        configuration = self.session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        return self._path().getFileSystem(configuration)

    def exists(self) -> bool:
        """Whether it is there."""
        return bool(self._system().exists(self._path()))

    def files(self) -> list[str]:
        """Paths, below this one, of all files whose data counts: no hidden ones."""
        system = self._system()
        found: list[str] = []
        open_ = [""]
        while open_:
            below = open_.pop()
            for status in system.listStatus(self._path(below) if below else self._path()):
                name = status.getPath().getName()
                if name.startswith(("_", ".")):
                    continue
                inner = f"{below}/{name}" if below else name
                (open_ if status.isDirectory() else found).append(inner)
        return sorted(found)

    def move(self, inner: str, target: Folder) -> None:
        """Move a file to the same place below another folder."""
        system = self._system()
        place = target._path(inner)
        system.mkdirs(place.getParent())
        system.rename(self._path(inner), place)

    def remove(self, inner: str | None = None) -> None:
        """Remove a file below, or all of it."""
        self._system().delete(self._path(inner) if inner else self._path(), True)


@dataclass(frozen=True, slots=True)
class FileStage:
    """Rows of a job in a hidden folder beside those of the table, until the job has ended.

    With `overwrite` the files of the table are removed when the new ones come, in the partitions
    that get any if the table has partitions. If the folder of the table was not there before, it is
    not there afterwards either when nothing is kept.
    """

    target: Folder
    overwrite: bool = False
    partitioned: bool = False
    is_new: bool = False
    name: str = field(default_factory=lambda: f".staging-{uuid.uuid4().hex}")

    @property
    def folder(self) -> Folder:
        """Where the rows are written to."""
        return Folder(self.target.session, f"{self.target.path}/{self.name}")

    def commit(self) -> None:
        """Move the files to where the table's readers see them."""
        new = self.folder.files() if self.folder.exists() else []
        if self.overwrite:
            replaced = {_parent(one) for one in new}
            for old in self.target.files():
                if not self.partitioned or _parent(old) in replaced:
                    self.target.remove(old)
        for one in new:
            self.folder.move(one, self.target)
        self.folder.remove()

    def abort(self) -> None:
        """Remove what was written."""
        self.folder.remove()
        if self.is_new and self.target.exists() and not self.target.files():
            self.target.remove()


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
