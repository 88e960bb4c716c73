"""Checkpoints of streaming jobs: where a restarted job continues, and which job it is.

A job's directory, below ``execution.checkpointing.dir``, holds Spark's checkpoint and a description
of the job; a statement set has such a directory for each sink. A job continues only from its own
checkpoint: another query would skip the rows that the first one has read. Its tables' schemas may
change as migrations permit.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field, fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from schema_core.base.lazy import dataclass, regex
from schema_core.base.paths import ObjectIdentifier
from schema_core.environment.jobs.graph import part_of_set
from schema_core.environment.options import CHECKPOINTS, PIPELINE_NAME
from schema_core.environment.planner import BoundTable
from schema_core.errors import AlreadyExistsError, ConflictError, SchemaError
from schema_core.expressions.typed import Function, FunctionCall
from schema_core.query.relation import Item, Relation, Select, SourceTable
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import absolute, locate_file_system
from schema_core.spark.jobs import causes
from schema_core.spark.streaming.checkpoint_files import (
    COMMITS,
    METADATA,
    OFFSETS,
    QUERY,
    STATE,
    CheckpointFiles,
    invalid_checkpoint,
)
from schema_core.spark.streaming.checkpoint_schemas import (
    Tables,
    require_compatible,
    sink_of,
    sources_of,
    tables_from,
)
from schema_core.types import DataType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The job's description, in its directory.
JOB: Final = "job.json"
DRAFT: Final = ".job.json"
#: The directory of the rows that stages keep.
STAGES: Final = "stages"
LOCK: Final = ".lock"
#: Parts of Spark's errors for a missing or damaged file, and for a file of a state.
_UNREADABLE = regex(
    r"CANNOT_LOAD_STATE_STORE|STATE_STORE|MISSING_STATE_DIRECTORY|ChecksumException|EOFException|FileNotFoundException"
    r"|does not exist|Incomplete log file|Malformed log file|Stream is corrupted"
)
_STATE = regex(
    r"CANNOT_LOAD_STATE_STORE|STATE_STORE|MISSING_STATE_DIRECTORY|StateStore|streaming\.state\."
)
#: Frames of the innermost error, some of which have no message, that show what it read.
FRAMES: Final = 8
#: Maximum bytes of a description.
MAX_DESCRIPTION: Final = 1 << 24
#: Maximum characters of a directory's name; file systems permit 255 bytes.
MAX_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class JobDescription:
    """What a streaming job does: the sink's path, the columns it reads and writes, and its query.

    `query` is a digest of the query, `untyped` one without the types that tables' schemas
    determine; empty if unknown.
    """

    sink: str
    query: str
    untyped: str = ""
    sources: Tables = field(default_factory=dict)
    written: Tables = field(default_factory=dict)
    has_state: bool = False

    @classmethod
    def of(
        cls, target: BoundTable, query: Relation, columns: Sequence[str], *, has_state: bool
    ) -> JobDescription:
        """Describe a job that writes a resolved query into columns of a table."""
        options = sorted(target.table.options.items())
        place = tuple(option for option in options if not option[0].startswith("sink."))
        return cls(
            target.identifier.as_summary_string(),
            digest_of(query, columns, place),
            digest_of(query, columns, place, typed=False),
            sources_of(query),
            sink_of(target),
            has_state,
        )


#: Fields that do not matter: all columns of sources, of which a query may read some, and the syntax
#: of subqueries, which are in the tree.
_IRRELEVANT = frozenset({"columns", "schema", "subquery"})
#: Class -> its other name in digests, so that existing checkpoints keep theirs.
_NAMES_IN_DIGESTS: dict[type, str] = {SourceTable: "Table"}


def digest_of(
    query: Relation,
    columns: Sequence[str],
    place: tuple[tuple[str, str], ...] = (),
    *,
    typed: bool = True,
) -> str:
    """Return a digest of what a job writes, equal in every process.

    It covers the query, and the sink's columns and options, `place`; not unread columns, names of
    the result and spans, nor, unless `typed`, implicit casts and types outside the query's text.
    """
    digest = hashlib.sha256()
    if isinstance(query, Select):
        items = tuple(
            Item(name, item.expression) for item, name in zip(query.items, columns, strict=True)
        )
        query = replace(query, items=items)
    rest: list[Any] = [query, tuple(columns), place]
    while rest:
        node = rest.pop()
        if not typed and isinstance(node, FunctionCall) and node.implicit:
            rest.append(node.arguments[0])
            continue
        if not typed and isinstance(node, DataType):
            continue
        if isinstance(node, tuple):
            text = f"tuple {len(node)}"
            rest += reversed(node)
        elif isinstance(node, Function):
            text = f"function {node.name} {node.path}"
        elif isinstance(node, str | int | Enum | DataType | ObjectIdentifier | None):
            text = f"{type(node).__name__} {node!s}"
        elif is_dataclass(node):
            text = _NAMES_IN_DIGESTS.get(type(node), type(node).__name__)
            names = [item.name for item in fields(node) if item.compare or item.name == "rows"]
            rest += (getattr(node, name) for name in reversed(names) if name not in _IRRELEVANT)
        else:
            text = type(node).__name__
        digest.update(f"{len(text)} {text}\n".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


class Checkpoint:
    """The directory of one job, which Spark names `path`; `id` is the same for all of its runs.

    `found` is the job's id in the directory, if any; `stream` that of Spark's query, None if the
    job has not read anything yet.
    """

    def __init__(
        self,
        directory: Directory,
        path: str,
        description: JobDescription,
        found: str | None,
        stream: str | None,
    ) -> None:
        self._directory = directory
        self._description = description
        self._path = path
        self._files = CheckpointFiles(directory, path)
        self._release: Callable[[], None] | None = None
        self._stream = stream
        self.is_new: bool = stream is None
        self.id: str = found or uuid.uuid4().hex
        #: whether the job continues with another description in the directory
        self.is_changed = False

    @property
    def location(self) -> str:
        return f"{self._path}/{QUERY}"

    @property
    def stages(self) -> Directory:
        """The directory of the rows that stages keep."""
        return Directory(self._directory.system, f"{self._path}/{STAGES}")

    def fits(self, last: int | None) -> bool:
        """Return whether a table's last micro-batch agrees with the checkpoint."""
        begun, ended = self._files.last(OFFSETS), self._files.last(COMMITS)
        if last is None:
            return ended is None
        return begun is not None and (-1 if ended is None else ended) <= last <= begun

    def recording(
        self, write: Callable[[DataFrame, int], None]
    ) -> Callable[[DataFrame, int], None]:
        """Return a function that records a micro-batch's files, then writes it."""

        def record_and_write(rows: DataFrame, number: int) -> None:
            self._files.record(number)
            write(rows, number)

        return record_and_write

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Convert Spark's errors about files of the checkpoint (`invalid-checkpoint`)."""
        try:
            yield
        except Exception as error:
            if (file := self._damaged_file(error)) is not None:
                problem = f"has a missing or damaged file: {file!r}"
                raise invalid_checkpoint(self._path, problem) from error
            raise

    def _damaged_file(self, error: Exception) -> str | None:
        """Return the checkpoint's file that Spark cannot read, None for other errors."""
        errors = [*causes(error)]
        texts = [str(error), *map(str, errors)]
        if not any(map(_UNREADABLE.search, texts)):
            return None
        place = re.escape(self.location.partition("://")[2].rpartition("//")[2] or self.location)
        files = [match for text in texts for match in re.findall(rf"{place}/([\w./-]+\w)", text)]
        if files:
            return f"{QUERY}/{files[-1]}"
        if errors and hasattr(errors[-1], "getStackTrace"):
            texts += map(str, list(errors[-1].getStackTrace())[:FRAMES])
        return f"{QUERY}/{STATE}" if any(map(_STATE.search, texts)) else None

    def begin(self) -> None:
        """Write a new job's description, and keep other runs of the job out.

        Errors have the codes `lock-not-available` and `file-system-failed`.
        """
        directory = self._directory
        directory.mkdirs("")
        lock = directory.path(LOCK)
        self._release = directory.call(f"lock {lock!r}", lambda: directory.system.lock(lock))
        if self._release is None:
            raise self._already_runs()
        if self._stream is None:
            if self._files.has_progress():  # another has run meanwhile
                self.end()
                raise self._already_runs()
            # the description follows the file that it names: without the file it was lost
            self._stream = self._files.create_metadata()
            self._describe()
        elif self.is_changed:
            self._describe()
        self._files.delete_checksums()

    def _describe(self) -> None:
        """Replace the job's description. If the process ends meanwhile, the draft is used."""
        ids = {"id": self.id, "stream": self._stream}
        content = {"version": 1, **ids, **asdict(self._description)}
        self._directory.delete(DRAFT)
        self._directory.create(DRAFT, json.dumps(content, indent=1).encode())
        self._directory.delete(JOB)
        self._directory.rename(DRAFT, JOB)

    def _already_runs(self) -> ConflictError:
        return ConflictError(
            f"another process runs the job with the checkpoint {self._path!r}",
            code="lock-not-available",
            hint="cancel that job first; "
            f"or SET '{PIPELINE_NAME.key}' to another name for another job",
        )

    def end(self) -> None:
        """Let other runs of the job in."""
        release, self._release = self._release, None
        if release is not None:
            release()

    def remove(self) -> None:
        """Remove the description of a new job that has begun but not started."""
        if self._release is None:
            return
        if self.is_new:
            for name in (DRAFT, JOB, QUERY):
                self._directory.delete(name)
        self.end()


def directory_name(name: str) -> str:
    """Return the name of a job's directory, which stays within the directory of all checkpoints.

    >>> directory_name("c.d.t"), directory_name("a/b"), directory_name("..")
    ('c.d.t', 'a%2Fb', '%2E.')
    """
    escaped = quote(name, safe=" ")
    if escaped.startswith((".", "_", " ")):  # hidden, or another directory
        escaped = f"%{ord(escaped[0]):X}{escaped[1:]}"
    if len(escaped) > MAX_NAME:
        digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()
        escaped = f"{escaped[: MAX_NAME - 33]}-{digest[:32]}"
    return escaped


def checkpoint_of(
    session: SparkSession,
    options: Mapping[str, str],
    description: JobDescription,
    *,
    creates: bool,
) -> Checkpoint | None:
    """Return the checkpoint of a job, None if the session's options name no directory.

    A job that `creates` its table must start from the beginning (else `checkpoint-mismatch`). The
    same error is for the checkpoint of another job, and for tables whose new schemas the job cannot
    continue with. Others are `invalid-checkpoint` and `file-system-failed`.
    """
    root = CHECKPOINTS.of(options)
    if root is None:
        return None
    name, part = PIPELINE_NAME.of(options), part_of_set(description.sink)
    root = absolute(session, root).rstrip("/")
    path = f"{root}/{directory_name(name or part or description.sink)}"
    if name:
        directory = Directory(*locate_file_system(session, path))
        _require_same_kind(directory, path, is_set=part is not None)
        if part is not None:
            path += f"/{directory_name(part)}"
    return checkpoint_in(
        Directory(*locate_file_system(session, path)), path, description, creates=creates
    )


def _require_same_kind(directory: Directory, path: str, *, is_set: bool) -> None:
    """Require that a statement set has not written the checkpoint of an INSERT, nor vice versa.

    It would begin again, beside that checkpoint (`checkpoint-mismatch`).
    """
    if is_set:
        names = [JOB, DRAFT]
    else:
        entries = directory.entries("")
        names = [f"{entry.name}/{JOB}" for entry in entries if entry.is_directory]
    if any(directory.status(name) is not None for name in names):
        other = "an INSERT outside of a statement set" if is_set else "a statement set"
        raise ConflictError(
            f"the checkpoint in {path!r} belongs to {other}",
            code="checkpoint-mismatch",
            hint=f"SET '{PIPELINE_NAME.key}' to a new name to read everything from the beginning",
        )


def checkpoint_in(
    directory: Directory, path: str, description: JobDescription, *, creates: bool
) -> Checkpoint:
    """Return a job's checkpoint in a directory, named `path` in errors, as `checkpoint_of`."""
    files = CheckpointFiles(directory, path)
    previous = _read(directory, path)
    if previous is None:
        if files.has_progress():
            raise invalid_checkpoint(path, f"lacks the description of its job, {JOB!r}")
        return Checkpoint(directory, path, description, None, None)
    stream = files.stream()
    is_same = (previous["sink"], previous["query"]) == (description.sink, description.query)
    if not files.has_progress():
        return Checkpoint(directory, path, description, previous["id"] if is_same else None, None)
    if creates:
        raise AlreadyExistsError(
            f"there is a checkpoint of an earlier job in {path!r}: the new table would lack the "
            "rows that it has read",
            code="checkpoint-mismatch",
            hint=f"delete the directory, or SET '{PIPELINE_NAME.key}' to a new name",
        )
    untyped = description.untyped or None
    if not is_same and (previous["sink"], previous.get("untyped")) != (description.sink, untyped):
        what = "table" if previous["sink"] != description.sink else "query"
        raise ConflictError(
            f"the checkpoint in {path!r} belongs to a job with another {what}",
            code="checkpoint-mismatch",
            hint=f"SET '{PIPELINE_NAME.key}' to a new name to read everything from the beginning, "
            "or run the statement that wrote the checkpoint",
        )
    if "sources" in previous:
        old = previous["sources"], previous["written"]
        new = description.sources, description.written
        require_compatible(path, old, new, has_state=description.has_state)
    if previous.get("stream", stream) != stream:
        raise invalid_checkpoint(path, f"has the file {METADATA!r} of another query")
    files.require_complete()
    checkpoint = Checkpoint(directory, path, description, previous["id"], stream)
    checkpoint.is_changed = not is_same or "sources" not in previous or old != new
    return checkpoint


def _read(directory: Directory, path: str) -> dict[str, Any] | None:
    """Return the description in a directory, if any (`invalid-checkpoint`)."""
    name = JOB if directory.status(JOB) is not None else DRAFT
    entry = directory.status(name)
    if entry is None:
        return None
    content = directory.read(name) if entry.size <= MAX_DESCRIPTION else None
    try:
        document = json.loads(content or b"")
        texts = [document[key] for key in ("id", "sink", "query")]
        is_valid = document["version"] == 1 and all(isinstance(text, str) for text in texts)
        for key in ("sources", "written") if "sources" in document else ():
            document[key] = tables_from(document[key])
        if is_valid and re.fullmatch("[0-9a-f]{32}", document["id"]):
            return dict(document)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise invalid_checkpoint(path, f"has a damaged description of its job, {name!r}")


def missing_checkpoint(sink: str, guarantee: str) -> SchemaError:
    """Return the error for a job without the checkpoint that it needs."""
    return SchemaError(
        f"the streaming job into {sink} needs a checkpoint to write rows {guarantee}",
        code="missing-option",
        hint=f"SET '{CHECKPOINTS.key}' = 'file:///checkpoints'",
    )
