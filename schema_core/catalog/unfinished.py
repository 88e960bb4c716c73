"""Tables that a job has not finished: the mark in the catalog, and the process that owns it.

CREATE TABLE AS with atomicity stores its table with a mark: the level, the job and the process. The
commit removes it by compare-and-set. A mark whose process has ended belongs to a table that the
next write, or `TableEnvironment.recover`, finishes or undoes. The mark is an option of the stored
table (see `own_options`).
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.lazy_regex import regex
from schema_core.catalog.own_options import (
    REPLACED,
    REPLACED_DIRECTORY,
    REPLACED_NAMES,
    UNFINISHED,
)

if TYPE_CHECKING:
    from schema_core.catalog.objects import CatalogBaseTable

    Table = TypeVar("Table", bound=CatalogBaseTable)

#: The option that holds the mark.
KEY: Final = UNFINISHED
#: The level of jobs whose rows become visible just before the mark is removed.
ISOLATED: Final = 3
#: After how many seconds what a process of another host left counts as abandoned.
ABANDONED: Final = 7 * 86_400.0
#: The jobs of this process that may still remove their marks, by their ids. All environments of the
#: process share it, since a mark names the process; each job removes itself.
_RUNNING: set[str] = set()
#: The jobs whose tables this process recovers.
_RECOVERED: set[str] = set()
_LOCK: Final = Lock()


#: The host, number and start of a process in names and marks.
OWNER: Final = r"([A-Za-z0-9._-]{1,200})-([0-9]{1,10})-([0-9]{1,20})"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: its host, its number there, and when it started, since numbers are used again.

    On Linux the host has a suffix for the running kernel and the PID namespace: hosts and
    containers of one name do not see each other's processes. A name without it, of an earlier
    version, or with another one, as of before a restart of the host, is that of another host.
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
    """Return a digest of the kernel and PID namespace where Linux shows them, else nothing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return sha256(f"{boot} {namespace}".encode()).hexdigest()[:12]


def _process(pid: int) -> tuple[str, int]:
    """State and start time of a process where Linux shows them, else an empty state and 0."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", 0
    state, *rest = fields.rpartition(")")[2].split()
    return state, int(rest[18])


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a table that is not finished: the level of its job, its id and its process.

    >>> mark = Mark(2, "0" * 32, Owner("host-1", 17, 3))
    >>> Mark.parse(str(mark)) == mark
    True
    """

    level: int
    id: str
    owner: Owner

    def __str__(self) -> str:
        one = self.owner
        return f"{self.level}-{one.host}-{one.pid}-{one.started}-{self.id}"

    @classmethod
    def parse(cls, text: str) -> Mark | None:
        """Parse the value of the option; None if it is not a mark."""
        if not (found := _MARK.fullmatch(text)):
            return None
        level, host, pid, started, id_ = found.groups()
        return cls(int(level), id_, Owner(host, int(pid), int(started)))

    @classmethod
    def of(cls, table: CatalogBaseTable | None) -> Mark | None:
        """Return the mark of a stored table, if it has one."""
        text = None if table is None else table.options.get(KEY)
        return None if text is None else cls.parse(text)

    def is_abandoned(self) -> bool:
        """Return whether the job has ended; one of another host never counts as ended."""
        if self.owner == Owner.this():
            return self.id not in _RUNNING and self.id not in _RECOVERED
        return self.owner.is_dead(0.0)

    def begin(self) -> None:
        """Note that the job runs in this process."""
        _RUNNING.add(self.id)

    def claim(self) -> bool:
        """Note that a thread of this process recovers the table; return False if one does."""
        with _LOCK:
            if self.id in _RECOVERED:
                return False
            _RECOVERED.add(self.id)
            _RUNNING.discard(self.id)  # a fork has those of its parent
        return True

    def release(self) -> None:
        """Note that the recovery has ended."""
        _RECOVERED.discard(self.id)

    def end(self) -> None:
        """Note that the job has ended."""
        _RUNNING.discard(self.id)


_MARK = regex(rf"([23])-{OWNER}-([0-9a-f]{{32}})")


def with_mark(
    table: Table,
    mark: Mark,
    replaced: str | None = None,
    directory: str | None = None,
    former_names: str | None = None,
) -> Table:
    """Return a table with a mark.

    Args:
        table: The table.
        mark: The mark.
        replaced: The statement of the definition that it replaces.
        directory: The directory of the managed table that it replaces.
        former_names: The former names of the columns of the table that it replaces.
    """
    values = ((REPLACED, replaced), (REPLACED_DIRECTORY, directory), (REPLACED_NAMES, former_names))
    before = {key: one for key, one in values if one is not None}
    return table.copy({**table.options, KEY: str(mark), **before})


def without_mark(table: Table) -> Table:
    """Return a table whose job has finished."""
    of_job = (KEY, REPLACED, REPLACED_DIRECTORY, REPLACED_NAMES)
    return table.copy({key: value for key, value in table.options.items() if key not in of_job})
