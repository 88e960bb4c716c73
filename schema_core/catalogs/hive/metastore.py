"""What a Hive metastore holds, as values, and what a catalog asks of one.

The values say what a catalog reads and writes. What a metastore holds besides (owners, statistics,
skew) rides along in `rest` and goes back as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase, CatalogFunction
from schema_core.catalog.partitions import CatalogPartition
from schema_core.catalog.temporary import ResolvedTable

#: The kind of table that is a view, the one whose files Hive does not own, and the usual one.
VIEW, EXTERNAL, MANAGED = "VIRTUAL_VIEW", "EXTERNAL_TABLE", "MANAGED_TABLE"

#: When a table was last defined anew, in seconds; every metastore keeps it among the parameters.
DDL_TIME = "transient_lastDdlTime"


@dataclass(frozen=True, slots=True)
class HiveColumn:
    """A column: its type is a text of Hive's."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class HiveStorage:
    """How files hold rows: the classes that read and write them, and how rows are bucketed."""

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
    """A table or view; `parameters` are its properties, the metastore's own among them."""

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
    """A database and the folder of its tables; without a location the metastore chooses one."""

    name: str
    comment: str | None = None
    location: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HivePartition:
    """A partition: the values of the partition columns, in their order."""

    database: str
    table: str
    values: tuple[str, ...]
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    storage: HiveStorage = HiveStorage()
    columns: tuple[HiveColumn, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HiveFunction:
    """A function: the name of its class, and the files it needs as (kind, uri)."""

    database: str
    name: str
    class_name: str
    resources: tuple[tuple[str, str], ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)


class Metastore(Protocol):
    """A connection to a metastore. Names are in small letters.

    What is not there is None or False, as is what cannot be made since it is there already.
    Everything else that goes wrong is an `ExternalError` with the code `hive-metastore-failed`.
    """

    def close(self) -> None: ...

    def default_location(self, path: str) -> str:
        """Where a database (``sales``) or a table of the default one would lie by itself."""

    def databases(self) -> list[str]: ...

    def database(self, name: str) -> HiveDatabase | None: ...

    def create_database(self, database: HiveDatabase) -> bool: ...

    def alter_database(self, database: HiveDatabase) -> None: ...

    def drop_database(self, name: str, cascade: bool) -> bool:
        """Drop a database with its folder, if it is empty or `cascade` is given."""

    def tables(self, database: str) -> list[str]: ...

    def views(self, database: str) -> list[str]: ...

    def table(self, database: str, name: str) -> HiveTable | None: ...

    def create_table(self, table: HiveTable) -> bool:
        """Keep a new table; False also where its database is gone."""

    def alter_table(self, old: HiveTable, new: HiveTable) -> bool:
        """Put the new table in place of the old one, if it is still as it was (by `DDL_TIME`)."""

    def drop_table(self, database: str, name: str) -> bool: ...

    def partition_names(self, table: HiveTable) -> list[str]:
        """The names of the folders of all partitions: ``b=x%2Fy/c=1``."""

    def partition(self, table: HiveTable, values: tuple[str, ...]) -> HivePartition | None: ...

    def create_partition(self, partition: HivePartition) -> bool: ...

    def alter_partition(self, partition: HivePartition) -> None: ...

    def drop_partition(self, partition: HivePartition) -> bool: ...

    def functions(self, database: str) -> list[str]: ...

    def function(self, database: str, name: str) -> HiveFunction | None: ...

    def create_function(self, function: HiveFunction) -> bool: ...

    def alter_function(self, function: HiveFunction) -> None: ...

    def drop_function(self, database: str, name: str) -> bool: ...


#: Where something lies, when asked.
Folder: TypeAlias = Callable[[], str | None]


class HiveCodec(Protocol):
    """What becomes of objects in a metastore, and of what a metastore holds.

    Encoding raises `UnsupportedError` for what Hive cannot hold; decoding `SchemaError` for what is
    damaged. `folder` tells, when asked, where the database of a table lies.
    """

    def check_name(self, what: str, name: str) -> None: ...

    def encode(self, database: str, name: str, table: ResolvedTable) -> HiveTable: ...

    def decode(self, stored: HiveTable, folder: Folder) -> CatalogBaseTable: ...

    def alter(self, stored: HiveTable, new: ResolvedTable) -> HiveTable: ...

    def encode_database(self, name: str, database: CatalogDatabase) -> HiveDatabase: ...

    def decode_database(self, stored: HiveDatabase, usual: str) -> CatalogDatabase: ...

    def alter_database(
        self, stored: HiveDatabase, new: CatalogDatabase, usual: str
    ) -> HiveDatabase: ...

    def encode_partition(
        self, table: HiveTable, values: tuple[str, ...], partition: CatalogPartition
    ) -> HivePartition: ...

    def decode_partition(self, table: HiveTable, stored: HivePartition) -> CatalogPartition: ...

    def alter_partition(
        self, table: HiveTable, stored: HivePartition, new: CatalogPartition
    ) -> HivePartition: ...

    def spec_of(self, partition_name: str) -> Mapping[str, str]: ...

    def encode_function(
        self, database: str, name: str, function: CatalogFunction
    ) -> HiveFunction: ...

    def decode_function(self, stored: HiveFunction) -> CatalogFunction: ...


class Connection(NamedTuple):
    """A metastore, and what fits into it."""

    metastore: Metastore
    codec: HiveCodec
