"""A client of a Hive metastore: Hive 2.3's, which pyspark includes, in Spark's JVM.

Spark's catalog is not used: it hides properties of its own tables, does not support functions of
other languages, and cannot compare and set.

A record is transferred as one string of Thrift's JSON, not by a call for each field. Fields have
the numbers of ``hive_metastore.thrift``, which never change: ``{"1": {"str": "orders"}, ...}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import RLock
from time import time
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from schema_core.base.lazy import NamedTuple
from schema_core.catalogs.hive.metastore import (
    DDL_TIME,
    VIEW,
    HiveColumn,
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveStorage,
    HiveTable,
)
from schema_core.errors import ExternalError, NotFoundError
from schema_core.spark.session.api_mode import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# --- Thrift's JSON -------------------------------------------------------------------------------

#: A Thrift record: field number -> {type tag: value}.
Record: TypeAlias = dict[str, Any]

#: Thrift's enumeration of resource kinds.
KINDS = {1: "JAR", 2: "FILE", 3: "ARCHIVE"}
NUMBERS = {kind: number for number, kind in KINDS.items()}

#: How often a database is created at most, and what the metastore reports if its directory is lost.
ATTEMPTS = 5
LOST_DIRECTORY = "cannot access"

T = TypeVar("T")


def to_json(record: Record) -> str:
    """Return the JSON of a record; Thrift does not accept white space."""
    return json.dumps(record, separators=(",", ":"))


def from_json(text: str) -> Record:
    """Return the record of the client's JSON."""
    record: Record = json.loads(text)
    return record


# --- fields --------------------------------------------------------------------------------------


class FieldType(NamedTuple):
    """A type of Thrift field: `write` returns its JSON, or None to unset it; `read` parses that."""

    write: Callable[[Any], Record | None]
    read: Callable[[Record], Any]
    absent: Callable[[], Any]


def record_of(value: Any) -> Record:
    """Return the Thrift record of an object; fields of its `rest` are unchanged."""
    record = NEW_FIELDS.get(type(value), dict)() | getattr(value, "rest", {})
    for attribute, (place, field) in FIELDS[type(value)].items():
        *outer, number = place.split(".")
        target = record
        for step in outer:
            inner = dict(target[step]["rec"]) if step in target else {}
            target[step] = {"rec": inner}
            target = inner
        target.pop(number, None)
        if (document := field.write(getattr(value, attribute))) is not None:
            target[number] = document
    return record


def value_of(kind: type[T], record: Record) -> T:
    """Return the object of a Thrift record."""
    values: Record = {"rest": record} if hasattr(kind, "rest") else {}
    for attribute, (place, field) in FIELDS[kind].items():
        *outer, number = place.split(".")
        source = record
        for step in outer:
            source = source[step]["rec"] if step in source else {}
        values[attribute] = field.read(source[number]) if number in source else field.absent()
    return kind(**values)


def list_of(
    tag: str,
    write: Callable[[Any], Any] = lambda value: value,
    read: Callable[[Any], Any] = lambda value: value,
) -> FieldType:
    """Return the type of a list from the conversions of its elements."""
    return FieldType(
        lambda values: {"lst": [tag, len(values), *map(write, values)]},
        lambda document: tuple(map(read, document["lst"][2:])),
        tuple,
    )


def record_of_resource(resource: tuple[str, str]) -> Record:
    """Return the ResourceUri record of a function's resource."""
    kind, uri = resource
    return {"1": {"i32": NUMBERS[kind]}, "2": {"str": uri}}


STRING = FieldType(lambda value: {"str": value}, lambda document: document["str"], str)
OPTIONAL = FieldType(
    lambda value: None if value is None else {"str": value},
    lambda document: document["str"],
    NoneType,
)
INTEGER = FieldType(lambda value: {"i32": value}, lambda document: document["i32"], lambda: -1)
MAP = FieldType(
    lambda value: {"map": ["str", "str", len(value), dict(value)]},
    lambda document: dict(document["map"][3]),
    dict,
)
STRINGS = list_of("str")
COLUMNS = list_of("rec", record_of, partial(value_of, HiveColumn))
RESOURCES = list_of(
    "rec", record_of_resource, lambda record: (KINDS[record["1"]["i32"]], record["2"]["str"])
)
STORAGE = FieldType(
    lambda value: {"rec": record_of(value)},
    lambda document: value_of(HiveStorage, document["rec"]),
    HiveStorage,
)

#: Class -> attribute -> number of its Thrift field, after the numbers of containing records.
FIELDS: dict[type, dict[str, tuple[str, FieldType]]] = {
    HiveColumn: {
        "name":              ("1",   STRING),
        "type":              ("2",   STRING),
        "comment":           ("3",   OPTIONAL),
    },
    HiveStorage: {
        "location":          ("2",   OPTIONAL),
        "input_format":      ("3",   OPTIONAL),
        "output_format":     ("4",   OPTIONAL),
        "buckets":           ("6",   INTEGER),
        "serde":             ("7.2", OPTIONAL),
        "serde_parameters":  ("7.3", MAP),
        "bucket_columns":    ("8",   STRINGS),
    },
    HiveDatabase: {
        "name":              ("1",   STRING),
        "comment":           ("2",   OPTIONAL),
        "location":          ("3",   OPTIONAL),
        "parameters":        ("4",   MAP),
    },
    HiveTable: {
        "name":              ("1",   STRING),
        "database":          ("2",   STRING),
        "storage":           ("7",   STORAGE),
        "columns":           ("7.1", COLUMNS),
        "partition_columns": ("8",   COLUMNS),
        "parameters":        ("9",   MAP),
        "original_query":    ("10",  OPTIONAL),
        "expanded_query":    ("11",  OPTIONAL),
        "kind":              ("12",  STRING),
    },
    HivePartition: {
        "values":            ("1",   STRINGS),
        "database":          ("2",   STRING),
        "table":             ("3",   STRING),
        "storage":           ("6",   STORAGE),
        "columns":           ("6.1", COLUMNS),
        "parameters":        ("7",   MAP),
    },
    HiveFunction: {
        "name":              ("1",   STRING),
        "database":          ("2",   STRING),
        "class_name":        ("3",   STRING),
        "resources":         ("8",   RESOURCES),
    },
}  # fmt: skip

#: Class -> further fields of a new record. As in Flink, a function is Java's and a group owns it.
NEW_FIELDS: dict[type, Callable[[], Record]] = {
    HiveStorage: lambda: {
        "5": {"tf": 0},
        "9": {"lst": ["rec", 0]},
        "10": {"map": ["str", "str", 0, {}]},
    },
    HiveFunction: lambda: {"5": {"i32": 3}, "6": {"i32": int(time())}, "7": {"i32": 1}},
}

#: Class -> name of the Thrift class.
CLASSES: dict[type, str] = {
    HiveDatabase:  "Database",
    HiveTable:     "Table",
    HivePartition: "Partition",
    HiveFunction:  "Function",
}  # fmt: skip

METASTORE = "org.apache.hadoop.hive.metastore"

#: Settings that override the session's. pyspark lacks Hive's default connection pool, and Hive
#: waits 2 seconds between ten attempts of an operation that cannot succeed.
SETTINGS: Mapping[str, str] = {
    "datanucleus.connectionPoolingType": "DBCP",
    "hive.hmshandler.retry.interval": "50ms",
}

#: Settings that create the tables of an embedded Derby at first use, as Spark does.
EMBEDDED: Mapping[str, str] = {
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
}

#: The settings that identify a metastore: the URI of its server, or of its database.
URI, URL = "hive.metastore.uris", "javax.jdo.option.ConnectionURL"

#: Compare-and-set for `alter_table` (HIVE-26882): the parameter, and its expected value.
EXPECTED_KEY, EXPECTED_VALUE = "expected_parameter_key", "expected_parameter_value"

#: Keeps the metastore from counting the files of a table that is altered, which would replace its
#: statistics (`StatsSetupConst`).
KEEP_STATISTICS = "DO_NOT_UPDATE_STATS", "true"

#: How often an operation is retried while others change the same database.
MAX_ATTEMPTS = 20

_MISSING = ("NoSuchObjectException", "UnknownDBException", "UnknownTableException")
_EXISTS, _NO_DATABASE = "AlreadyExistsException", "InvalidObjectException"
#: The error if a database's directory was deleted while a table's was created.
_NO_DIRECTORY = "No such file or directory"
#: The errors for a table that was changed, and for one that was dropped.
_MODIFIED, _DROPPED = "The table has been modified", "InvalidOperationException"


class HiveError(ExternalError):
    """A Java exception; `java_class` is the simple name of its class."""

    default_code = "catalog-store-failed"
    java_class: str = ""


def failure(error: Exception) -> HiveError:
    """Return the error of a failed call; one without a Java exception is a lost connection."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return HiveError(f"no connection to the metastore: {error}")
    name = java.getClass().getSimpleName()
    message = str(java.getMessage() or name).splitlines()[0]
    failed = HiveError(f"the metastore failed: {message[:500]}")
    failed.java_class = name
    return failed


class SparkMetastore:
    """The metastore of a Spark session; `settings` of Hive override the session's.

    Threads may share it; a lock serializes their calls.
    """

    def __init__(self, session: SparkSession, settings: Mapping[str, str] | None = None) -> None:
        self._session = session
        self._lock = RLock()
        try:
            self._conf = self._configuration(session, {**SETTINGS, **(settings or {})})
            self._client = java_class(session, f"{METASTORE}.HiveMetaStoreClient")(self._conf)
            protocol = java_class(session, "org.apache.thrift.protocol.TJSONProtocol$Factory")()
            self._writer = java_class(session, "org.apache.thrift.TSerializer")(protocol)
            self._reader = java_class(session, "org.apache.thrift.TDeserializer")(protocol)
        except Exception as error:
            failed = failure(error)
            if failed.java_class == "ClassNotFoundException":
                raise NotFoundError(
                    "this Spark was built without Hive",
                    code="catalog-store-failed",
                    hint="install pyspark from PyPI, which includes Hive",
                ) from error
            raise failed from error

    def _configuration(self, session: SparkSession, settings: Mapping[str, str]) -> Any:
        java = session._jsparkSession  # noqa: SLF001 - PySpark has no public access
        hadoop = java.sharedState().hadoopConf()
        hive = "org.apache.hadoop.hive.conf.HiveConf"
        kind = java_class(session, "java.lang.Class").forName(hive)
        conf = java_class(session, hive)(hadoop, kind)
        for key, value in settings.items():
            conf.set(key, value)
        if not conf.get(URI) and conf.get(URL).startswith("jdbc:derby:"):
            for key, value in EMBEDDED.items():
                conf.set(key, value)
        return conf

    def setting(self, key: str) -> str | None:
        """Return the effective value of a Hive setting."""
        value: str | None = self._conf.get(key)
        return value

    def close(self) -> None:
        """Close the connection."""
        with self._lock, suppress(Exception):
            self._client.close()

    # --- calls ---------------------------------------------------------------------------------

    def _call(self, call: Callable[[Any], T]) -> T:
        with self._lock:
            try:
                return call(self._client)
            except Exception as error:
                raise failure(error) from error

    def _find(self, kind: type[T], call: Callable[[Any], Any]) -> T | None:
        try:
            text = self._call(lambda client: self._writer.toString(call(client)))
        except HiveError as error:
            if error.java_class in _MISSING:
                return None
            raise
        return value_of(kind, from_json(text))

    def _texts(self, call: Callable[[Any], Any]) -> list[str]:
        """Return the strings that a call returns; none if the database or table does not exist."""
        try:
            return self._call(lambda client: [*map(str, call(client))])
        except HiveError as error:
            if error.java_class in _MISSING:
                return []
            raise

    def _succeeds(self, call: Callable[[Any], Any], unless: tuple[str, ...]) -> bool:
        """Call the client; return False for one of these Java exceptions."""
        try:
            self._call(call)
        except HiveError as error:
            if error.java_class in unless:
                return False
            raise
        return True

    def _record(self, value: Any) -> Any:
        """Return an object as an instance of its Java class."""
        record = java_class(self._session, f"{METASTORE}.api.{CLASSES[type(value)]}")()
        self._reader.deserialize(record, bytearray(to_json(record_of(value)).encode()))
        return record

    def _java_list(self, values: tuple[str, ...]) -> Any:
        strings = java_class(self._session, "java.util.ArrayList")()
        for value in values:
            strings.add(value)
        return strings

    def _translate_conflicts(self) -> Any:
        context = java_class(self._session, f"{METASTORE}.api.EnvironmentContext")()
        context.putToProperties(*KEEP_STATISTICS)
        return context

    # --- databases -----------------------------------------------------------------------------

    def default_location(self, path: str) -> str:
        root = self.setting("hive.metastore.warehouse.dir") or ""
        whole = f"{root.rstrip('/')}/{path}"
        try:
            hadoop = java_class(self._session, "org.apache.hadoop.fs.Path")(whole)
            return str(hadoop.getFileSystem(self._conf).makeQualified(hadoop).toString())
        except Exception as error:
            raise failure(error) from error

    def databases(self) -> list[str]:
        return self._texts(lambda client: client.getAllDatabases())

    def database(self, name: str) -> HiveDatabase | None:
        return self._find(HiveDatabase, lambda client: client.getDatabase(name))

    def create_database(self, database: HiveDatabase) -> bool:
        record = self._record(database)
        for _ in range(ATTEMPTS - 1):
            try:
                return self._succeeds(lambda client: client.createDatabase(record), (_EXISTS,))
            except HiveError as error:
                # nothing was created: another process has dropped a database of this name, and
                # its directory, while the metastore set the permissions of the new one
                if LOST_DIRECTORY not in str(error):
                    raise
        return self._succeeds(lambda client: client.createDatabase(record), (_EXISTS,))

    def alter_database(self, database: HiveDatabase) -> None:
        record = self._record(database)
        self._call(lambda client: client.alterDatabase(database.name, record))

    def drop_database(self, name: str, cascade: bool) -> bool:
        """Drop a database with its directory; retry if others create or drop tables meanwhile.

        The client first drops its objects one by one.
        """
        for tried in range(MAX_ATTEMPTS):
            try:
                self._call(lambda client: client.dropDatabase(name, True, False, cascade))
            except HiveError:
                if self.database(name) is None:
                    return False
                if not cascade or tried + 1 == MAX_ATTEMPTS:
                    raise
            else:
                return True
        return False

    # --- tables --------------------------------------------------------------------------------

    def tables(self, database: str) -> list[str]:
        return self._texts(lambda client: client.getAllTables(database))

    def views(self, database: str) -> list[str]:
        kind = getattr(java_class(self._session, f"{METASTORE}.TableType"), VIEW)
        return self._texts(lambda client: client.getTables(database, "*", kind))

    def table(self, database: str, name: str) -> HiveTable | None:
        # as a list: for an exception PySpark makes fourteen calls to Java to find its class
        names = self._java_list((name,))
        tables = self._texts(
            lambda client: map(self._writer.toString, client.getTableObjectsByName(database, names))
        )
        return value_of(HiveTable, from_json(tables[0])) if tables else None

    def create_table(self, table: HiveTable) -> bool:
        """Store a new table; return False if there is one, or if its database was dropped."""
        record = self._record(table)
        for tried in range(MAX_ATTEMPTS):
            try:
                return self._succeeds(lambda client: client.createTable(record), (_EXISTS,))
            except HiveError as error:
                if self.database(table.database) is None:
                    return False
                database_is_gone = (
                    error.java_class == _NO_DATABASE or _NO_DIRECTORY in error.problem
                )
                if not database_is_gone or tried + 1 == MAX_ATTEMPTS:
                    raise  # otherwise the database was created again since
        return False

    def alter_table(self, old: HiveTable, new: HiveTable) -> bool:
        """Replace a table if it has not changed since it was read.

        Hive 2.3.10 and 4 compare the modification time when they write; older servers overwrite.
        The time increases by at least a second.
        """
        was = old.parameters.get(DDL_TIME, "")
        now = max(int(time()), int(was) + 1 if was.isdecimal() else 0)
        record = self._record(replace(new, parameters={**new.parameters, DDL_TIME: str(now)}))
        context = self._translate_conflicts()
        if was:
            context.putToProperties(EXPECTED_KEY, DDL_TIME)
            context.putToProperties(EXPECTED_VALUE, was)
        where = old.database, old.name
        try:
            self._call(
                lambda client: client.alter_table_with_environmentContext(*where, record, context)
            )
        except HiveError as error:
            if _MODIFIED in error.problem or error.java_class == _DROPPED:
                return False
            raise
        return True

    def drop_table(self, database: str, name: str) -> bool:
        return self._succeeds(
            lambda client: client.dropTable(database, name, True, False), _MISSING
        )

    # --- partitions ----------------------------------------------------------------------------

    def partition_names(self, table: HiveTable) -> list[str]:
        return self._texts(lambda client: client.listPartitionNames(table.database, table.name, -1))

    def partition(self, table: HiveTable, values: tuple[str, ...]) -> HivePartition | None:
        where = table.database, table.name
        return self._find(
            HivePartition, lambda client: client.getPartition(*where, self._java_list(values))
        )

    def create_partition(self, partition: HivePartition) -> bool:
        record = self._record(partition)
        return self._succeeds(lambda client: client.add_partition(record), (_EXISTS,))

    def alter_partition(self, partition: HivePartition) -> None:
        where = partition.database, partition.table
        record, context = self._record(partition), self._translate_conflicts()
        self._call(lambda client: client.alter_partition(*where, record, context))

    def drop_partition(self, partition: HivePartition) -> bool:
        where = partition.database, partition.table
        values = partition.values
        return self._succeeds(
            lambda client: client.dropPartition(*where, self._java_list(values), True), _MISSING
        )

    # --- functions -----------------------------------------------------------------------------

    def functions(self, database: str) -> list[str]:
        return self._texts(lambda client: client.getFunctions(database, "*"))

    def function(self, database: str, name: str) -> HiveFunction | None:
        return self._find(HiveFunction, lambda client: client.getFunction(database, name))

    def create_function(self, function: HiveFunction) -> bool:
        """Store a new function; for an existing one Hive may report an error of its database."""
        record = self._record(function)
        try:
            return self._succeeds(lambda client: client.createFunction(record), (_EXISTS,))
        except HiveError:
            if self.function(function.database, function.name) is not None:
                return False
            raise

    def alter_function(self, function: HiveFunction) -> None:
        """Replace a function; other resources, which Hive cannot alter, drop and create it."""
        record = self._record(function)
        where = function.database, function.name
        current = self.function(*where)
        if current is not None and current.resources != function.resources:
            self.drop_function(*where)
            self._call(lambda client: client.createFunction(record))
        else:
            self._call(lambda client: client.alterFunction(*where, record))

    def drop_function(self, database: str, name: str) -> bool:
        return self._succeeds(lambda client: client.dropFunction(database, name), _MISSING)
