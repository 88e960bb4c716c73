"""The commit of files: a job's new files become visible and the old ones are deleted, atomically.

A job writes into a staging directory that readers skip. Its commit locks the table's directory and
writes a journal of the files to move in and to delete; renaming the journal to its final name is
the commit point. Then files are moved, checked and deleted, and the stage and journal removed.

A job killed before the commit point leaves a staging directory, which the next write removes; after
it a journal, which the next read or write carries out: steps are idempotent. See
``docs/decisions/0013-commit-journal.md``; `TableTransaction` decides when to commit.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from enum import Enum
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from schema_core.base.contained_paths import is_hidden, is_plain
from schema_core.base.lazy import NamedTuple, dataclass, regex
from schema_core.environment.jobs.pending import ABANDONED, OWNER, Owner
from schema_core.environment.jobs.run import require_running
from schema_core.errors import ConflictError, ExternalError, SchemaCoreError, SchemaError
from schema_core.errors.hints import RUN_AGAIN
from schema_core.spark.commit import snapshots
from schema_core.spark.commit.directory import Directory, failure_of
from schema_core.spark.commit.file_systems import (
    FileStatus,
    IrregularFileError,
    Release,
)

T = TypeVar("T")

#: Prefix of this library's names in a table's directory. Readers skip names with a dot.
PREFIX: Final = ".schema-core-"
LOCK: Final = f"{PREFIX}lock"
#: Marks the stage: an engine creates a removed directory again, but not this file.
OPEN: Final = f"{PREFIX}open"
#: Seconds that a commit waits for the lock.
LOCK_TIMEOUT: Final = 600.0
#: Seconds between attempts to take the lock, or to delete a stage.
PAUSE: Final = 0.02
#: Maximum attempts of a step after the commit point, or to delete a stage.
ATTEMPTS: Final = 3
#: Maximum listings of a read's files under concurrent modification.
READ_ATTEMPTS: Final = 20
#: Maximum listings before the read takes the lock, so that commits wait.
UNLOCKED_ATTEMPTS: Final = 5
#: Seconds that a read waits for the lock; it then continues without.
READ_LOCK_TIMEOUT: Final = 10.0
#: Staging directories of versions before the journal; they name no owner.
FORMER_PREFIX: Final = ".staging-"
FORMER_STAGE: Final = regex(r"\.staging-[0-9a-f]{32}")
FORMER_ABANDONED: Final = 86_400.0


class CommitFileKind(Enum):
    """What a commit leaves in a table's directory."""

    STAGE = "stage"
    #: a journal without effect
    DRAFT = "draft"
    #: a journal that takes effect once the catalog holds the definition it names
    PENDING = "pending"
    #: a journal with effect: its job has committed
    COMMIT = "commit"


# --- names ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CommitFileName:
    """A name of this library in a table's directory, with the process that owns it."""

    kind: CommitFileKind
    owner: Owner
    id: str

    def __str__(self) -> str:
        process = self.owner
        return f"{PREFIX}{self.kind.value}-{process.host}-{process.pid}-{process.started}-{self.id}"

    @classmethod
    def parse(cls, name: str) -> CommitFileName | None:
        if not (match := _NAME.fullmatch(name)):
            return None
        kind, host, pid, started, id_ = match.groups()
        return cls(CommitFileKind(kind), Owner(host, int(pid), int(started)), id_)

    def of(self, kind: CommitFileKind) -> CommitFileName:
        """The name of another file of the same job."""
        return CommitFileName(kind, self.owner, self.id)


_KINDS = "|".join(kind.value for kind in CommitFileKind)
_NAME = regex(rf"{re.escape(PREFIX)}({_KINDS})-{OWNER}-([0-9a-f]{{32}})")
#: Jobs of this process that may still commit, by the id of their names. Stages are named after the
#: process, so all environments share it. Each job removes itself.
_RUNNING: set[str] = set()


# --- the journal ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Definition:
    """A table's definition in a catalog: its identifier, and a digest of the rest."""

    table: str
    digest: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch of a streaming job, by the job's id and its number.

    An empty file of this name in the table's directory records its commit, so that a restarted job
    does not write it again.
    """

    job: str
    number: int

    def __str__(self) -> str:
        return f"{PREFIX}batch-{self.job}-{self.number}"

    @classmethod
    def parse(cls, name: str) -> Batch | None:
        match = _BATCH.fullmatch(name)
        return None if match is None else cls(match[1], int(match[2]))


_BATCH = regex(rf"{re.escape(PREFIX)}batch-([0-9a-f]{{32}})-([0-9]{{1,19}})")


def last_batch(directory: Directory, job: str) -> int | None:
    """Return the number of a job's last recorded micro-batch, if any."""
    return max((record.number for record in _records(directory, job)), default=None)


def _records(directory: Directory, job: str) -> list[Batch]:
    parsed = (Batch.parse(entry.name) for entry in directory.entries(f"{PREFIX}batch-{job}-"))
    return [batch for batch in parsed if batch is not None]


@dataclass(frozen=True, slots=True)
class Journal:
    """The steps of a commit: the files to add, with their sizes, and those to delete.

    Paths are below the table's directory, new files below `stage`. With `definition` the commit
    takes effect once the catalog holds it. With `batch` a micro-batch is recorded; such a journal
    has another version, which library versions without streaming jobs refuse. With `snapshot`,
    again of another version, the files to delete are kept for it and for earlier ones.
    """

    stage: str
    add: tuple[tuple[str, int], ...]
    remove: tuple[str, ...]
    definition: Definition | None = None
    batch: Batch | None = None
    snapshot: snapshots.Snapshot | None = None

    def paths(self) -> list[str]:
        """The paths that the commit moves from and to, and deletes."""
        staged = [f"{self.stage}/{path}" for path, _ in self.add]
        kept = [] if self.snapshot is None else map(snapshots.kept_path, self.remove)
        return [*staged, *(path for path, _ in self.add), *self.remove, *kept]

    def encode(self) -> bytes:
        fields = asdict(self)
        version = 3
        if self.snapshot is None:
            del fields["snapshot"]
            version = 2
            if self.batch is None:
                del fields["batch"]
                version = 1
        return json.dumps({"version": version, **fields}).encode()

    @classmethod
    def decode(cls, content: bytes, name: CommitFileName) -> Journal:
        """Parse the untrusted content of a journal.

        The error is an `UnknownJournalVersion` for another library version's journal, a
        `ValueError` for content that this library does not write.
        """
        try:
            fields = json.loads(content)
        except RecursionError:
            fields = None
        if not isinstance(fields, dict) or type(version := fields.pop("version", None)) is not int:
            raise ValueError("it is not a JSON object with a version")
        if version not in _FIELDS:
            raise UnknownJournalVersion(version)
        if fields.keys() != _FIELDS[version]:
            raise ValueError(f"its fields are {sorted(fields)}")
        if fields["stage"] != str(name.of(CommitFileKind.STAGE)):
            raise ValueError(f"its stage {fields['stage']!r} is not that of its job")
        batch, snapshot = fields.get("batch"), fields.get("snapshot")
        journal = cls(
            fields["stage"],
            tuple(map(_new_file, _list(fields["add"]))),
            tuple(map(_file_path, _list(fields["remove"]))),
            _definition(fields["definition"]),
            None if batch is None else _batch(batch),
            None if version < 3 else snapshots.Snapshot.parse(snapshot),
        )
        if both := {path for path, _ in journal.add} & {*journal.remove}:
            raise ValueError(f"it adds and removes the file {min(both)!r}")
        return journal


class UnknownJournalVersion(Exception):  # noqa: N818 - not an error of the file
    """A journal has a version that is not read."""


#: Journal version -> its other fields.
_FIELDS: Final[Mapping[int, frozenset[str]]] = {
    1: frozenset({"stage", "add", "remove", "definition"}),
    2: frozenset({"stage", "add", "remove", "definition", "batch"}),
    3: frozenset({"stage", "add", "remove", "definition", "batch", "snapshot"}),
}


def _list(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    raise ValueError(f"it has {value!r} in place of a list of files")


def _file_path(value: object) -> str:
    """Return the path, below the table's directory, of a file that readers see."""
    if not isinstance(value, str) or not is_plain(value):
        raise ValueError(f"it names the file {value!r}, which is not in the directory")
    *directories, file = value.split("/")
    if is_hidden(file, is_directory=False) or any(
        is_hidden(directory, is_directory=True) for directory in directories
    ):
        raise ValueError(f"it names the hidden file {value!r}")
    return value


def _new_file(value: object) -> tuple[str, int]:
    if not isinstance(value, list) or len(value) != 2 or type(value[1]) is not int or value[1] < 0:
        raise ValueError(f"it names the new file {value!r}, which is not a path with a size")
    return _file_path(value[0]), value[1]


def _definition(value: Any) -> Definition | None:
    if value is None:
        return None
    definition = Definition(**_strings(value, "table", "digest"))
    if not definition.table or not definition.digest:
        raise ValueError("it waits for a definition without a name")
    return definition


def _batch(value: Any) -> Batch:
    number = value.pop("number", None) if isinstance(value, dict) else None
    job = _strings(value, "job")["job"]
    if type(number) is not int or Batch.parse(str(Batch(job, number))) is None:
        raise ValueError(f"it has the micro-batch {number!r} of the job {job!r}")
    return Batch(job, number)


def _strings(value: Any, *keys: str) -> dict[str, str]:
    if not isinstance(value, dict) or value.keys() != {*keys}:
        raise ValueError(f"it has {value!r} in place of an object with {' and '.join(keys)}")
    if not all(isinstance(element, str) for element in value.values()):
        raise ValueError(f"it has {value!r}, which are not strings")
    return value


def iterate_names(
    directory: Directory, *kinds: CommitFileKind
) -> Iterator[tuple[CommitFileName, FileStatus]]:
    """Yield the files of some kinds that commits have left in a directory, and their status."""
    for entry in directory.entries(PREFIX):
        name = CommitFileName.parse(entry.name)
        if name is not None and name.kind in kinds:
            yield name, entry


# --- completing a journal ----------------------------------------------------------------------


def read_journal(directory: Directory, name: CommitFileName) -> Journal | None:
    """Return a journal; None if it was removed meanwhile.

    Errors: `invalid-journal` if this library has not written it, `commit-unfinished` if another
    version has, and `file-system-failed`.
    """
    try:
        content = directory.read(name)
    except ExternalError as error:
        if isinstance(error.__cause__, IrregularFileError):
            raise _invalid_journal(directory, name, str(error.__cause__)) from error
        raise
    if content is None:
        return None
    try:
        return Journal.decode(content, name)
    except UnknownJournalVersion as error:
        raise ExternalError(
            f"the journal of a commit, {directory.path(name)!r}, has the unknown version {error}",
            code="commit-unfinished",
            hint="read the table with the version of schema_core that wrote it",
        ) from None
    except ValueError as error:
        raise _invalid_journal(directory, name, str(error)) from None


def _invalid_journal(directory: Directory, name: CommitFileName, problem: str) -> ExternalError:
    stage = directory.path(name.of(CommitFileKind.STAGE))
    return ExternalError(
        f"the journal of a commit, {directory.path(name)!r}, is malformed: {problem}",
        code="invalid-journal",
        hint="delete the file; if its job has committed, move the files that are left in "
        f"{stage!r} into the directory of the table first, since the next write deletes them",
    )


def finish(directory: Directory, name: CommitFileName) -> None:
    """Complete a committed journal. Every step is idempotent, also under concurrent recovery.

    Errors: `commit-unfinished` (the rows are committed) and `invalid-journal`.
    """
    journal = read_journal(directory, name)
    if journal is None:
        return
    try:
        directory.require_unlinked(journal.paths())
        for parent in sorted({path.rpartition("/")[0] for path, _ in journal.add}):
            _retry(partial(directory.mkdirs, parent))
        for path, size in journal.add:
            _retry(partial(_move, directory, name, f"{journal.stage}/{path}", path, size))
        for path in journal.remove:
            _retry(partial(_remove, directory, name, path, keeps=journal.snapshot is not None))
        if journal.snapshot is not None:
            _retry(partial(_write_snapshot, directory, name, journal.snapshot))
        if journal.batch is not None:
            _retry(partial(_record, directory, journal.batch))
        _retry(partial(directory.delete, journal.stage))
        _retry(partial(directory.delete, name))
    except ExternalError as error:
        if directory.status(name) is None:
            return
        if error.code == "invalid-journal":
            raise
        mend = "" if error.hint is None else f"{error.hint}; "
        raise ExternalError(
            f"the rows are committed, but completing the journal {directory.path(name)!r} failed: "
            f"{error.problem}",
            code="commit-unfinished",
            hint=f"{mend}do not run the statement again: the next read or write of the table "
            "completes the commit; delete the journal if this library has not written it",
        ) from error


def _retry(step: Callable[[], object], pause: float = 0.0) -> None:
    """Retry a failed step after a pause of seconds; it has no rollback."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            step()
        except ExternalError:
            if attempt == ATTEMPTS:
                raise
            time.sleep(pause)
        else:
            return


def _move(directory: Directory, name: CommitFileName, source: str, path: str, size: int) -> None:
    """Move a new file to its place and check its size there."""
    try:
        directory.rename(source, path)
    except ExternalError:
        is_staged = directory.status(source) is not None  # before the target, which may be next
        target = directory.status(path)
        if _is_complete(target, size) or directory.status(name) is None:
            return  # moved before, by this process or by another one
        if not is_staged:
            problem = f"its new file {path!r} is neither in its stage nor, complete, in the table"
            raise _invalid_journal(directory, name, problem) from None
        if target is not None:
            # a rename that copies was cut short; names of files are unique, so this one is ours
            directory.delete_file(path)
        raise
    if not _is_complete(directory.status(path), size) and directory.status(name) is not None:
        raise failure_of(
            f"move {directory.path(source)!r}", "the file at the target is not complete"
        )


def _record(directory: Directory, batch: Batch) -> None:
    """Record a micro-batch, and delete the job's earlier records."""
    if directory.status(batch) is None:
        try:
            directory.create(batch, b"")
        except ExternalError:
            if directory.status(batch) is None:  # else another process has written it
                raise
    for record in _records(directory, batch.job):
        if record.number < batch.number:
            directory.delete(record)


def _is_complete(entry: FileStatus | None, size: int) -> bool:
    return entry is not None and not entry.is_directory and entry.size == size


def _write_snapshot(
    directory: Directory, name: CommitFileName, snapshot: snapshots.Snapshot
) -> None:
    if directory.status(name) is not None:  # else another process has completed the commit
        snapshots.write_snapshot(directory, snapshot)


def _remove(directory: Directory, name: CommitFileName, path: str, *, keeps: bool) -> None:
    """Delete an old file, unless another process has completed the commit.

    If `keeps`, snapshots may name it, and it is moved to their files.
    """
    if directory.status(name) is None:
        return
    try:
        if keeps:
            snapshots.keep_file(directory, path)
            return
        directory.delete_file(path)
    except ExternalError:
        entry = directory.status(path)
        if entry is not None and entry.is_directory:
            problem = f"its old file {path!r} is a directory"
            raise _invalid_journal(directory, name, problem) from None
        raise


def recover(directory: Directory, held: Definition | None) -> None:
    """Complete every commit whose job ended before it was complete.

    A journal that waits for `held`, the catalog's definition, has effect. Errors:
    `commit-unfinished`, `invalid-journal` and `file-system-failed`.
    """
    for name, _ in list(iterate_names(directory, CommitFileKind.PENDING, CommitFileKind.COMMIT)):
        if name.kind is CommitFileKind.PENDING:
            journal = None if held is None else read_journal(directory, name)
            if journal is None or journal.definition != held:
                continue
            try:
                directory.rename(name, name.of(CommitFileKind.COMMIT))
            except ExternalError:
                if directory.status(name) is not None:
                    raise
        finish(directory, name.of(CommitFileKind.COMMIT))


def is_uncommitted(directory: Directory, job: str) -> bool:
    """Return whether, after `recover`, a job has files to commit.

    A commit removes its stage and journal last.
    """
    places = [directory, directory.outer] if directory.can_publish() else [directory]
    left = (CommitFileKind.STAGE, CommitFileKind.DRAFT, CommitFileKind.PENDING)
    return any(name.id == job for place in places for name, _ in iterate_names(place, *left))


def remove_leftovers(directory: Directory, held: Definition | None = None) -> None:
    """Remove files of jobs that ended before their commit point. The caller holds the lock.

    A journal that waits for another table's definition than `held` stays: two tables may share the
    directory, and only the other one shows whether its catalog has changed.
    """
    now = time.time()
    for name, entry in list(iterate_names(directory, CommitFileKind.DRAFT, CommitFileKind.PENDING)):
        age = now - entry.modified
        if _is_abandoned(name, age) and (age > ABANDONED or not _is_foreign(directory, name, held)):
            directory.delete(name)
    remove_stages(directory)
    for entry in directory.entries(FORMER_PREFIX):
        if FORMER_STAGE.fullmatch(entry.name) and now - entry.modified > FORMER_ABANDONED:
            directory.delete(entry.name)


def _is_foreign(directory: Directory, name: CommitFileName, held: Definition | None) -> bool:
    """Return whether a journal waits for another table's definition."""
    if held is None or name.kind is not CommitFileKind.PENDING:
        return False
    journal = read_journal(directory, name)
    waits = None if journal is None else journal.definition
    return waits is not None and waits.table != held.table


def remove_stages(directory: Directory) -> None:
    """Remove stages of jobs that ended before their commit point."""
    now = time.time()
    # a journal that took effect meanwhile, or still may, keeps its stage
    committing = {
        name.id
        for name, _ in iterate_names(
            directory, CommitFileKind.DRAFT, CommitFileKind.PENDING, CommitFileKind.COMMIT
        )
    }
    for name, entry in list(iterate_names(directory, CommitFileKind.STAGE)):
        if name.id not in committing and _is_abandoned(name, now - entry.modified):
            # a task of the job may still write for a moment after the process has ended
            _retry(partial(directory.delete, name), PAUSE)


def clean(directory: Directory, held: Definition | None, *, created: bool = False) -> None:
    """Complete the commits of killed jobs, and remove their uncommitted files.

    `held` is the definition in the table's catalog. If `created`, a CREATE TABLE AS is undone: an
    empty directory is removed as well.
    """
    if directory.can_publish():
        remove_stages(directory.outer)
    here = directory.status("")
    if here is not None and here.is_directory:
        release = take_lock(directory)
        try:
            recover(directory, held)
            remove_leftovers(directory, held)
        finally:
            directory.call("release the lock", release)
        if created and not directory.files():
            directory.call(
                f"delete {directory.root!r}", lambda: directory.system.delete_empty(directory.root)
            )


def _is_abandoned(name: CommitFileName, age: float) -> bool:
    if name.owner == Owner.this():
        return name.id not in _RUNNING
    return name.owner.is_dead(age)


def read_consistently(directory: Directory, held: Definition | None, load: Callable[[], T]) -> T:
    """Load a table's files so that every commit is seen whole or not at all.

    A concurrent commit makes `load` run again; after a few attempts commits wait for it. If the
    files change every time (`concurrent-modification`), writers ignore the lock or the reader
    cannot create it.
    """
    for attempt in range(READ_ATTEMPTS):
        with nullcontext() if attempt < UNLOCKED_ATTEMPTS else _lock_if_possible(directory):
            recover(directory, held)
            before = _snapshot(directory)
            loaded = load()
            if (
                not any(iterate_names(directory, CommitFileKind.COMMIT))
                and _snapshot(directory) == before
            ):
                return loaded
    raise ExternalError(
        f"the files in {directory.root!r} changed {READ_ATTEMPTS} times while they were listed",
        code="concurrent-modification",
        hint="read the table again when fewer jobs write to it",
    )


@contextmanager
def _lock_if_possible(directory: Directory) -> Iterator[None]:
    """Lock a directory, unless that takes too long or the lock cannot be created."""
    release: Release | None = None
    with suppress(ExternalError):
        release = take_lock(directory, READ_LOCK_TIMEOUT)
    try:
        yield
    finally:
        if release is not None:
            directory.call("release the lock", release)


def _snapshot(directory: Directory) -> object:
    system, root = directory.system, directory.root
    here = directory.call(f"read the status of {root!r}", lambda: system.status(root))
    if here is None or not here.is_directory:
        return here
    try:
        return system.snapshot(root)
    except Exception:  # noqa: BLE001 - a directory vanished while it was listed: it changed
        return object()


def take_lock(directory: Directory, timeout: float = LOCK_TIMEOUT) -> Release:
    """Wait for the lock of a table's directory and take it (else `lock-not-available`)."""
    path = directory.path(LOCK)
    directory.mkdirs("")
    deadline = time.monotonic() + timeout
    while True:
        try:
            release = directory.call(f"lock {path!r}", lambda: directory.system.lock(path))
        except ExternalError as error:
            if isinstance(error.__cause__, IrregularFileError):
                error.hint = "delete it: the next write creates the file"
            raise
        if release is not None:
            return release
        if time.monotonic() > deadline:
            raise ExternalError(
                f"another writer holds the lock {path!r} for more than {timeout:g} seconds",
                code="lock-not-available",
                hint="run the statement again when that writer is done; "
                "if there is none, delete the lock file",
            )
        require_running()
        time.sleep(PAUSE)


# --- a stage -------------------------------------------------------------------------------------


#: Values of partition columns in directories' names.
PartitionValues: TypeAlias = tuple[str, ...]

#: Returns partitions' values as a job would write them.
Canonical: TypeAlias = Callable[
    [Collection[PartitionValues]], Mapping[PartitionValues, PartitionValues]
]


@dataclass(frozen=True, slots=True)
class OverwriteScope:
    """Which files of the table a commit replaces.

    `everything` replaces all. With `partitions`, the number of partition directories in a path,
    partitions that get files are replaced, and always the partition `fixed`. `canonical` maps
    values in directories to those that a job writes, such as ``01`` to ``1``; without it they are
    compared as strings. `empty` requires that there is no file to replace. `files` are replaced as
    well.
    """

    everything: bool = False
    partitions: int = 0
    fixed: PartitionValues | None = None
    empty: bool = False
    canonical: Canonical | None = None
    files: frozenset[str] = frozenset()

    def find_replaced(self, new: Sequence[str], old: Sequence[str]) -> tuple[str, ...]:
        """The `old` files to delete when the `new` ones are committed."""
        if self.everything:
            return tuple(old)
        if self.files:
            return tuple(path for path in old if path in self.files)
        if not self.partitions:
            return ()
        touched = {partition_of(path, self.partitions) for path in new} | {self.fixed}
        touched.discard(None)
        partitions = {path: partition_of(path, self.partitions) for path in old}
        canonical: Mapping[PartitionValues, PartitionValues] = {}
        if touched and self.canonical is not None:
            canonical = self.canonical(
                {entry for entry in partitions.values() if entry is not None}
            )
        return tuple(
            path
            for path, value in partitions.items()
            if value is not None and canonical.get(value, value) in touched
        )


_ESCAPED = regex("%([0-9A-Fa-f]{2})")


def partition_of(path: str, count: int) -> PartitionValues | None:
    """The values in a path's first `count` directories ``key=value``; None if it has fewer."""
    *directories, _ = path.split("/")
    if len(directories) < count or not all("=" in directory for directory in directories[:count]):
        return None
    return tuple(
        unescape_partition(directory.partition("=")[2]) for directory in directories[:count]
    )


def unescape_partition(text: str) -> str:
    """Return a partition's key or value without directory names' escapes."""
    return _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)


#: The characters that Spark escapes in the names of partition directories.
_TO_ESCAPE = regex(r"""[\x01-\x1f"#%'*/:=?\\\x7f{\[\]^]""")


def escape_partition(text: str) -> str:
    """Return a partition's key or value with the escapes of Spark's directory names.

    >>> escape_partition("a b=c%:")
    'a b%3Dc%25%3A'
    """
    return _TO_ESCAPE.sub(lambda character: f"%{ord(character[0]):02X}", text)


APPEND = OverwriteScope()


class SuccessFile(NamedTuple):
    """An empty file that marks each partition with new files, or a table without partitions.

    The partition whose directory is `fixed` gets it also without new files.
    """

    name: str
    in_partitions: bool
    fixed: str | None = None

    def paths(self, new: Iterable[str]) -> list[str]:
        """Return the paths of the files to write after the commit of new files.

        >>> SuccessFile("_SUCCESS", True).paths(["p=1/a", "p=1/b", "p=2/a"])
        ['p=1/_SUCCESS', 'p=2/_SUCCESS']
        >>> SuccessFile("_SUCCESS", True, "p=3").paths([])
        ['p=3/_SUCCESS']
        >>> SuccessFile("_SUCCESS", False).paths([])
        ['_SUCCESS']
        """
        if not self.in_partitions:
            return [self.name]
        places = {path.rpartition("/")[0] for path in new}
        if self.fixed is not None:
            places.add(self.fixed)
        return [f"{place}/{self.name}" for place in sorted(places)]


class FileStage:
    """The rows of one job in a hidden directory within the table's, until the job has ended.

    `held` is the catalog's definition when the job starts; `definition`, if another, the one that
    it is to hold when the rows become visible. The stage of a `batch` committed before discards its
    rows. `expected` are the files that the job has read: no others are deleted
    (`concurrent-modification`). `success_file` is written at the end.
    """

    def __init__(
        self,
        directory: Directory,
        scope: OverwriteScope = APPEND,
        *,
        held: Definition | None = None,
        definition: Definition | None = None,
        lock_timeout: float = LOCK_TIMEOUT,
        id: str = "",  # noqa: A002 - the attribute of `CommitFileName`
        batch: Batch | None = None,
        expected: Collection[str] | None = None,
        success_file: SuccessFile | None = None,
    ) -> None:
        self.directory = directory
        self._retention: snapshots.Retention | None = None
        self.scope = scope
        self._success_file = success_file
        self.name: CommitFileName = CommitFileName(
            CommitFileKind.STAGE, Owner.this(), id or uuid.uuid4().hex
        )
        #: whether the rows are visible, or will be once the commit is completed; None if the file
        #: system failed before that was known
        self.committed: bool | None = False
        self._held = held
        self._definition = definition
        self._lock_timeout = lock_timeout
        self._batch = batch
        self._expected = expected
        #: whether the micro-batch was committed before
        self._is_repeated = False
        self._release: Release | None = None
        self._is_new = directory.status("") is None
        self._marker = self.name.of(CommitFileKind.DRAFT)
        self._is_decided = False
        #: whether the stage is beside the table's directory, and one rename replaces that by it
        self.is_beside: bool = False
        self._is_prepared = False
        self._is_open = False
        #: the new files' paths, when the stage is prepared
        self._new: list[str] = []
        _RUNNING.add(self.name.id)

    def keep_snapshots(self, retention: snapshots.Retention) -> None:
        """Let the commit write a snapshot; call it before `check`."""
        self._retention = retention

    def replace_files(self, paths: frozenset[str]) -> None:
        """Replace files that the job has read, once it is known which.

        The commit fails if others have replaced one of them (`concurrent-modification`).
        """
        self.scope = OverwriteScope(files=paths)
        self._expected = paths

    @property
    def staging_directory(self) -> str:
        return self._home.path(self.name)

    @property
    def _home(self) -> Directory:
        return self.directory.outer if self.is_beside else self.directory

    def check(self) -> None:
        """Check before the job that its rows will be accepted.

        Errors: `target-not-empty`, `invalid-option-value` and those of `recover`.
        """
        here = self.directory.status("")
        if here is not None and not here.is_directory:
            raise SchemaError(
                f"{self.directory.root!r} is a file, not a directory",
                code="invalid-option-value",
                hint="name a directory in the option 'path' to write into the table",
            )
        recover(self.directory, self._held)
        if self.scope.empty:
            self._require_empty(self._files())
            # one rename makes all files visible, also to programs without this library
            if self._definition is None and self._retention is None:
                self.directory.mkdirs("")
                is_empty = not self.directory.entries("")
                self.is_beside = is_empty and self.directory.can_publish()

    def open(self) -> None:
        """Create the stage, just before the job writes into it."""
        self._home.mkdirs(str(self.name))
        self._home.create(f"{self.name}/{OPEN}", b"")
        self._is_open = True

    def _require_stage(self) -> None:
        """Check that the stage holds all that the job wrote, under the lock if any.

        The error has the code `file-system-failed`.
        """
        if self._is_open and self._home.status(f"{self.name}/{OPEN}") is None:
            raise failure_of(
                f"commit {self.staging_directory!r}", "it was removed while the job wrote it"
            )
        self._is_open = False

    def _restrict(self) -> None:
        """Restrict the engine's files to their stage's permissions."""
        path, system = self.staging_directory, self.directory.system
        self.directory.call(f"set the permissions in {path!r}", lambda: system.restrict(path))

    def _prepare_beside(self) -> None:
        """Prepare the directory that replaces the table's, or move it into that."""
        outer = self.directory.outer
        remove_stages(outer)
        self._require_stage()
        if outer.status(self.name) is None:
            outer.mkdirs(str(self.name))
        outer.delete_hidden(self.name)
        self._restrict()
        self._require_empty(self._files())
        self._new = [path for path, _ in outer.files(self.name)]
        if self.directory.entries(""):  # a reader has left its lock there
            self.directory.take(self.name)
            self.is_beside = False

    def prepare(self) -> None:
        """Do everything that can fail before the rows become visible.

        The table's lock is held from here on, unless one rename commits.
        """
        if self.is_beside:
            self._prepare_beside()
        if not self.is_beside:
            self._prepare_journal()
        self._is_prepared = True

    def _prepare_journal(self) -> None:
        self._release = take_lock(self.directory, self._lock_timeout)
        self._require_stage()
        recover(self.directory, self._held)
        remove_leftovers(self.directory, self._held)
        if self.directory.can_publish():
            remove_stages(self.directory.outer)
        if (batch := self._batch) is not None:
            last = last_batch(self.directory, batch.job)
            self._is_repeated = last is not None and last >= batch.number
            if self._is_repeated and self._definition is not None:
                raise ConflictError(
                    f"the rows of the job are committed to {self.directory.root!r} already, by "
                    "another process that continued it",
                    code="concurrent-modification",
                    hint="read the table: it has the rows and the new definition",
                )
            if self._is_repeated:
                return
        has_stage = self.directory.status(self.name) is not None
        if has_stage:
            self._restrict()
        new = self.directory.files(self.name) if has_stage else []
        reads_old = self.scope != APPEND or self._retention is not None
        present = self._files() if reads_old else []
        old = [path for path, _ in present]
        if self.scope.empty:
            self._require_empty(old)
        for path, _ in new:
            if self.directory.status(path) is not None:
                raise failure_of(f"move {path!r}", f"{self.directory.path(path)!r} exists")
        self._new = paths = [path for path, _ in new]
        remove = self.scope.find_replaced(paths, old)
        self._require_expected(old, remove)
        snapshot = None
        if self._retention is not None:
            left = [entry for entry in present if entry[0] not in set(remove)]
            snapshot = snapshots.next_snapshot(self.directory, self._retention, [*left, *new])
        journal = Journal(
            str(self.name), tuple(new), remove, self._definition, self._batch, snapshot
        )
        self.directory.require_unlinked(journal.paths())
        self.directory.create(self._marker, journal.encode())
        if self.directory.read(self._marker) != journal.encode():
            raise failure_of(f"write {self.directory.path(self._marker)!r}", "the content differs")
        if self._definition is not None:
            pending = self.name.of(CommitFileKind.PENDING)
            self._is_decided = True
            self._marker, draft = pending, self._marker
            self.directory.rename(draft, pending)

    def _require_expected(self, present: Sequence[str], replaced: Sequence[str]) -> None:
        """Require that the files which the job has read are there, and no others are replaced."""
        if self._expected is None:
            return
        if not {*self._expected} <= {*present} or not {*replaced} <= {*self._expected}:
            raise ConflictError(
                f"rows in {self.directory.root!r} were written or replaced by others after the job "
                "had begun to read them",
                code="concurrent-modification",
                hint=RUN_AGAIN,
            )

    def commit(self) -> None:
        """Make the rows visible; call `prepare` before it.

        Errors: `file-system-failed` if nothing was committed, `commit-unfinished` if the rows are
        committed but files are still to be moved.
        """
        if not self._is_prepared:
            self.prepare()
        self._commit()
        for name in self._success_file.paths(self._new) if self._success_file else ():
            self.directory.delete_file(name)
            self.directory.mkdirs(name.rpartition("/")[0])
            self.directory.create(name, b"")

    def _commit(self) -> None:
        if self.is_beside and self._publish():
            return
        if self._is_repeated:
            self.committed = True
            self.directory.delete(self.name)
            self._close()
            return
        target = self.name.of(CommitFileKind.COMMIT)
        self._is_decided = True
        try:
            self.directory.rename(self._marker, target)
        except ExternalError:
            if self.directory.status(self._marker) is not None or not self._took_effect():
                raise
        self.committed = True
        finish(self.directory, target)
        self._close()

    def _publish(self) -> bool:
        """Commit by one rename of the stage.

        Return False if a reader has left its lock in the directory since `prepare`: the stage is
        then moved into it, with a journal.
        """
        self._is_decided = True
        try:
            is_published = self.directory.publish(self.name)
        except SchemaCoreError:
            if not self._took_effect():
                raise
            is_published = True
        if is_published:
            self.committed = True
            self._close()
            return True
        self._is_decided = False
        self._require_empty(self._files())
        self.directory.take(self.name)
        self.is_beside = False
        self._prepare_journal()
        return False

    def abort(self) -> None:
        """Remove what was written, or complete the commit if it took effect."""
        try:
            if not self.committed:
                self._withdraw()
            if self.committed:
                recover(self.directory, self._held)
            else:
                self._home.delete(self.name)
        finally:
            self._close()
        if not self.committed and self._is_new and self.directory.status("") is not None:
            root, system = self.directory.root, self.directory.system
            self.directory.call(f"delete {root!r}", lambda: system.delete_empty(root))

    def _withdraw(self) -> None:
        """Delete the journal. If another process has committed it, the rows are committed."""
        self.committed = None if self._is_decided else False
        if self.is_beside:
            self.committed = self._is_decided and self._took_effect()
            return
        withdrawn = self.directory.delete(self.name.of(CommitFileKind.DRAFT))
        withdrawn = self.directory.delete(self.name.of(CommitFileKind.PENDING)) or withdrawn
        self.committed = self._is_decided and not withdrawn and self._took_effect()

    def _took_effect(self) -> bool:
        """Return whether a commit took effect whose stage or draft is gone.

        If a program that deletes temporary files removed these, the new files are gone as well.
        """
        if self.is_beside and self._home.status(self.name) is not None:
            return False
        if (
            not self.is_beside
            and self.directory.status(self.name.of(CommitFileKind.COMMIT)) is not None
        ):
            return True
        return {path for path, _ in self._files()} >= set(self._new)

    def _close(self) -> None:
        release, self._release = self._release, None
        _RUNNING.discard(self.name.id)
        if release is not None:
            self.directory.call("release the lock", release)

    def _files(self) -> list[tuple[str, int]]:
        return self.directory.files() if self.directory.status("") is not None else []

    def _require_empty(self, files: Sequence[object]) -> None:
        if files:
            raise SchemaError(
                f"{self.directory.root!r} already holds {len(files)} "
                f"{'file' if len(files) == 1 else 'files'}",
                code="target-not-empty",
                hint="name an empty directory in the option 'path', "
                "or CREATE TABLE over the existing files and INSERT into it",
            )
