"""The directory of a table, or of a job, with every operation of its file system checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from schema_core.base.contained_paths import find_link, is_hidden
from schema_core.base.lazy import dataclass
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.errors.hints import REPLACE_LINK
from schema_core.spark.commit.file_systems import FileStatus, FileSystem, visible_files

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Directory:
    """The directory of a table, with every operation checked.

    Whether the file system raises or returns False, a failure is an `ExternalError` with code
    `file-system-failed`.
    """

    system: FileSystem
    root: str

    def path(self, name: object) -> str:
        """An entry's path; the directory's own for the empty name."""
        return f"{self.root}/{name}" if name else self.root

    def call(self, action: str, operation: Callable[[], T]) -> T:
        try:
            return operation()
        except SchemaCoreError:
            raise
        except Exception as error:
            cause = getattr(error, "java_exception", None)
            text = f"{type(error).__name__}: {error}" if cause is None else str(cause.toString())
            raise failure_of(action, text.strip().splitlines()[0]) from error

    def status(self, name: object) -> FileStatus | None:
        path = self.path(name)
        return self.call(f"read the status of {path!r}", lambda: self.system.status(path))

    def entries(self, prefix: str) -> list[FileStatus]:
        """The entries with this prefix; none if the directory is a file or missing."""
        here = self.call(f"read the status of {self.root!r}", lambda: self.system.status(self.root))
        if here is None or not here.is_directory:
            return []
        return self.call(f"list {self.root!r}", lambda: self.system.list(self.root, prefix))

    def files(self, name: object | None = None) -> list[tuple[str, int]]:
        """The visible files below this directory, or one within."""
        root = self.root if name is None else self.path(name)
        return self.call(f"list {root!r}", lambda: sorted(visible_files(self.system, root)))

    def read(self, name: object) -> bytes | None:
        """A file's content; None if it was removed meanwhile."""
        try:
            return self.call(f"read {self.path(name)!r}", lambda: self.system.read(self.path(name)))
        except ExternalError:
            if self.status(name) is None:
                return None
            raise

    def create(self, name: object, content: bytes) -> None:
        path = self.path(name)
        self.call(f"write {path!r}", lambda: self.system.create(path, content))

    def mkdirs(self, name: str) -> None:
        path = self.path(name)
        if not self.call(f"create {path!r}", lambda: self.system.mkdirs(path)):
            raise failure_of(f"create {path!r}", "the file system returned false")

    def rename(self, source: object, target: object) -> None:
        action = f"rename {self.path(source)!r} to {self.path(target)!r}"
        paths = self.path(source), self.path(target)
        if not self.call(action, lambda: self.system.rename(*paths)):
            raise failure_of(action, "the file system returned false")

    @property
    def outer(self) -> Directory:
        return Directory(self.system, self.root.rpartition("/")[0])

    def can_publish(self) -> bool:
        """Whether `publish` can replace this existing directory."""
        action = f"read the status of {self.root!r}"
        return self.call(action, lambda: self.system.can_publish(self.root))

    def publish(self, name: object) -> bool:
        """Replace this directory by one beside it; False if this one is not empty."""
        source = self.outer.path(name)
        action = f"rename {source!r} to {self.root!r}"
        return self.call(action, lambda: self.system.publish(source, self.root))

    def take(self, name: object) -> None:
        """Move a directory beside this one into it."""
        source, target = self.outer.path(name), self.path(name)
        action = f"rename {source!r} to {target!r}"
        if not self.call(action, lambda: self.system.rename(source, target)):
            raise failure_of(action, "the file system returned false")

    def delete_hidden(self, name: object) -> None:
        """Delete the files below a directory within that readers skip."""
        pending = [str(name)]
        while pending:
            parent = pending.pop()
            path = self.path(parent)
            for entry in self.call(f"list {path!r}", partial(self.system.list, path)):
                inner = f"{parent}/{entry.name}"
                if is_hidden(entry.name, is_directory=entry.is_directory):
                    self.delete(inner)
                elif entry.is_directory:
                    self.require_unlinked([f"{inner}/"])
                    pending.append(inner)

    def delete(self, name: object) -> bool:
        """Delete a file or directory; return whether this call deleted it."""
        return self._delete(name, self.system.delete)

    def delete_file(self, name: object) -> bool:
        """Delete a file; raise if it is a directory with entries."""
        return self._delete(name, self.system.delete_file)

    def _delete(self, name: object, delete: Callable[[str], bool]) -> bool:
        path = self.path(name)
        deleted = self.call(f"delete {path!r}", lambda: delete(path))
        if not deleted and self.status(name) is not None:
            raise failure_of(f"delete {path!r}", "the file system returned false")
        return deleted

    def require_unlinked(self, paths: Iterable[str]) -> None:
        """Refuse paths through a symbolic link within the directory (`not-allowed`)."""

        def is_link(name: str) -> bool:
            path = self.path(name)
            return self.call(f"read the status of {path!r}", lambda: self.system.is_link(path))

        link = find_link(paths, is_link)
        if link is not None:
            raise ExternalError(
                f"{self.path(link)!r} is a symbolic link, and files are neither written nor "
                "deleted through a link in the directory of a table",
                code="not-allowed",
                hint=REPLACE_LINK,
            )


def failure_of(action: str, reason: str) -> ExternalError:
    """Return the error of an operation that the file system did not do."""
    return ExternalError(f"cannot {action}: {reason}", code="file-system-failed")
