"""Tables that the connector `jdbc` creates: their DDL, and the names of the stages of its jobs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import dataclass, regex
from schema_core.environment.jobs.pending import Owner
from schema_core.types import DataType

if TYPE_CHECKING:
    from schema_core.connectors.jdbc.dialects import JdbcDialect
    from schema_core.schema.resolved import ResolvedSchema

PREFIX: Final = "schema_core_"
_NAME = regex(
    rf"{PREFIX}([0-9a-f]{{8}})_(c?)([0-9a-f]{{8}})([0-9a-f]{{4}})_([0-9a-f]{{6}})_(\d+)_(\d+)"
)


def _digest(text: str, length: int) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


@dataclass(frozen=True, slots=True)
class StageName:
    """The name of the table with the rows of a job: the target, the job, and its process.

    The stage of a CREATE or REPLACE TABLE AS shows that the job has not committed. Only the
    recovery of this job drops it, and of a table at the same path without a mark of the job:
    another catalog may have one. Every database takes the name: at most 63 lower-case characters.
    """

    target: str
    id: str
    path: str
    host: str
    pid: int
    started: int
    creates: bool = False

    @classmethod
    def new(cls, target: str, path: str, job: str = "") -> StageName:
        """Return a name for a job of this process that writes the table `target`.

        `path` is of the table in its catalog, `job` the id of a CREATE or REPLACE TABLE AS.
        """
        owner = Owner.this()
        host, id_ = _digest(owner.host, 6), (job or uuid.uuid4().hex)[:8]
        in_catalog = _digest(path, 4)
        return cls(_digest(target, 8), id_, in_catalog, host, owner.pid, owner.started, bool(job))

    @classmethod
    def parse(cls, name: str) -> StageName | None:
        if not (match := _NAME.fullmatch(name)):
            return None
        target, creates, id_, path, host, pid, started = match.groups()
        return cls(target, id_, path, host, int(pid), int(started), bool(creates))

    def __str__(self) -> str:
        kind = "c" if self.creates else ""
        job = f"{kind}{self.id}{self.path}"
        return f"{PREFIX}{self.target}_{job}_{self.host}_{self.pid}_{self.started}"

    def is_of(self, target: str) -> bool:
        return self.target == _digest(target, 8)

    def is_job(self, job: str) -> bool:
        return self.id == job[:8]

    def is_at(self, path: str) -> bool:
        return self.path == _digest(path, 4)

    def is_abandoned(self) -> bool:
        """Return whether the process has ended; one of another host never counts as ended."""
        this = Owner.this()
        if self.host != _digest(this.host, 6):
            return False
        return Owner(this.host, self.pid, self.started).is_dead(0.0)


def abandoned_stages(
    names: Sequence[str], target: str, job: str = "", unmarked: str | None = None
) -> Iterator[str]:
    """Yield the stages of jobs that wrote a table and whose processes have ended.

    `job` is the CREATE or REPLACE TABLE AS that is recovered, if any; `unmarked` is the path of a
    table whose catalog has no mark of another job.
    """
    for name in names:
        stage = StageName.parse(name)
        if stage is None or not stage.is_of(target):
            continue
        is_recovered = bool(job) and stage.creates and stage.is_job(job)
        is_unmarked = not stage.creates or (unmarked is not None and stage.is_at(unmarked))
        if is_recovered or (is_unmarked and stage.is_abandoned()):
            yield name


def create_statement(
    dialect: JdbcDialect, table: str, columns: dict[str, DataType], schema: ResolvedSchema
) -> str:
    """Return CREATE TABLE with the columns and the primary key of a schema.

    `dialect` has `column_types`; `table` is a quoted path, `columns` are the physical ones.
    """
    items = [
        f"{dialect.quote(name)} {dialect.column_type(type_)}"
        f"{'' if type_.is_nullable else ' NOT NULL'}"
        for name, type_ in columns.items()
    ]
    if schema.primary_key is not None:
        items.append(f"PRIMARY KEY ({', '.join(map(dialect.quote, schema.primary_key.columns))})")
    return f"CREATE TABLE {table} ({', '.join(items)})"
