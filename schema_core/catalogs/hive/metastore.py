"""The records of a Hive metastore, and the protocol of its clients.

Fields that a catalog does not use (owners, statistics, skew) are in `rest` and are written back
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from schema_core.base.lazy import dataclass

#: Kinds of tables: a view, a table whose files Hive does not delete, and one whose files it does.
VIEW, EXTERNAL, MANAGED = "VIRTUAL_VIEW", "EXTERNAL_TABLE", "MANAGED_TABLE"

#: The parameter with a table's modification time, in seconds.
DDL_TIME = "transient_lastDdlTime"


@dataclass(frozen=True, slots=True)
class HiveColumn:
    """A column; `type` is a Hive type string."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class HiveStorage:
    """The Java classes that read and write files, and the buckets of rows."""

    input_format: str | None = None
    output_format: str | None = None
    serde: str | None = None
    serde_parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    location: str | None = None
    buckets: int = -1
    bucket_columns: tuple[str, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HiveTable:
    """A table or view; `parameters` are its properties and those of the metastore."""

    database: str
    name: str
    kind: str = MANAGED
    columns: tuple[HiveColumn, ...] = ()
    partition_columns: tuple[HiveColumn, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    storage: HiveStorage = HiveStorage()
    original_query: str | None = None
    expanded_query: str | None = None
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HiveDatabase:
    """A database and the location of its tables; None lets the metastore choose one."""

    name: str
    comment: str | None = None
    location: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HivePartition:
    """A partition: its values in the order of its columns."""

    database: str
    table: str
    values: tuple[str, ...]
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    storage: HiveStorage = HiveStorage()
    columns: tuple[HiveColumn, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HiveFunction:
    """A function: its class, and its resources as (kind, uri)."""

    database: str
    name: str
    class_name: str
    resources: tuple[tuple[str, str], ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


class Metastore(Protocol):
    """A connection to a metastore. Names are in lower case.

    Methods return None or False for a missing object, and False for a new object that exists. Any
    other failure is an `ExternalError` (`catalog-store-failed`).
    """

    def close(self) -> None: ...

    def default_location(self, path: str) -> str:
        """Return the default location of a path in the warehouse, such as ``sales.db``."""

    def databases(self) -> list[str]: ...

    def database(self, name: str) -> HiveDatabase | None: ...

    def create_database(self, database: HiveDatabase) -> bool: ...

    def alter_database(self, database: HiveDatabase) -> None: ...

    def drop_database(self, name: str, cascade: bool) -> bool:
        """Drop a database, if it is empty or with `cascade`, and its directory."""

    def tables(self, database: str) -> list[str]: ...

    def views(self, database: str) -> list[str]: ...

    def table(self, database: str, name: str) -> HiveTable | None: ...

    def create_table(self, table: HiveTable) -> bool:
        """Store a new table; return False also if its database does not exist."""

    def alter_table(self, old: HiveTable, new: HiveTable) -> bool:
        """Replace a table; return False if its `DDL_TIME` has changed since it was read."""

    def drop_table(self, database: str, name: str) -> bool: ...

    def partition_names(self, table: HiveTable) -> list[str]:
        """Return the directory names of all partitions: ``b=x%2Fy/c=1``."""

    def partition(self, table: HiveTable, values: tuple[str, ...]) -> HivePartition | None: ...

    def create_partition(self, partition: HivePartition) -> bool: ...

    def alter_partition(self, partition: HivePartition) -> None: ...

    def drop_partition(self, partition: HivePartition) -> bool: ...

    def functions(self, database: str) -> list[str]: ...

    def function(self, database: str, name: str) -> HiveFunction | None: ...

    def create_function(self, function: HiveFunction) -> bool: ...

    def alter_function(self, function: HiveFunction) -> None: ...

    def drop_function(self, database: str, name: str) -> bool: ...
