"""File systems of tables: the operations that reading and committing files need.

Paths are absolute strings. Python accesses local files; Hadoop's classes in Spark's JVM all others,
such as HDFS and object stores. States of local files show whether they have changed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Hashable, Iterator
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, TypeAlias, cast
from urllib.parse import unquote

from schema_core.base.contained_paths import is_hidden, normalize_path
from schema_core.base.lazy import dataclass, regex
from schema_core.errors import ExternalError
from schema_core.spark.jobs import spark_errors
from schema_core.spark.session.api_mode import (
    default_file_system,
    is_connect,
    java_class,
    not_over_connect,
    session_state,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

fcntl: Any
try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no advisory locks of this kind
    fcntl = None

#: Others' permissions to read a directory: with them nothing needs restricting.
_READABLE: Final = 0o055
#: Maximum bytes of a small file.
MAX_SMALL: Final = 1 << 28
#: Seconds after which a lock counts as abandoned where there are no advisory locks.
ABANDONED_LOCK: Final = 3600.0

#: A suffix that Spark skips: ``hdfs dfs -put`` appends it while it copies a file.
COPYING: Final = "._COPYING_"

Release = Callable[[], None]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file or directory: its name, size in bytes, and time of change (Unix seconds)."""

    name: str
    is_directory: bool
    size: int
    modified: float


class IrregularFileError(OSError):
    """A link, pipe, directory or large file in place of a small regular file."""


class FileSystem(Protocol):
    """The operations of a file system that the commit of files uses.

    As in Hadoop's ``FileSystem``, `rename`, `delete` and `mkdirs` may raise or return False on
    failure.
    """

    def status(self, path: str) -> FileStatus | None:
        """The file or directory at the path, or None."""

    def list(self, path: str, prefix: str = "") -> list[FileStatus]:
        """A directory's entries whose names begin with the prefix."""

    def is_link(self, path: str) -> bool:
        """Whether there is a symbolic link at the path."""

    def read(self, path: str) -> bytes:
        """The content of a small file."""

    def create(self, path: str, content: bytes) -> None:
        """Write a new small file."""

    def rename(self, source: str, target: str) -> bool:
        """Move a file within the file system; False if the target exists or the source does not."""

    def can_publish(self, path: str) -> bool:
        """Whether `publish` can put another directory in place of this existing one."""

    def publish(self, source: str, target: str) -> bool:
        """Rename a directory to an empty one's path, atomically; False if that has entries."""

    def delete(self, path: str) -> bool:
        """Delete a file or a directory tree; False if nothing was deleted.

        Of a symbolic link only the link is deleted.
        """

    def delete_file(self, path: str) -> bool:
        """Delete a file as `delete`; raise if it is a directory with entries."""

    def delete_empty(self, path: str) -> bool:
        """Delete a directory if empty; return whether it no longer exists."""

    def mkdirs(self, path: str) -> bool:
        """Create a directory and its parents; True also if it exists."""

    def restrict(self, path: str) -> None:
        """Take permissions that a directory lacks from its contents."""

    def lock(self, path: str) -> Release | None:
        """Take the exclusive lock with this path; None while another process holds it."""

    def snapshot(self, path: str) -> Hashable:
        """A value that differs once a directory's visible files have changed."""


def visible_files(system: FileSystem, root: str) -> Iterator[tuple[str, int]]:
    """Yield the path below `root` and the size of every visible file."""
    pending = [""]
    while pending:
        parent = pending.pop()
        for entry in system.list(f"{root}/{parent}" if parent else root):
            if is_hidden(entry.name, is_directory=entry.is_directory):
                continue
            path = f"{parent}/{entry.name}" if parent else entry.name
            if entry.is_directory:
                pending.append(path)
            else:
                yield path, entry.size


class LocalFiles:
    """The files of this machine."""

    def status(self, path: str) -> FileStatus | None:
        try:
            status = os.stat(path)  # noqa: PTH116 - paths are strings here
        except (FileNotFoundError, NotADirectoryError):
            return None
        is_directory = os.path.isdir(path)  # noqa: PTH112
        return FileStatus(os.path.basename(path), is_directory, status.st_size, status.st_mtime)  # noqa: PTH119

    def list(self, path: str, prefix: str = "") -> list[FileStatus]:
        entries = []
        with os.scandir(path) as found:
            for item in found:
                if not item.name.startswith(prefix):
                    continue
                # a file that another process removes meanwhile is not listed
                with contextlib.suppress(FileNotFoundError):
                    about = item.stat()
                    entries.append(
                        FileStatus(item.name, item.is_dir(), about.st_size, about.st_mtime)
                    )
        return entries

    def is_link(self, path: str) -> bool:
        return os.path.islink(path)  # noqa: PTH114

    def read(self, path: str) -> bytes:
        """Return the content of a small regular file, not a symbolic link."""
        with _open_regular_file(path, os.O_RDONLY, "rb") as file:
            return file.read()

    def create(self, path: str, content: bytes) -> None:
        """Write a new file; it is on the disk when this returns."""
        with open(path, "xb") as file:  # noqa: PTH123
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def rename(self, source: str, target: str) -> bool:
        if os.path.lexists(target) or not os.path.lexists(source):
            return False
        os.rename(source, target)  # noqa: PTH104
        return True

    def can_publish(self, path: str) -> bool:
        """Whether the directory is a plain one of this user, beside which others can be created.

        Mount points, symbolic links and other users' directories are not replaced.
        """
        parent = os.path.dirname(path)  # noqa: PTH120
        if os.name != "posix" or parent == path or os.path.islink(path):  # noqa: PTH114
            return False
        try:
            own, outer = os.stat(path), os.stat(parent)  # noqa: PTH116
        except OSError:
            return False
        is_ours = (own.st_uid, own.st_gid) == (os.geteuid(), os.getegid())
        return is_ours and own.st_dev == outer.st_dev and os.access(parent, os.W_OK | os.X_OK)

    def publish(self, source: str, target: str) -> bool:
        """Rename a directory over an empty one, whose permissions it gets."""
        os.chmod(source, stat.S_IMODE(os.stat(target).st_mode))  # noqa: PTH101, PTH116
        try:
            os.rename(source, target)  # noqa: PTH104
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise
        return True

    def delete(self, path: str) -> bool:
        """Delete a file, with Hadoop's checksum file for it, or a directory."""
        if not os.path.lexists(path):
            return False
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            return _delete_tree(path)
        return self.delete_file(path)

    def delete_file(self, path: str) -> bool:
        parent, _, name = path.rpartition("/")
        with contextlib.suppress(FileNotFoundError):
            os.remove(f"{parent}/.{name}.crc")  # noqa: PTH107
        try:
            os.remove(path)  # noqa: PTH107
        except FileNotFoundError:
            return False
        return True

    def delete_empty(self, path: str) -> bool:
        try:
            os.rmdir(path)  # noqa: PTH106
        except OSError:
            return not os.path.lexists(path)
        return True

    def mkdirs(self, path: str) -> bool:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103
        return True

    def restrict(self, path: str) -> None:
        """Take permissions that a directory lacks from its contents.

        The directory has this process's umask, the files that of Spark's process.
        """
        permitted = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116
        if permitted & _READABLE == _READABLE:
            return
        for place, directories, files in os.walk(path):
            for entry in (f"{place}/{name}" for name in (*directories, *files)):
                mode = stat.S_IMODE(os.lstat(entry).st_mode)
                if mode & ~permitted and not os.path.islink(entry):  # noqa: PTH114
                    os.chmod(entry, mode & permitted)  # noqa: PTH101

    def lock(self, path: str) -> Release | None:
        """Take an advisory lock, which the kernel releases when its holder is killed."""
        if fcntl is None:  # pragma: no cover - Windows
            return _lock_by_creation(self, path)
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            file = _open_regular_file(path, flags, "r+b")  # closed by the release
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(file, path):
                    return lambda: _release(file, path)
            except BlockingIOError:
                file.close()
                return None
            except BaseException:
                file.close()
                raise
            # its last holder deleted the file between our opening and our locking it
            file.close()

    def snapshot(self, path: str) -> Hashable:
        return frozenset(visible_files(self, path))


def _open_regular_file(path: str, flags: int, mode: str) -> BinaryIO:
    """Open a small regular file, without following a symbolic link or waiting for a pipe.

    Anything else is an `IrregularFileError`.
    """
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags | safe | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise IrregularFileError("it is not a regular file") from None
        raise
    about = os.fstat(handle)
    if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_SMALL:
        return cast("BinaryIO", open(handle, mode, 0))  # noqa: PTH123 - by the caller
    os.close(handle)
    if stat.S_ISREG(about.st_mode):
        raise IrregularFileError(f"it has {about.st_size:,} bytes, more than {MAX_SMALL:,}")
    raise IrregularFileError("it is not a regular file")


def _delete_tree(path: str) -> bool:
    """Delete a directory tree, which another process may be deleting as well."""
    with contextlib.suppress(FileNotFoundError), os.scandir(path) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                _delete_tree(entry.path)
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(entry)  # noqa: PTH107
    try:
        os.rmdir(path)  # noqa: PTH106
    except FileNotFoundError:
        return False
    return True


def _is_at(file: BinaryIO, path: str) -> bool:
    try:
        there = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(file.fileno()))


def _release(file: BinaryIO, path: str) -> None:
    with file, contextlib.suppress(FileNotFoundError):
        os.remove(path)  # noqa: PTH107


@dataclass(frozen=True, slots=True)
class HadoopFiles:
    """Files of a Hadoop file system, through the JVM of a Spark session."""

    session: SparkSession
    system: Any

    def _path(self, path: str) -> Any:
        return java_class(self.session, "org.apache.hadoop.fs.Path")(path)

    def status(self, path: str) -> FileStatus | None:
        place = self._path(path)
        return self._entry(self.system.getFileStatus(place)) if self.system.exists(place) else None

    def list(self, path: str, prefix: str = "") -> list[FileStatus]:
        kind = java_class(self.session, "org.apache.hadoop.fs.GlobFilter")
        statuses = self.system.listStatus(self._path(path), kind(f"{prefix}*"))
        return [self._entry(status) for status in statuses]

    def _entry(self, status: Any) -> FileStatus:
        return FileStatus(
            str(status.getPath().getName()),
            bool(status.isDirectory()),
            int(status.getLen()),
            int(status.getModificationTime()) / 1000,
        )

    def is_link(self, path: str) -> bool:
        """False: Hadoop's file systems, unless local, have no symbolic links."""
        return False

    def read(self, path: str) -> bytes:
        stream = self.system.open(self._path(path))
        try:
            tools = java_class(self.session, "org.apache.commons.io.IOUtils")
            return bytes(tools.toByteArray(stream))
        finally:
            stream.close()

    def create(self, path: str, content: bytes) -> None:
        stream = self.system.create(self._path(path), False)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def rename(self, source: str, target: str) -> bool:
        return bool(self.system.rename(self._path(source), self._path(target)))

    def can_publish(self, path: str) -> bool:
        """False: a rename would put the directory into the other one."""
        return False

    def publish(self, source: str, target: str) -> bool:
        return False

    def delete(self, path: str) -> bool:
        return bool(self.system.delete(self._path(path), True))

    def delete_file(self, path: str) -> bool:
        return bool(self.system.delete(self._path(path), False))

    def delete_empty(self, path: str) -> bool:
        if self.list(path):
            return False
        return bool(self.system.delete(self._path(path), False))

    def mkdirs(self, path: str) -> bool:
        return bool(self.system.mkdirs(self._path(path)))

    def restrict(self, path: str) -> None:
        """Do nothing: the file system has its own umask."""

    def lock(self, path: str) -> Release | None:
        return _lock_by_creation(self, path)

    def snapshot(self, path: str) -> Hashable:
        """When the directory last changed: a commit adds and removes its entries."""
        status = self.status(path)
        return status and status.modified


def _lock_by_creation(system: FileSystem, path: str) -> Release | None:
    """Take a lock by creating a file; None if the file exists.

    It is exclusive where creating files is: HDFS, Azure, Google's store. A lock older than
    `ABANDONED_LOCK` is taken over: its holder was killed.
    """
    held = system.status(path)
    if held is not None:
        if time.time() - held.modified < ABANDONED_LOCK:
            return None
        system.delete(path)
    token = uuid.uuid4().hex.encode()
    try:
        system.create(path, token)
    except Exception:
        if system.status(path) is None:
            raise
        return None
    if system.read(path) != token:
        return None

    def release() -> None:
        if system.status(path) is not None and system.read(path) == token:
            system.delete(path)

    return release


def absolute(session: SparkSession, path: str) -> str:
    """Return a normalized path or URI; a local one without scheme, a relative one made absolute.

    Spark would resolve a relative path against the JVM's first directory. Another default file
    system (``fs.defaultFS``) resolves paths without scheme itself.
    """
    normalized = normalize_path(path)
    is_changed_scheme = path.startswith("file:") and normalized.startswith("/")
    if not is_relative(path) and not is_changed_scheme:
        return normalized
    system, _ = locate_file_system(session, normalized)
    if not isinstance(system, LocalFiles):
        return path
    return os.path.abspath(normalized)  # noqa: PTH100


def is_relative(path: str) -> bool:
    """Return whether a path begins with neither a scheme nor the root.

    >>> is_relative("data/t"), is_relative("/data/t"), is_relative("s3a://data/t")
    (True, False, False)
    """
    return not os.path.isabs(path) and re.match("[A-Za-z][A-Za-z0-9+.-]*:", path) is None  # noqa: PTH117


def locate_file_system(session: SparkSession, path: str) -> tuple[FileSystem, str]:
    """Return the file system of a path, as Spark resolves it, and the absolute path in it.

    Over Spark Connect the file must be local, and the server have this process's local files
    (`not-over-connect`).
    """
    if is_connect(session):
        return LocalFiles(), _path_of_server(session, path)
    is_plain = path.startswith("/") and not path.startswith("//")
    if is_plain and default_file_system(session).startswith("file:"):  # as below, at once
        return LocalFiles(), re.sub("/+", "/", path).rstrip("/") or "/"
    place = java_class(session, "org.apache.hadoop.fs.Path")(path)
    system = place.getFileSystem(session_state(session).newHadoopConf())
    whole = system.makeQualified(place)
    if str(system.getUri().getScheme()) == "file":
        return LocalFiles(), str(whole.toUri().getPath())
    return HadoopFiles(session, system), str(whole.toString())


#: Spark's conditions for a file that driver or executor lack.
_MISSING: Final = regex(r"PATH_NOT_FOUND|FAILED_READ_FILE|FILE_NOT_EXIST|FileNotFound")
#: A setting of our Spark Connect session: whether the server has this process's files.
_SHARES_FILES: Final = "schema_core.sharesFiles"


def _path_of_server(session: SparkSession, path: str) -> str:
    """Return the absolute path of a local file that a Spark Connect server has as well."""
    scheme = re.match("([A-Za-z][A-Za-z0-9+.-]*):", path)
    if scheme is not None and scheme[1] != "file":
        raise not_over_connect(f"path {path!r}", "use a path of local files, or a session of "
                               "a SparkContext in this process")  # fmt: skip
    shares_files = session.conf.get(_SHARES_FILES, None)
    if shares_files is None:
        shares_files = str(_has_our_files(session)).lower()
        session.conf.set(_SHARES_FILES, shares_files)
    if shares_files != "true":
        raise not_over_connect(
            f"path {path!r}",
            "the server has other files: run this program on its machine, or use a session of "
            "a SparkContext in this process",
        )
    return os.path.abspath(normalize_path(path))  # noqa: PTH100


def _has_our_files(session: SparkSession) -> bool:
    """Return whether a server reads what this process wrote into a local file.

    If it can read no file at all, the error has the code `job-failed`.
    """
    from pyspark.errors import PySparkException

    token = uuid.uuid4().hex
    with NamedTemporaryFile("w", prefix="schema_core-", suffix=".txt") as file:
        file.write(token)
        file.flush()
        os.chmod(file.name, 0o644)  # noqa: PTH101 - the server may run as another user
        try:
            with spark_errors():
                return bool(session.read.text(file.name).first()[0] == token)
        except ExternalError as error:
            cause = error.__cause__
            if isinstance(cause, PySparkException) and _MISSING.search(str(cause)):
                return False
            raise


def exists(session: SparkSession, path: str) -> bool:
    """Return whether there is a file or directory at a path, as Spark resolves it."""
    system, place = locate_file_system(session, path)
    return system.status(place) is not None


# --- states of local files ---------------------------------------------------------------------- A
# state shows whether files changed since they were listed: the names of all entries, and the
# length, times and inode of every visible file. A file written again within one tick of its file
# system's clock may look the same, so states with files that changed shortly before are not
# compared (as in git's index).


#: Nanoseconds of a file system's coarsest clock.
TICK: Final = 2_000_000_000

#: A file's length, times and inode; no program can set the time of the last status change.
FileState: TypeAlias = "tuple[int, ...]"
#: A name, with the state of a file; empty for directories and what readers skip.
Part: TypeAlias = "tuple[str, FileState]"
State: TypeAlias = frozenset[Part]


def state_of(root: str) -> State | None:
    """Return the state of a file or directory; None if none can be listed."""
    try:
        status = os.stat(root)  # noqa: PTH116 - paths are strings here
        if not stat.S_ISDIR(status.st_mode):
            return frozenset({("", _state(status))})
        return frozenset(_entries(root))
    except OSError:
        return None


def is_settled(state: State) -> bool:
    """Return whether a later change of the files would be seen in their state."""
    return all(not file or is_file_settled(file) for _, file in state)


def file_state_of(path: str) -> FileState:
    """Return a file's state; raise `OSError` if there is none."""
    return _state(os.stat(path))  # noqa: PTH116 - paths are strings here


def is_file_settled(state: FileState) -> bool:
    """Return whether a later change of a file would be seen in its state."""
    _, modified, changed, _ = state
    return max(modified, changed) < time.time_ns() - TICK


def path_of(uri: str) -> str | None:
    """Return the path of a local file; None for other file systems.

    >>> path_of("file:///data/a%20b"), path_of("file:/data/c"), path_of("hdfs://host/d")
    ('/data/a b', '/data/c', None)
    """
    if not uri.startswith("file:"):
        return None
    return unquote(uri.removeprefix("file:").removeprefix("//"))


def _state(status: os.stat_result) -> FileState:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _entries(root: str) -> Iterator[Part]:
    pending = [""]
    while pending:
        parent = pending.pop()
        with os.scandir(f"{root}/{parent}") as entries:
            for entry in entries:
                path = f"{parent}/{entry.name}" if parent else entry.name
                is_directory = entry.is_dir()
                if is_hidden(entry.name, is_directory=is_directory):
                    yield path, ()
                elif is_directory:
                    pending.append(path)
                    yield path, ()
                else:
                    yield path, _state(entry.stat())
