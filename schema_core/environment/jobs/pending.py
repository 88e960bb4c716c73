"""Pending jobs: what a catalog stores with the table of a CREATE TABLE AS until its job has ended.

An atomic job's table has the own options (`own_options`) `PendingJob` and, for REPLACE,
`ReplacedTable`. The commit removes them by compare-and-set. If the process ends first, the next
write or `TableEnvironment.recover` finishes or undoes the table (`jobs.recovery`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from schema_core.base.lazy import dataclass, regex
from schema_core.catalog.managed import DIRECTORY_NAME, directory_of
from schema_core.catalog.own_options import (
    COLUMN_HISTORY,
    PENDING_JOB,
    REPLACED,
    REPLACED_DIRECTORY,
    REPLACED_HISTORY,
    corrupt_option,
)
from schema_core.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.managers import CatalogManager, FoundTable
    from schema_core.catalog.objects import CatalogBaseTable

    Table = TypeVar("Table", bound=CatalogBaseTable)

#: The level of jobs whose rows become visible just before the pending job is removed.
ISOLATED: Final = 3
#: Seconds after which what a process of another host left counts as abandoned.
ABANDONED: Final = 7 * 86_400.0
#: Attempts to replace a pending job under concurrent modification.
ATTEMPTS: Final = 20
#: Ids of jobs that may still commit. Global, since a pending job names the process.
_RUNNING: set[str] = set()
#: The jobs whose tables this process recovers.
_RECOVERED: set[str] = set()
_LOCK: Final = Lock()

# --- processes ------------------------------------------------------------------------------------

#: The host, number and start of a process in names and marks.
OWNER: Final = r"([A-Za-z0-9._-]{1,200})-([0-9]{1,10})-([0-9]{1,20})"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: its host, its number, and when it started, since numbers are reused.

    On Linux the host has a suffix for the running kernel and PID namespace: hosts and containers
    of one name do not see each other's processes. Another or no suffix (a restart, an earlier
    version) counts as another host.
    """

    host: str
    pid: int
    started: int

    @classmethod
    def this(cls) -> Owner:
        """The running process."""
        pid = os.getpid()
        return cls(_host(), pid, _process(pid)[1])

    def is_dead(self, age: float) -> bool:
        """Whether the process has ended, judged by age if it belongs to another host."""
        if self.host != _host() or os.name != "posix":
            return age > ABANDONED
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):  # no process has a number of that size
            return True
        except PermissionError:
            pass
        state, started = _process(self.pid)
        return state in ("Z", "X") or (0 not in (started, self.started) and started != self.started)


def _host() -> str:
    import socket  # slow to import

    name = re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:100] or "localhost"
    scope = _process_scope()
    return f"{name}_{scope}" if scope else name


def _process_scope() -> str:
    """Return a digest of the kernel and PID namespace; empty outside Linux."""
    from hashlib import sha256  # loads OpenSSL

    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return sha256(f"{boot} {namespace}".encode()).hexdigest()[:12]


def _process(pid: int) -> tuple[str, int]:
    """Return the state and start time of a process; empty and 0 outside Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", 0
    state, *rest = fields.rpartition(")")[2].split()
    return state, int(rest[18])


# --- jobs -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PendingJob:
    """The level, id and process of a table's unfinished job.

    >>> job = PendingJob(2, "0" * 32, Owner("host-1", 17, 3))
    >>> PendingJob.parse(str(job)) == job
    True
    """

    level: int
    id: str
    owner: Owner

    def __str__(self) -> str:
        owner = self.owner
        return f"{self.level}-{owner.host}-{owner.pid}-{owner.started}-{self.id}"

    @classmethod
    def parse(cls, text: str) -> PendingJob | None:
        """Parse the value of the option; None if malformed."""
        if not (match := _PENDING_JOB.fullmatch(text)):
            return None
        level, host, pid, started, id_ = match.groups()
        return cls(int(level), id_, Owner(host, int(pid), int(started)))

    @classmethod
    def of(cls, options: Mapping[str, str]) -> PendingJob | None:
        """Return the pending job in the options of a stored table."""
        text = options.get(PENDING_JOB)
        return None if text is None else cls.parse(text)

    def is_abandoned(self) -> bool:
        """Return whether the job has ended; one of another host never counts as ended."""
        if self.owner == Owner.this():
            return self.id not in _RUNNING and self.id not in _RECOVERED
        return self.owner.is_dead(0.0)

    def begin(self) -> None:
        _RUNNING.add(self.id)

    def end(self) -> None:
        _RUNNING.discard(self.id)

    def claim(self) -> bool:
        """Record that a thread of this process recovers the table; False if one does already."""
        with _LOCK:
            if self.id in _RECOVERED:
                return False
            _RECOVERED.add(self.id)
            _RUNNING.discard(self.id)  # a fork has those of its parent
        return True

    def release(self) -> None:
        _RECOVERED.discard(self.id)


_PENDING_JOB = regex(rf"([23])-{OWNER}-([0-9a-f]{{32}})")


@dataclass(frozen=True, slots=True)
class ReplacedTable:
    """What an unfinished REPLACE TABLE AS replaces, for a recovery that puts it back.

    `statement` is the old CREATE TABLE, None if there was none; `directory` a managed table's;
    `column_history` its option `COLUMN_HISTORY`.
    """

    statement: str | None
    directory: str | None
    column_history: str | None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReplacedTable:
        """Read the options of a stored table (`corrupt-entry` for no table's directory)."""
        directory = options.get(REPLACED_DIRECTORY)
        if directory is not None and not DIRECTORY_NAME.fullmatch(directory):
            raise corrupt_option(REPLACED_DIRECTORY, options, "which is not a directory of a table")
        return cls(options.get(REPLACED), directory, options.get(REPLACED_HISTORY))


def add_replacing_job(
    table: Table, job: PendingJob, replaced: CatalogBaseTable, statement: str
) -> Table:
    """Return a table as the catalog stores it, with its pending job and what it replaces."""
    values = {
        PENDING_JOB: str(job),
        REPLACED: statement,
        REPLACED_DIRECTORY: directory_of(replaced),
        REPLACED_HISTORY: replaced.options.get(COLUMN_HISTORY),
    }
    stored = {key: value for key, value in values.items() if value is not None}
    return table.copy({**table.options, **stored})


class PendingTable:
    """The permanent table at a path, with its pending job as the catalog stores it."""

    def __init__(self, tables: CatalogManager, identifier: ObjectIdentifier) -> None:
        self._tables = tables
        self._identifier = identifier

    def options(self) -> Mapping[str, str]:
        """Return the stored options with those of this library; none without a table."""
        table = self._tables.find_raw(self._identifier)
        return {} if table is None else table.options

    def job(self) -> PendingJob | None:
        return PendingJob.of(self.options())

    def replace_job(self, old: PendingJob, new: PendingJob | None = None) -> None:
        """Replace the pending job by compare-and-set; without `new` the table is finished.

        A table without the old job is `table-not-found`; if others change it all the time, this
        raises `ConflictError`.
        """
        for attempt in range(1, ATTEMPTS + 1):
            table = self._tables.find_raw(self._identifier)
            if table is None or PendingJob.of(table.options) != old:
                raise NotFoundError(
                    f"the table {self._identifier.as_summary_string()} was dropped or replaced "
                    "while its job ran",
                    code="table-not-found",
                )
            changed = {**table.options, PENDING_JOB: str(new)}
            if new is None:
                of_job = (PENDING_JOB, REPLACED, REPLACED_DIRECTORY, REPLACED_HISTORY)
                changed = {key: value for key, value in changed.items() if key not in of_job}
            try:
                self._tables.alter(self._identifier, table.copy(changed), table)
            except ConflictError:
                if attempt == ATTEMPTS:
                    raise
            else:
                return

    def replace_table(self, table: CatalogBaseTable) -> None:
        """Replace any definition by one without a pending job."""
        current = self._tables.find_raw(self._identifier)
        if current is not None:
            self._tables.alter(self._identifier, table, current)


def require_visible(table: FoundTable, was_committed: Callable[[str], bool | None]) -> None:
    """Refuse to read a new table of an isolated job whose rows are not visible (`table-not-found`).

    The catalog has the table shortly before its rows are visible; after a kill in between, until
    recovery. `was_committed` returns whether a job's rows are visible, None if unknown.
    """
    job = PendingJob.of(table.own_options)
    if job is None or job.level != ISOLATED or REPLACED in table.own_options:
        return
    if was_committed(job.id) is False:
        name = table.identifier.as_summary_string()
        raise NotFoundError(
            f"there is no table or view {name!r}: the job that creates it has not finished",
            code="table-not-found",
            hint="run the query again when the job has finished; if its process has ended, "
            f"call recover({table.identifier.object_name!r})",
        ).of(*table.identifier.to_list())
