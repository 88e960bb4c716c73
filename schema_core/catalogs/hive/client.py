"""A client of a Hive metastore: Hive 2.3's, which pyspark includes, in Spark's JVM.

The client is called directly, not through Spark's catalog, which hides properties of its own
tables, does not support functions of other languages, and cannot compare and set.

A record is transferred to the JVM as one string, in Thrift's JSON, instead of a call for each of
its fields. Fields are identified by their numbers, ``{"1": {"str": "orders"}, ...}``: those of
``hive_metastore.thrift``, where they never change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from time import time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

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

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# --- Thrift's JSON -------------------------------------------------------------------------------

#: A Thrift record: field number -> {type tag: value}.
Record: TypeAlias = dict[str, Any]

#: Thrift's enumeration of resource kinds.
RESOURCES = {1: "JAR", 2: "FILE", 3: "ARCHIVE"}


def to_json(record: Record) -> str:
    """Return the JSON of a record; Thrift does not accept white space."""
    return json.dumps(record, separators=(",", ":"))


def from_json(text: str) -> Record:
    """Return the record of JSON that the client wrote."""
    found: Record = json.loads(text)
    return found


# --- fields --------------------------------------------------------------------------------------


def put_string(record: Record, number: str, value: str | None) -> None:
    """Set a string field; None unsets it."""
    record.pop(number, None)
    if value is not None:
        record[number] = {"str": value}


def put_map(record: Record, number: str, value: Mapping[str, str]) -> None:
    """Set a field that is a map of strings."""
    record[number] = {"map": ["str", "str", len(value), dict(value)]}


def put_list(record: Record, number: str, tag: str, values: Iterable[Any]) -> None:
    """Set a field that is a list of values of one type."""
    every = list(values)
    record[number] = {"lst": [tag, len(every), *every]}


def get_string(record: Record, number: str) -> str | None:
    """Return a string field, or None if it is unset."""
    found = record.get(number)
    return None if found is None else found["str"]


def get_map(record: Record, number: str) -> dict[str, str]:
    """Return a field that is a map of strings."""
    return dict(record[number]["map"][3]) if number in record else {}


def get_list(record: Record, number: str) -> list[Any]:
    """Return the values of a list field."""
    return list(record[number]["lst"][2:]) if number in record else []


# --- columns and storage -------------------------------------------------------------------------


def column_of(record: Record) -> HiveColumn:
    """Return the column of a FieldSchema record."""
    return HiveColumn(
        get_string(record, "1") or "", get_string(record, "2") or "", get_string(record, "3")
    )


def record_of_column(column: HiveColumn) -> Record:
    """Return the FieldSchema record of a column."""
    record: Record = {}
    put_string(record, "1", column.name)
    put_string(record, "2", column.type)
    put_string(record, "3", column.comment)
    return record


def storage_of(record: Record) -> HiveStorage:
    """Return the storage of a StorageDescriptor record."""
    serde = record["7"]["rec"] if "7" in record else {}
    return HiveStorage(
        get_string(record, "3"),
        get_string(record, "4"),
        get_string(serde, "2"),
        get_map(serde, "3"),
        get_string(record, "2"),
        record["6"]["i32"] if "6" in record else -1,
        tuple(get_list(record, "8")),
        record,
    )


def record_of_storage(storage: HiveStorage, columns: Iterable[HiveColumn]) -> Record:
    """Return the StorageDescriptor record of a storage and its columns."""
    record = {"5": {"tf": 0}, **storage.rest}
    serde = dict(record["7"]["rec"]) if "7" in record else {}
    put_list(record, "1", "rec", map(record_of_column, columns))
    put_string(record, "2", storage.location)
    put_string(record, "3", storage.input_format)
    put_string(record, "4", storage.output_format)
    record["6"] = {"i32": storage.buckets}
    put_string(serde, "2", storage.serde)
    put_map(serde, "3", storage.serde_parameters)
    record["7"] = {"rec": serde}
    put_list(record, "8", "str", storage.bucket_columns)
    record.setdefault("9", {"lst": ["rec", 0]})
    record.setdefault("10", {"map": ["str", "str", 0, {}]})
    return record


# --- records -------------------------------------------------------------------------------------


def table_of(record: Record) -> HiveTable:
    """Return the table of a Table record."""
    storage = record["7"]["rec"] if "7" in record else {}
    return HiveTable(
        get_string(record, "2") or "",
        get_string(record, "1") or "",
        get_string(record, "12") or "",
        tuple(map(column_of, get_list(storage, "1"))),
        tuple(map(column_of, get_list(record, "8"))),
        get_map(record, "9"),
        storage_of(storage),
        get_string(record, "10"),
        get_string(record, "11"),
        record,
    )


def record_of_table(table: HiveTable) -> Record:
    """Return the Table record of a table."""
    record = dict(table.rest)
    put_string(record, "1", table.name)
    put_string(record, "2", table.database)
    record["7"] = {"rec": record_of_storage(table.storage, table.columns)}
    put_list(record, "8", "rec", map(record_of_column, table.partition_columns))
    put_map(record, "9", table.parameters)
    put_string(record, "10", table.original_query)
    put_string(record, "11", table.expanded_query)
    put_string(record, "12", table.kind)
    return record


def database_of(record: Record) -> HiveDatabase:
    """Return the database of a Database record."""
    return HiveDatabase(
        get_string(record, "1") or "",
        get_string(record, "2"),
        get_string(record, "3"),
        get_map(record, "4"),
        record,
    )


def record_of_database(database: HiveDatabase) -> Record:
    """Return the Database record of a database."""
    record = dict(database.rest)
    put_string(record, "1", database.name)
    put_string(record, "2", database.comment)
    put_string(record, "3", database.location)
    put_map(record, "4", database.parameters)
    return record


def partition_of(record: Record) -> HivePartition:
    """Return the partition of a Partition record."""
    storage = record["6"]["rec"] if "6" in record else {}
    return HivePartition(
        get_string(record, "2") or "",
        get_string(record, "3") or "",
        tuple(get_list(record, "1")),
        get_map(record, "7"),
        storage_of(storage),
        tuple(map(column_of, get_list(storage, "1"))),
        record,
    )


def record_of_partition(partition: HivePartition) -> Record:
    """Return the Partition record of a partition."""
    record = dict(partition.rest)
    put_list(record, "1", "str", partition.values)
    put_string(record, "2", partition.database)
    put_string(record, "3", partition.table)
    record["6"] = {"rec": record_of_storage(partition.storage, partition.columns)}
    put_map(record, "7", partition.parameters)
    return record


def function_of(record: Record) -> HiveFunction:
    """Return the function of a Function record."""
    return HiveFunction(
        get_string(record, "2") or "",
        get_string(record, "1") or "",
        get_string(record, "3") or "",
        tuple((RESOURCES[one["1"]["i32"]], one["2"]["str"]) for one in get_list(record, "8")),
        record,
    )


def record_of_function(function: HiveFunction) -> Record:
    """Return the Function record of a function.

    As in Flink, its owner type is a group and its function type is Java.
    """
    numbers = {kind: number for number, kind in RESOURCES.items()}
    record = {"5": {"i32": 3}, "6": {"i32": int(time())}, "7": {"i32": 1}, **function.rest}
    put_string(record, "1", function.name)
    put_string(record, "2", function.database)
    put_string(record, "3", function.class_name)
    resources = (
        {"1": {"i32": numbers[kind]}, "2": {"str": uri}} for kind, uri in function.resources
    )
    put_list(record, "8", "rec", resources)
    return record


#: Class -> name of the Thrift class, and the function that returns the record.
RECORDS: dict[type, tuple[str, Callable[[Any], Record]]] = {
    HiveDatabase:  ("Database",  record_of_database),
    HiveTable:     ("Table",     record_of_table),
    HivePartition: ("Partition", record_of_partition),
    HiveFunction:  ("Function",  record_of_function),
}  # fmt: skip


T = TypeVar("T")

#: Settings that override those of the session. pyspark lacks Hive's default connection pool, and
#: by default Hive waits 2 seconds between ten attempts of an operation that cannot succeed.
SETTINGS: Mapping[str, str] = {
    "datanucleus.connectionPoolingType": "DBCP",
    "hive.hmshandler.retry.interval": "50ms",
}

#: Settings that create the tables of an embedded Derby at first use, as Spark does.
EMBEDDED: Mapping[str, str] = {
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
}

#: The settings that identify a metastore: the URI of its server, or the URL of its database.
URI, URL = "hive.metastore.uris", "javax.jdo.option.ConnectionURL"

#: Compare-and-set for `alter_table` (HIVE-26882): the parameter, and its expected value.
EXPECTED_KEY, EXPECTED_VALUE = "expected_parameter_key", "expected_parameter_value"

#: How often an operation is retried while other clients change the same database.
MAX_ATTEMPTS = 20

_MISSING = ("NoSuchObjectException", "UnknownDBException", "UnknownTableException")
_EXISTS, _NO_DATABASE = "AlreadyExistsException", "InvalidObjectException"
#: The error if the folder of the database was deleted while that of the table was created.
_NO_FOLDER = "No such file or directory"
#: The errors for a table that has changed since it was read, and for one that was dropped.
_MODIFIED, _DROPPED = "The table has been modified", "InvalidOperationException"


class HiveError(ExternalError):
    """A Java exception; `java_class` is the simple name of its class."""

    default_code = "hive-metastore-failed"
    java_class: str = ""


def failure(error: Exception) -> HiveError:
    """Return the error of a failed call; one without a Java exception is a lost connection."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return HiveError(f"no connection to the metastore: {error}")
    name = java.getClass().getSimpleName()
    message = str(java.getMessage() or name).splitlines()[0]
    found = HiveError(f"the metastore failed: {message[:500]}")
    found.java_class = name
    return found


class SparkMetastore:
    """The metastore of a Spark session; `settings` of Hive override the session's.

    Any number of threads may use it; a lock serializes their calls.
    """

    def __init__(self, session: SparkSession, settings: Mapping[str, str] | None = None) -> None:
        jvm: Any = session._jvm  # noqa: SLF001 - pyspark's only way to Java
        self._jvm = jvm
        self._api = jvm.org.apache.hadoop.hive.metastore.api
        self._lock = RLock()
        try:
            self._conf = self._configuration(session, {**SETTINGS, **(settings or {})})
            self._client = jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(self._conf)
            protocol = jvm.org.apache.thrift.protocol.TJSONProtocol.Factory()
            self._writer = jvm.org.apache.thrift.TSerializer(protocol)
            self._reader = jvm.org.apache.thrift.TDeserializer(protocol)
        except TypeError as error:
            raise NotFoundError(
                "this Spark was built without Hive",
                code="hive-not-reachable",
                hint="install pyspark from PyPI, which includes Hive",
            ) from error
        except Exception as error:
            raise failure(error) from error

    def _configuration(self, session: SparkSession, settings: Mapping[str, str]) -> Any:
        """Return Hive's configuration on top of the session's."""
        java = session._jsparkSession  # noqa: SLF001 - as above
        hadoop = java.sharedState().hadoopConf()
        hive = "org.apache.hadoop.hive.conf.HiveConf"
        conf = self._jvm.org.apache.hadoop.hive.conf.HiveConf(
            hadoop, self._jvm.java.lang.Class.forName(hive)
        )
        for key, value in settings.items():
            conf.set(key, value)
        if not conf.get(URI) and conf.get(URL).startswith("jdbc:derby:"):
            for key, value in EMBEDDED.items():
                conf.set(key, value)
        return conf

    def setting(self, key: str) -> str | None:
        """Return the effective value of a Hive setting."""
        found: str | None = self._conf.get(key)
        return found

    def close(self) -> None:
        """Close the connection."""
        with self._lock, suppress(Exception):
            self._client.close()

    # --- calls ---------------------------------------------------------------------------------

    def _call(self, call: Callable[[Any], T]) -> T:
        """Call the client and return the result."""
        with self._lock:
            try:
                return call(self._client)
            except Exception as error:
                raise failure(error) from error

    def _find(self, read: Callable[[Record], T], call: Callable[[Any], Any]) -> T | None:
        """Return the object that a call returns, or None if there is none."""
        try:
            text = self._call(lambda client: self._writer.toString(call(client)))
        except HiveError as error:
            if error.java_class in _MISSING:
                return None
            raise
        return read(from_json(text))

    def _names(self, call: Callable[[Any], Any]) -> list[str]:
        """Return the names that a call returns; none if the database or table does not exist."""
        try:
            return self._call(lambda client: [str(name) for name in call(client)])
        except HiveError as error:
            if error.java_class in _MISSING:
                return []
            raise

    def _succeeds(self, call: Callable[[Any], Any], unless: tuple[str, ...]) -> bool:
        """Call the client; return False if it raises one of these Java exceptions."""
        try:
            self._call(call)
        except HiveError as error:
            if error.java_class in unless:
                return False
            raise
        return True

    def _record(self, value: Any) -> Any:
        """Return the record of an object as an instance of its Java class."""
        name, record_of = RECORDS[type(value)]
        record = getattr(self._api, name)()
        self._reader.deserialize(record, bytearray(to_json(record_of(value)).encode()))
        return record

    def _java_list(self, values: tuple[str, ...]) -> Any:
        """Return a Java list of strings."""
        found = self._jvm.java.util.ArrayList()
        for value in values:
            found.add(value)
        return found

    # --- databases -----------------------------------------------------------------------------

    def default_location(self, path: str) -> str:
        root = self.setting("hive.metastore.warehouse.dir") or ""
        whole = f"{root.rstrip('/')}/{path}"
        try:
            hadoop = self._jvm.org.apache.hadoop.fs.Path(whole)
            return str(hadoop.getFileSystem(self._conf).makeQualified(hadoop).toString())
        except Exception as error:
            raise failure(error) from error

    def databases(self) -> list[str]:
        return self._names(lambda client: client.getAllDatabases())

    def database(self, name: str) -> HiveDatabase | None:
        return self._find(database_of, lambda client: client.getDatabase(name))

    def create_database(self, database: HiveDatabase) -> bool:
        record = self._record(database)
        return self._succeeds(lambda client: client.createDatabase(record), (_EXISTS,))

    def alter_database(self, database: HiveDatabase) -> None:
        record = self._record(database)
        self._call(lambda client: client.alterDatabase(database.name, record))

    def drop_database(self, name: str, cascade: bool) -> bool:
        """Drop a database with its folder; the client first drops its objects one by one.

        This fails if other clients create or drop tables meanwhile, and is then retried.
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
        return self._names(lambda client: client.getAllTables(database))

    def views(self, database: str) -> list[str]:
        kind = getattr(self._jvm.org.apache.hadoop.hive.metastore.TableType, VIEW)
        return self._names(lambda client: client.getTables(database, "*", kind))

    def table(self, database: str, name: str) -> HiveTable | None:
        return self._find(table_of, lambda client: client.getTable(database, name))

    def create_table(self, table: HiveTable) -> bool:
        """Store a new table; return False if there is one, or if its database was dropped."""
        record = self._record(table)
        for tried in range(MAX_ATTEMPTS):
            try:
                return self._succeeds(lambda client: client.createTable(record), (_EXISTS,))
            except HiveError as error:
                if self.database(table.database) is None:
                    return False
                database_is_gone = error.java_class == _NO_DATABASE or _NO_FOLDER in error.problem
                if not database_is_gone or tried + 1 == MAX_ATTEMPTS:
                    raise  # otherwise the database was created again since
        return False

    def alter_table(self, old: HiveTable, new: HiveTable) -> bool:
        """Replace a table if it has not changed since it was read.

        Hive 2.3.10 and 4 compare the modification time in the transaction that writes the new
        definition; older servers overwrite. The time always increases, by at least a second.
        """
        was = old.parameters.get(DDL_TIME, "")
        now = max(int(time()), int(was) + 1 if was.isdecimal() else 0)
        record = self._record(replace(new, parameters={**new.parameters, DDL_TIME: str(now)}))
        context = self._api.EnvironmentContext()
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
        return self._names(lambda client: client.listPartitionNames(table.database, table.name, -1))

    def partition(self, table: HiveTable, values: tuple[str, ...]) -> HivePartition | None:
        where = table.database, table.name
        return self._find(
            partition_of, lambda client: client.getPartition(*where, self._java_list(values))
        )

    def create_partition(self, partition: HivePartition) -> bool:
        record = self._record(partition)
        return self._succeeds(lambda client: client.add_partition(record), (_EXISTS,))

    def alter_partition(self, partition: HivePartition) -> None:
        where = partition.database, partition.table
        record = self._record(partition)
        self._call(lambda client: client.alter_partition(*where, record))

    def drop_partition(self, partition: HivePartition) -> bool:
        where = partition.database, partition.table
        values = partition.values
        return self._succeeds(
            lambda client: client.dropPartition(*where, self._java_list(values), True), _MISSING
        )

    # --- functions -----------------------------------------------------------------------------

    def functions(self, database: str) -> list[str]:
        return self._names(lambda client: client.getFunctions(database, "*"))

    def function(self, database: str, name: str) -> HiveFunction | None:
        return self._find(function_of, lambda client: client.getFunction(database, name))

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
        """Replace a function; it is dropped and created if its resources differ.

        Hive cannot alter the resources of a function.
        """
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
