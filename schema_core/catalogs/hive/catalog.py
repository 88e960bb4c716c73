"""`HiveCatalog`: a catalog in a Hive metastore, in the format of Flink's HiveCatalog."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from schema_core.base.arguments import validate_methods
from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import join_names
from schema_core.base.plugins import install_command
from schema_core.catalog import managed
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import CatalogPartitionSpec, CatalogTable, TableKind
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stores.object_store import ObjectKey, StoredKind
from schema_core.catalog.stores.stored_catalog import StoredCatalog
from schema_core.catalogs.hive.client import URI, URL, SparkMetastore
from schema_core.catalogs.hive.codec import HiveCodec, partition_values, stored_map
from schema_core.catalogs.hive.metastore import (
    VIEW,
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveTable,
    Metastore,
)
from schema_core.catalogs.hive.statistics import statistics_of, with_statistics
from schema_core.errors import ExternalError, NotFoundError, UnsupportedError, at
from schema_core.properties.limits import get_store_limits
from schema_core.spark.session.session import JobSession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Record = HiveDatabase | HiveTable | HivePartition | HiveFunction


class MetastoreConnection(NamedTuple):
    """A metastore, and the codec for its database."""

    metastore: Metastore
    codec: HiveCodec


@dataclass(frozen=True)
class HiveObject:
    """An object in a metastore; a partition has its `table`.

    Statistics have the record of their table or partition.
    """

    key: ObjectKey
    record: Any
    store: HiveStore
    table: HiveTable | None = None

    @cached_property
    def value(self) -> Any:
        codec, record = self.store.codec, self.record
        match self.key.kind:
            case StoredKind.DATABASE:
                return codec.decode_database(record, self.store.default_location(record.name))
            case StoredKind.FUNCTION:
                return codec.decode_function(record)
            case StoredKind.PARTITION if self.table is not None:
                return codec.decode_partition(self.table, record)
            case StoredKind.STATISTICS:
                return statistics_of(record.parameters)
            case _:
                with at(f"table {record.name!r}"):
                    return codec.decode(record, lambda: self.store.database_location(record))

    @property
    def table_kind(self) -> TableKind:
        return TableKind.VIEW if self.record.kind == VIEW else TableKind.TABLE

    def is_stored_form_of(self, expected: Any) -> bool:
        return False


class HiveStore:
    """The objects of a catalog in a metastore; `connect` is called at first use.

    Each change is one call: a metastore has no transactions over several. Hive stores names, which
    are not case-sensitive, in lower case.
    """

    compared: frozenset[StoredKind] = frozenset({StoredKind.TABLE})

    def __init__(self, connect: Callable[[], MetastoreConnection]) -> None:
        self._connect = connect
        self._connection: MetastoreConnection | None = None

    def open(self) -> None:
        self._open_connection()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.metastore.close()
            self._connection = None

    def _open_connection(self) -> MetastoreConnection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    @property
    def metastore(self) -> Metastore:
        return self._open_connection().metastore

    @property
    def codec(self) -> HiveCodec:
        return self._open_connection().codec

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[HiveStore]:
        yield self

    def check_name(self, kind: StoredKind, name: str) -> None:
        self.codec.check_name(kind.value, name)

    def default_location(self, database: str) -> str:
        """Return where Hive creates a database without a location."""
        return self.metastore.default_location("" if database == "default" else f"{database}.db")

    def database_location(self, table: HiveTable) -> str | None:
        """Return the location of the database of a table."""
        if table.database == "default":
            return self.default_location("default")
        database = self.metastore.database(table.database)
        return database.location if database is not None else None

    # --- reading -------------------------------------------------------------------------------

    def exists(self, key: ObjectKey, parent: HiveObject | None = None) -> bool:
        return self._record(key, parent) is not None

    def get(
        self, key: ObjectKey, parent: HiveObject | None = None, *, lock: bool = False
    ) -> HiveObject | None:
        """Return the object at this key, or None; a table is read until two reads are equal.

        The server reads a table row by row, so one read may mix the old definition with the
        modification time of the new one.
        """
        record = self._record(key, parent)
        while isinstance(record, HiveTable) and record != (again := self._record(key, parent)):
            record = again
        if record is None:
            return None
        return HiveObject(key, record, self, None if parent is None else parent.record)

    def _record(self, key: ObjectKey, parent: HiveObject | None) -> Record | None:
        database, name = key.database.lower(), key.name.lower()
        match key.kind:
            case StoredKind.DATABASE:
                return self.metastore.database(database)
            case StoredKind.TABLE:
                return self.metastore.table(database, name)
            case StoredKind.FUNCTION:
                return self.metastore.function(database, name)
            case StoredKind.PARTITION if parent is not None and parent.record.partition_columns:
                values = _values(key, parent)
                return self.metastore.partition(parent.record, values) if values else None
            case StoredKind.STATISTICS if parent is not None:
                record: Record = parent.record
                return record
            case _:
                return None

    def names(self, kind: StoredKind, parent: HiveObject | None) -> list[str]:
        if parent is None:
            return self.metastore.databases()
        database = parent.record.name
        if kind is StoredKind.TABLE:
            return self.metastore.tables(database)
        return self.metastore.functions(database)

    def table_names(self, database: HiveObject, table_kind: TableKind) -> list[str]:
        name, views = database.record.name, self.metastore.views(database.record.name)
        if table_kind is TableKind.VIEW:
            return views
        return [table for table in self.metastore.tables(name) if table not in {*views}]

    def partitions(self, table: HiveObject) -> list[CatalogPartitionSpec]:
        names = self.metastore.partition_names(table.record)
        return [CatalogPartitionSpec(partition_values(name)) for name in names]

    def is_empty(self, database: HiveObject) -> bool:
        name = database.record.name
        return not (self.metastore.tables(name) or self.metastore.functions(name))

    # --- writing -------------------------------------------------------------------------------

    def create(self, key: ObjectKey, value: Any, parent: HiveObject | None) -> bool:
        database, name = key.database.lower(), key.name.lower()
        match key.kind:
            case StoredKind.DATABASE:
                stored = self.codec.encode_database(database, value)
                return self.metastore.create_database(stored)
            case StoredKind.TABLE:
                return self.metastore.create_table(self.codec.encode(database, name, value))
            case StoredKind.PARTITION if parent is not None:
                values = _values(key, parent)
                partition = self.codec.encode_partition(parent.record, values, value)
                return self.metastore.create_partition(partition)
            case _:
                function = self.codec.encode_function(database, name, value)
                return self.metastore.create_function(function)

    def replace(self, stored: HiveObject, value: Any) -> bool:
        """Store another definition.

        The metastore compares modification times in the transaction that writes, so no update of
        another `HiveCatalog` is lost. Flink, Spark and Hive overwrite; what they write within the
        second of our reading may be missed.
        """
        record = stored.record
        match stored.key.kind:
            case StoredKind.TABLE:
                return self.metastore.alter_table(record, self.codec.alter(record, value))
            case StoredKind.DATABASE:
                self.metastore.alter_database(self.codec.alter_database(record, value))
            case StoredKind.PARTITION if stored.table is not None:
                altered = self.codec.alter_partition(stored.table, record, value)
                self.metastore.alter_partition(altered)
            case StoredKind.STATISTICS:
                parameters = with_statistics(record.parameters, value, self.codec.store)
                measured = replace(record, parameters=parameters)
                if isinstance(record, HiveTable):
                    return self.metastore.alter_table(record, measured)
                self.metastore.alter_partition(measured)
            case _:
                function = self.codec.encode_function(record.database, record.name, value)
                self.metastore.alter_function(function)
        return True

    def restore(self, stored: HiveObject, earlier: HiveObject) -> bool:
        new = replace(earlier.record, name=stored.record.name)
        return self.metastore.alter_table(stored.record, new)

    def rename(self, stored: HiveObject, new_name: str) -> bool:
        new = replace(stored.record, name=new_name.lower())
        return self.metastore.alter_table(stored.record, new)

    def delete(
        self, key: ObjectKey, parent: HiveObject | None = None, *, cascade: bool = True
    ) -> bool:
        """Delete an object, and the files of a managed table."""
        database, name = key.database.lower(), key.name.lower()
        match key.kind:
            case StoredKind.DATABASE:
                return self.metastore.drop_database(database, cascade)
            case StoredKind.TABLE:
                return self.metastore.drop_table(database, name)
            case StoredKind.FUNCTION:
                return self.metastore.drop_function(database, name)
            case _:
                partition = self._record(key, parent)
                return isinstance(partition, HivePartition) and self.metastore.drop_partition(
                    partition
                )


def _values(key: ObjectKey, table: HiveObject) -> tuple[str, ...]:
    """Return a partition's values in the order of the table's keys; empty if it has other keys."""
    definition = table.value
    keys = definition.get_partition_keys() if isinstance(definition, CatalogTable) else []
    values = key.partition.get_partition_spec() if key.partition is not None else {}
    return tuple(values[key] for key in keys) if set(values) == set(keys) else ()


@validate_methods(Catalog)
class HiveCatalog(StoredCatalog[HiveObject]):
    """A catalog in a Hive metastore; `connect` is called when it is opened.

    Names consist of ASCII letters, digits and underscores; they are not case-sensitive and listed
    in lower case. A table without ``'connector' = 'hive'`` is generic: its definition is Flink's
    property map, and it has no partitions in the metastore. Dropping a managed table deletes its
    files. With a `storage`, generic tables without a connector are managed by it.

    Hive compares and sets definitions of tables and views only: `expected` is refused for
    databases, partitions and functions.
    """

    capabilities: frozenset[Capability] = frozenset({
        Capability.PARTITIONS, Capability.FUNCTIONS, Capability.STATISTICS, Capability.VERSIONS,
    })  # fmt: skip

    def __init__(
        self,
        name: str,
        connect: Callable[[], MetastoreConnection],
        default_database: str = "default",
        storage: ManagedStorage | None = None,
    ) -> None:
        self.storage = storage
        self.hive: HiveStore = HiveStore(connect)
        super().__init__(name, self.hive, default_database)

    def stored_maps(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the property map, as JSON, of every table and view.

        The map of a Hive table holds its columns and partition keys. A column whose type Flink
        lacks has Hive's type, which no resolver accepts.

        Raises:
            ExternalError: with code `catalog-store-failed`.
        """
        metastore = self.hive.metastore
        for database in metastore.databases():
            for name in (*metastore.tables(database), *metastore.views(database)):
                if (table := metastore.table(database, name)) is not None:
                    yield join_names([database, name]), json.dumps(stored_map(table))

    def open(self) -> None:
        """Connect.

        Raises:
            NotFoundError: with code `database-not-found` if the default database does not exist.
        """
        super().open()
        self.get_database(self._default)


# --- the catalog type 'hive' ---------------------------------------------------------------------

# Flink's options of Hive catalogs, and our own: the limits of the metastore's database.
DEFAULT_DATABASE, CONF_DIR, HADOOP_CONF_DIR = "default-database", "hive-conf-dir", "hadoop-conf-dir"
VERSION, PROFILE = "hive-version", "store-profile"

#: Option with a directory -> its configuration files.
SITES: dict[str, tuple[str, ...]] = {
    CONF_DIR: ("hive-site.xml",),
    HADOOP_CONF_DIR: ("core-site.xml", "hdfs-site.xml"),
}

#: Spark's setting for the catalog of its sessions.
IMPLEMENTATION = "spark.sql.catalogImplementation"

#: The setting with the default location of tables.
WAREHOUSE = "hive.metastore.warehouse.dir"

#: Prefix of the URL of a metastore's database -> name of its limits.
PROFILES = {
    "jdbc:derby:":      "hive-derby",
    "jdbc:postgresql:": "hive-postgres",
    "jdbc:mysql:":      "hive-mysql",
    "jdbc:oracle:":     "hive-oracle",
}  # fmt: skip


def make_hive_catalog(name: str, options: Mapping[str, str]) -> HiveCatalog:
    """Return the catalog of a CREATE CATALOG statement; opening it starts Spark.

    A session that is started here uses an embedded Derby in the current directory unless
    ``hive-conf-dir`` names another metastore. A running session is used as it is. Flink's option
    `hive-version` has no effect: pyspark includes one client. Errors: `invalid-argument` for
    `store-profile`, `invalid-option-value` for a `warehouse` that is not an absolute local path,
    `not-found` for a directory without configuration files.
    """
    default = options.get(DEFAULT_DATABASE, "default")
    return HiveCatalog(name, connector_of(options), default, ManagedStorage.of(options))


def connector_of(options: Mapping[str, str]) -> Callable[[], MetastoreConnection]:
    """Return what connects to the metastore of a catalog's options; errors as above."""
    settings = settings_of(options)
    profile = options.get(PROFILE)
    if profile is not None:
        get_store_limits(profile)

    def connect() -> MetastoreConnection:
        return connection(hive_session(settings), profile=profile)

    return connect


def connection(
    session: SparkSession,
    settings: Mapping[str, str] | None = None,
    profile: str | None = None,
) -> MetastoreConnection:
    """Connect to the metastore of a session (`catalog-store-failed`).

    `settings` override the session's. `profile` names the metastore's limits; by default they
    follow from its URL.
    """
    metastore = SparkMetastore(session, settings)
    remote = (metastore.setting(URI) or "").strip()
    url = metastore.setting(URL) or ""
    profiles = (name for start, name in PROFILES.items() if not remote and url.startswith(start))
    limits = get_store_limits(profile or next(profiles, "hive"))
    return MetastoreConnection(metastore, HiveCodec(limits))


def hive_session(settings: Mapping[str, str]) -> SparkSession:
    """Return this process's Spark session, connected to a metastore with these settings.

    A running session without Hive or with another metastore is an error (`catalog-store-failed`).
    """
    start = {IMPLEMENTATION: "hive", **{f"spark.hadoop.{key}": settings[key] for key in settings}}
    session = JobSession(settings=start).get()
    if session.conf.get(IMPLEMENTATION, "in-memory") != "hive":
        raise UnsupportedError(
            "the running Spark session does not use Hive",
            code="catalog-store-failed",
            hint=f"start it with {IMPLEMENTATION}=hive, or create the catalog first",
        )
    hadoop = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - as in `client`
    for key in (URI, URL, WAREHOUSE):
        if key in settings and settings[key] != hadoop.get(key):
            raise UnsupportedError(
                f"the running Spark session uses another metastore: {key} is not {settings[key]!r}",
                code="catalog-store-failed",
                hint="use one metastore per process",
            )
    return session


def settings_of(options: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in a catalog's configuration files (`not-found` without files)."""
    settings: dict[str, str] = {}
    for option, names in SITES.items():
        if (directory := options.get(option)) is None:
            continue
        files = [Path(directory, name) for name in names]
        existing = [file for file in files if file.is_file()]
        if not existing:
            raise NotFoundError(f"there is no {' or '.join(names)} in {directory}")
        for file in existing:
            settings |= read_settings(file)
    return settings


def read_settings(file: Path) -> dict[str, str]:
    """Return the settings in a Hadoop configuration file (`external-failure`)."""
    try:
        root = ET.parse(file).getroot()  # noqa: S314 - a file of the user
    except (OSError, ET.ParseError) as error:
        raise ExternalError(f"{file} cannot be read: {error}") from error
    settings = ((node.findtext("name"), node.findtext("value")) for node in root.iter("property"))
    return {name.strip(): value or "" for name, value in settings if name}


def hive_support() -> tuple[str, str]:
    """Return the Hive version of pyspark and the path of its client, or "none" and the reason."""
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        return "none", install_command("spark")
    jars = Path(package.origin).parent / "jars"
    client = next(jars.glob("hive-metastore-*.jar"), None)
    if client is None:
        return "none", f"there is no Hive client in {jars}"
    return client.stem.removeprefix("hive-metastore-"), str(client)


#: The factory of ``CREATE CATALOG h WITH ('type' = 'hive')``.
HIVE = CatalogFactory(
    frozenset(
        {DEFAULT_DATABASE, CONF_DIR, HADOOP_CONF_DIR, VERSION, PROFILE, managed.WAREHOUSE}
        | {managed.FORMAT}
    ),
    make_hive_catalog,
    requires=("pyspark",),
)
