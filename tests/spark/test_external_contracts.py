"""The connectors `jdbc`, `spark` and `hive` fulfil the contract: tables that other systems hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.postgres_server import Server, server, why_not
from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalogs.hive.catalog import HiveCatalog, connection
from schema_core.connectors import Connector
from schema_core.connectors.hive import HiveConnector
from schema_core.connectors.jdbc.connector import JdbcConnector
from schema_core.connectors.spark_source import SparkSourceConnector
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.testing import ConnectorContract
from schema_core.testing.connector_cases import NAMES, TYPES
from schema_core.types import DataType
from tests.conftest import DRIVERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.catalog.objects import ResolvedCatalogTable


class ExternalContract(ConnectorContract):
    """The contract in the Spark session of all tests."""

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls, root: SparkSession) -> SparkSession:
        return root


def without(*refused: str) -> dict[str, Any]:
    """Return the samples whose types do not begin with one of these."""
    return {name: value for name, value in TYPES.items() if not value.type.startswith(refused)}


# --- jdbc ----------------------------------------------------------------------------------------

NESTED = ("ARRAY<ROW", "MAP<", "ROW<")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def create_table(name: str, table: ResolvedCatalogTable, types: Mapping[str, str]) -> str:
    """Return the statement that creates a table of a database, with its NOT NULL and key."""
    schema = table.resolved_schema
    items = []
    for column in schema.columns:
        constraint = "" if column.data_type.is_nullable else " NOT NULL"
        items.append(f"{quoted(column.name)} {column_type(column.data_type, types)}{constraint}")
    if schema.primary_key is not None:
        items.append(f"PRIMARY KEY ({', '.join(map(quoted, schema.primary_key.columns))})")
    return f"CREATE TABLE {quoted(name)} ({', '.join(items)})"


def column_type(type_: DataType, types: Mapping[str, str]) -> str:
    """Return the type of a database for one of Flink: another word for it, or the same."""
    text = str(type_.nullable()).replace("WITH LOCAL", "WITH")
    if other := next((types[start] for start in types if text.startswith(start)), None):
        return other
    if text.startswith("ARRAY<"):
        return f"{column_type(type_.children()[0], types)}[]"
    return text


class JdbcContract(ExternalContract):
    secret_options = {"password": "canary-5520"}

    def make_connector(self) -> Connector:
        return JdbcConnector()


@pytest.mark.skipif("sqlite-jdbc" not in DRIVERS, reason="no JDBC driver of SQLite")
class TestSqlite(JdbcContract):
    """All but the slowest tests, which run on PostgreSQL."""

    test_a_killed_process_leaves_all_rows_or_none = None  # type: ignore[assignment]
    test_push_down_keeps_rows = None  # type: ignore[assignment]
    types = without(
        "FLOAT", "DECIMAL(38", "BINARY", "TIMESTAMP(9)", "TIMESTAMP_LTZ", "ARRAY", *NESTED
    )
    concurrent = False  # one connection at a time writes into a file

    def options(self, directory: Path) -> Mapping[str, str]:
        directory.parent.mkdir(parents=True, exist_ok=True)
        return {"url": f"jdbc:sqlite:{directory}.db", "table-name": "t"}

    def create_physical_table(self, table: ResolvedCatalogTable) -> None:
        file = table.options["url"].removeprefix("jdbc:sqlite:")
        types = {
            "VARCHAR": "TEXT", "CHAR": "TEXT", "DATE": "TEXT", "TIME": "TEXT", "VARBINARY": "BLOB",
            "ARRAY": "TEXT", "MAP": "TEXT", "ROW": "TEXT",
        }  # fmt: skip
        with closing(sqlite3.connect(file, isolation_level=None)) as database:
            database.execute(create_table("t", table, types))


@pytest.mark.skipif("postgresql" not in DRIVERS, reason="no JDBC driver of PostgreSQL")
class TestPostgresql(JdbcContract):
    """The tests on which a database with types, several writers and a server has an influence."""

    test_an_empty_table_has_no_rows = test_columns_are_matched_by_name = None  # type: ignore[assignment]
    test_create_table_as = test_overwriting_replaces_all_rows = None  # type: ignore[assignment]
    test_options_are_validated = test_temporary_tables = None  # type: ignore[assignment]
    test_metadata_has_its_types = test_partitions = None  # type: ignore[assignment]
    test_secrets_are_masked = test_a_failed_job_leaves_no_rows = None  # type: ignore[assignment]
    commit_kills = 1
    types = without("BINARY", "TIMESTAMP(9)", *NESTED)
    running: Server
    number = 0

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def database(cls) -> Iterator[None]:
        if reason := why_not():
            pytest.skip(reason)
        with server() as running:
            TestPostgresql.running = running
            yield

    def options(self, directory: Path) -> Mapping[str, str]:
        TestPostgresql.number += 1
        return {
            "url": f"jdbc:postgresql://{self.running.url.partition('://')[2]}",
            "table-name": f"t{TestPostgresql.number}",
            "username": self.running.username,
            "password": self.running.password,
        }

    def create_physical_table(self, table: ResolvedCatalogTable) -> None:
        import psycopg

        one = self.running
        types = {
            "VARCHAR(2147483647)": "text", "TINYINT": "smallint", "DOUBLE": "double precision",
            "FLOAT": "real", "VARBINARY": "bytea", "BINARY": "bytea", "MAP": "text", "ROW": "text",
        }  # fmt: skip
        url = f"postgresql://{one.username}:{one.password}@{one.url.partition('://')[2]}"
        with psycopg.connect(url, autocommit=True) as database:
            database.execute(create_table(table.options["table-name"], table, types))


# --- spark ---------------------------------------------------------------------------------------


class TestSparkParquet(ExternalContract):
    exists_empty = False

    def make_connector(self) -> Connector:
        return SparkSourceConnector()

    def options(self, directory: Path) -> Mapping[str, str]:
        return {"format": "parquet", "path": str(directory)}


# --- hive ----------------------------------------------------------------------------------------


class TestHive(ExternalContract):
    drop_deletes_rows = True
    test_push_down_keeps_rows = None  # type: ignore[assignment] # as Spark's files
    types = without("BINARY", "TIME(", "TIMESTAMP(0", "TIMESTAMP(3", "TIMESTAMP(6", "TIMESTAMP_LTZ")
    names = [name for name in NAMES if name.islower() or name == "注文"]
    temporary = False
    shares_rows = False
    not_null = False
    any_option = True

    @pytest.fixture(scope="class")
    @classmethod
    def environment(cls, spark_session: SparkSession) -> Iterator[TableEnvironment]:
        settings = EnvironmentSettings.in_batch_mode()
        made = TableEnvironment.create(settings, spark=spark_session)
        catalog = HiveCatalog("lake", lambda: connection(spark_session))
        made.register_catalog("lake", catalog)
        catalog.create_database("contract", CatalogDatabase(), ignore_if_exists=True)
        made.use_catalog("lake")
        made.use_database("contract")
        yield made
        catalog.drop_database("contract", ignore_if_not_exists=False, cascade=True)

    def make_connector(self) -> Connector:
        return HiveConnector()

    def options(self, directory: Path) -> Mapping[str, str]:
        return {"hive.storage.file-format": "parquet"}
