"""A Hive metastore through the client that Spark brings along: Hive 2.3's, in Spark's own JVM.

The client is asked directly, not through Spark's catalog, which hides what it keeps of its own
tables, knows no functions of other languages, and cannot alter what it was told to expect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from schema_core.catalogs.hive import thrift
from schema_core.catalogs.hive.metastore import (
    DDL_TIME,
    VIEW,
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveTable,
)
from schema_core.errors import ExternalError, NotFoundError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

#: What a client of ours says whatever the session says. Spark leaves out the pool of connections
#: that Hive prefers; and Hive waits 2 seconds before each of ten tries of what cannot succeed.
SETTINGS: Mapping[str, str] = {
    "datanucleus.connectionPoolingType": "DBCP",
    "hive.hmshandler.retry.interval": "50ms",
}

#: What makes an embedded Derby one that is there when it is first used, as Spark does.
EMBEDDED: Mapping[str, str] = {
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
}

#: The settings that tell which metastore it is: another process, or a database.
URI, URL = "hive.metastore.uris", "javax.jdo.option.ConnectionURL"

#: What Hive asks of an alteration: the key that is compared, and the value it must still have.
EXPECTED_KEY, EXPECTED_VALUE = "expected_parameter_key", "expected_parameter_value"

#: How often a database that others change is dropped anew.
TRIES = 20

_MISSING = ("NoSuchObjectException", "UnknownDBException", "UnknownTableException")
_EXISTS, _HOMELESS = "AlreadyExistsException", "InvalidObjectException"
#: What it says where the folder of the database went while that of the table was made.
_FOLDERLESS = "No such file or directory"
#: What Hive says of a table that is not as it was expected, and of one that is not there.
_CHANGED, _GONE = "The table has been modified", "InvalidOperationException"


class HiveError(ExternalError):
    """An error of Java's: the last name of its class tells what it is."""

    default_code = "hive-metastore-failed"
    java_class: str = ""


def failure(error: Exception) -> HiveError:
    """The error of a call; one that is none of Java's is a connection that was lost."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return HiveError(f"the metastore does not answer: {error}")
    name = java.getClass().getSimpleName()
    message = str(java.getMessage() or name).splitlines()[0]
    found = HiveError(f"the metastore failed: {message[:500]}")
    found.java_class = name
    return found


class SparkMetastore:
    """The metastore of a Spark session; `settings` are Hive's own and win over the session's.

    It may be used by several threads, one at a time.
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
                "this Spark has no classes of Hive",
                code="hive-not-reachable",
                hint="the pyspark of PyPI has them",
            ) from error
        except Exception as error:
            raise failure(error) from error

    def _configuration(self, session: SparkSession, settings: Mapping[str, str]) -> Any:
        """Hive's configuration over that of the session."""
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
        """A setting of Hive's as it is in force."""
        found: str | None = self._conf.get(key)
        return found

    def close(self) -> None:
        """Give the connection back."""
        with self._lock, suppress(Exception):
            self._client.close()

    # --- calls ---------------------------------------------------------------------------------

    def _ask(self, call: Callable[[Any], T]) -> T:
        """What a call of the client gives."""
        with self._lock:
            try:
                return call(self._client)
            except Exception as error:
                raise failure(error) from error

    def _find(self, read: Callable[[thrift.Record], T], call: Callable[[Any], Any]) -> T | None:
        """The value of the record that a call gives, or None where there is none."""
        try:
            text = self._ask(lambda client: self._writer.toString(call(client)))
        except HiveError as error:
            if error.java_class in _MISSING:
                return None
            raise
        return read(thrift.parsed(text))

    def _names(self, call: Callable[[Any], Any]) -> list[str]:
        """The names that a call gives, none where it asks of what is not there."""
        try:
            return self._ask(lambda client: [str(name) for name in call(client)])
        except HiveError as error:
            if error.java_class in _MISSING:
                return []
            raise

    def _done(self, call: Callable[[Any], Any], unless: tuple[str, ...]) -> bool:
        """Make a call; False where it fails by one of these errors."""
        try:
            self._ask(call)
        except HiveError as error:
            if error.java_class in unless:
                return False
            raise
        return True

    def _record(self, value: Any) -> Any:
        """The record of a value, in the JVM."""
        name, record_of = thrift.RECORDS[type(value)]
        record = getattr(self._api, name)()
        self._reader.deserialize(record, bytearray(thrift.written(record_of(value)).encode()))
        return record

    def _texts(self, values: tuple[str, ...]) -> Any:
        """A list of texts, in the JVM."""
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
        return self._find(thrift.database_of, lambda client: client.getDatabase(name))

    def create_database(self, database: HiveDatabase) -> bool:
        record = self._record(database)
        return self._done(lambda client: client.createDatabase(record), (_EXISTS,))

    def alter_database(self, database: HiveDatabase) -> None:
        record = self._record(database)
        self._ask(lambda client: client.alterDatabase(database.name, record))

    def drop_database(self, name: str, cascade: bool) -> bool:
        """Drop a database with its folder; the client drops what it holds first, one by one.

        Tables that others make or drop meanwhile stop it; it is then told to begin again.
        """
        for tried in range(TRIES):
            try:
                self._ask(lambda client: client.dropDatabase(name, True, False, cascade))
            except HiveError:
                if self.database(name) is None:
                    return False
                if not cascade or tried + 1 == TRIES:
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
        return self._find(thrift.table_of, lambda client: client.getTable(database, name))

    def create_table(self, table: HiveTable) -> bool:
        """Keep a new table; there may be one already, or its database may be gone."""
        record = self._record(table)
        for tried in range(TRIES):
            try:
                return self._done(lambda client: client.createTable(record), (_EXISTS,))
            except HiveError as error:
                if self.database(table.database) is None:
                    return False
                homeless = error.java_class == _HOMELESS or _FOLDERLESS in error.problem
                if not homeless or tried + 1 == TRIES:
                    raise  # else the database was made anew meanwhile
        return False

    def alter_table(self, old: HiveTable, new: HiveTable) -> bool:
        """Put the new table in place of the old one, if it is still as it was.

        Hive 2.3.10 and 4 compare the time of the last definition in the transaction that writes
        the new one; older servers overwrite. The time always goes on, by a second at least.
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
            self._ask(
                lambda client: client.alter_table_with_environmentContext(*where, record, context)
            )
        except HiveError as error:
            if _CHANGED in error.problem or error.java_class == _GONE:
                return False
            raise
        return True

    def drop_table(self, database: str, name: str) -> bool:
        return self._done(lambda client: client.dropTable(database, name, True, False), _MISSING)

    # --- partitions ----------------------------------------------------------------------------

    def partition_names(self, table: HiveTable) -> list[str]:
        return self._names(lambda client: client.listPartitionNames(table.database, table.name, -1))

    def partition(self, table: HiveTable, values: tuple[str, ...]) -> HivePartition | None:
        where = table.database, table.name
        return self._find(
            thrift.partition_of, lambda client: client.getPartition(*where, self._texts(values))
        )

    def create_partition(self, partition: HivePartition) -> bool:
        record = self._record(partition)
        return self._done(lambda client: client.add_partition(record), (_EXISTS,))

    def alter_partition(self, partition: HivePartition) -> None:
        where = partition.database, partition.table
        record = self._record(partition)
        self._ask(lambda client: client.alter_partition(*where, record))

    def drop_partition(self, partition: HivePartition) -> bool:
        where = partition.database, partition.table
        values = partition.values
        return self._done(
            lambda client: client.dropPartition(*where, self._texts(values), True), _MISSING
        )

    # --- functions -----------------------------------------------------------------------------

    def functions(self, database: str) -> list[str]:
        return self._names(lambda client: client.getFunctions(database, "*"))

    def function(self, database: str, name: str) -> HiveFunction | None:
        return self._find(thrift.function_of, lambda client: client.getFunction(database, name))

    def create_function(self, function: HiveFunction) -> bool:
        """Keep a new function; Hive tells of one that is there by an error of its database."""
        record = self._record(function)
        try:
            return self._done(lambda client: client.createFunction(record), (_EXISTS,))
        except HiveError:
            if self.function(function.database, function.name) is not None:
                return False
            raise

    def alter_function(self, function: HiveFunction) -> None:
        """Put another class in its place; Hive does not alter files, so with others it is new."""
        record = self._record(function)
        where = function.database, function.name
        there = self.function(*where)
        if there is not None and there.resources != function.resources:
            self.drop_function(*where)
            self._ask(lambda client: client.createFunction(record))
        else:
            self._ask(lambda client: client.alterFunction(*where, record))

    def drop_function(self, database: str, name: str) -> bool:
        return self._done(lambda client: client.dropFunction(database, name), _MISSING)
