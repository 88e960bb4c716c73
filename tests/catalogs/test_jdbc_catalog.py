"""The catalog of the tables of a database: inspection of SQLite, types, and refusals."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import types as sql
from sqlalchemy.dialects import mysql, postgresql

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog import CatalogDatabase, ObjectPath
from schema_core.catalogs.jdbc.catalog import JdbcCatalog
from schema_core.catalogs.jdbc.inspection import type_of
from schema_core.errors import NotFoundError, SchemaCoreError
from schema_core.pyflink.table import catalog as pyflink_catalog


@pytest.fixture
def environment(tmp_path: Path) -> TableEnvironment:
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL, d DECIMAL(8, 2),"
        " at TIMESTAMP, f REAL, b BOOLEAN, x BLOB, t TEXT, c CHAR(3), n INT)"
    )
    connection.execute("CREATE VIEW ids AS SELECT id FROM orders")
    connection.commit()
    connection.close()
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql(
        "CREATE CATALOG shop WITH ('type' = 'jdbc', 'default-database' = 'shop.db',"
        f" 'base-url' = 'jdbc:sqlite:{tmp_path}')"
    )
    made.use_catalog("shop")
    return made


def test_tables_have_the_columns_of_the_database(environment: TableEnvironment) -> None:
    assert ["shop.db"] == environment.list_databases()
    assert ["ids", "orders"] == environment.list_tables()
    assert [] == environment.list_views()
    schema = environment.from_path("orders").get_resolved_schema()
    assert (
        "`id` BIGINT NOT NULL, `name` VARCHAR(10) NOT NULL, `d` DECIMAL(8, 2), `at` TIMESTAMP(6),"
        " `f` DOUBLE, `b` BOOLEAN, `x` BYTES, `t` STRING, `c` CHAR(3), `n` BIGINT"
    ) == ", ".join(column.as_summary_string() for column in schema.columns)
    assert schema.primary_key is not None
    assert ("id",) == schema.primary_key.columns
    found = environment.find_table("orders")
    assert found is not None
    assert '"orders"' == found.table.options["table-name"]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a INT)",
        "DROP TABLE orders",
        "ALTER TABLE orders RENAME TO o",
        "ALTER TABLE orders ADD z INT",
        "CREATE DATABASE x",
        "CREATE VIEW v AS SELECT id FROM orders",
    ],
)
def test_the_catalog_changes_nothing(environment: TableEnvironment, statement: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    assert "unsupported-capability" == caught.value.code


def test_what_is_not_there_is_not_found(environment: TableEnvironment) -> None:
    catalog = environment.get_catalog("shop")
    assert isinstance(catalog, JdbcCatalog)
    assert CatalogDatabase() == catalog.get_database("shop.db")
    assert not catalog.table_exists(ObjectPath("other", "orders"))
    for call, code in (
        (lambda: catalog.get_database("other"), "database-not-found"),
        (lambda: catalog.list_tables("other"), "database-not-found"),
        (lambda: catalog.get_table(ObjectPath("shop.db", "nothing")), "table-not-found"),
    ):
        with pytest.raises(NotFoundError) as caught:
            call()
        assert code == caught.value.code


@pytest.mark.parametrize(
    "url",
    ["jdbc:oracle:thin:@h", "jdbc:sqlite:", "jdbc:postgresql://h?user=a", "jdbc:mysql://a:b@h", ""],
)
def test_urls_of_other_forms_are_refused(url: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        JdbcCatalog("c", "d", None, None, url)
    assert "invalid-option-value" == caught.value.code


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    catalog = pyflink_catalog.JdbcCatalog("c", "no.db", "ann", "pw", f"jdbc:sqlite:{tmp_path}/")
    with pytest.raises(SchemaCoreError) as caught:
        catalog.open()
    assert "external-failure" == caught.value.code
    assert not list(tmp_path.iterdir())


def test_pyflinks_hive_catalog_reads_configuration_files(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        pyflink_catalog.HiveCatalog("h", hive_conf_dir=str(tmp_path))
    (tmp_path / "hive-site.xml").write_text("<configuration/>")
    catalog = pyflink_catalog.HiveCatalog("h", "db", str(tmp_path), hive_version="3.1.3")
    assert "db" == catalog.get_default_database()


@pytest.mark.parametrize(
    ("backend", "given", "expected"),
    [
        ("mysql", mysql.TINYINT(display_width=1), "BOOLEAN"),
        ("mysql", mysql.TINYINT(), "TINYINT"),
        ("mysql", mysql.TINYINT(unsigned=True), "SMALLINT"),
        ("mysql", mysql.INTEGER(unsigned=True), "BIGINT"),
        ("mysql", mysql.MEDIUMINT(), "INT"),
        ("mysql", mysql.BIGINT(unsigned=True), "DECIMAL(20, 0)"),
        ("mysql", mysql.FLOAT(), "FLOAT"),
        ("mysql", mysql.DOUBLE(), "DOUBLE"),
        ("mysql", mysql.DECIMAL(5, 2), "DECIMAL(5, 2)"),
        ("mysql", mysql.DATETIME(fsp=3), "TIMESTAMP(3)"),
        ("mysql", mysql.LONGTEXT(), "STRING"),
        ("mysql", mysql.ENUM("a", "b"), "STRING"),
        ("mysql", mysql.VARCHAR(7), "VARCHAR(7)"),
        ("postgresql", postgresql.TIMESTAMP(timezone=True, precision=2), "TIMESTAMP_LTZ(2)"),
        ("postgresql", postgresql.NUMERIC(), "DECIMAL(38, 18)"),
        ("postgresql", postgresql.ARRAY(sql.INTEGER()), "ARRAY<INT>"),
        ("postgresql", postgresql.UUID(), "STRING"),
        ("postgresql", postgresql.JSONB(), "STRING"),
        ("postgresql", postgresql.BYTEA(), "BYTES"),
        ("postgresql", postgresql.TIME(precision=0), "TIME(0)"),
        ("postgresql", sql.REAL(), "FLOAT"),
    ],
)
def test_types_are_those_of_flinks_catalogs(backend: str, given: Any, expected: str) -> None:
    assert expected == type_of(given, backend).as_summary_string()


@pytest.mark.parametrize(
    "given", [postgresql.INTERVAL(), postgresql.NUMERIC(50, 2), sql.TIME(timezone=True)]
)
def test_other_types_are_refused(given: Any) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        type_of(given, "postgresql")
    assert "type-not-supported" == caught.value.code
