"""The catalog in a SQL database: who is faster wins, nothing is half-written, secrets stay so."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog.memory import InMemoryCatalog
from schema_core.catalog.objects import CatalogBaseTable
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.sql_catalog import SqlCatalog
from schema_core.catalog.store import CatalogDescriptor
from schema_core.catalog.types import CatalogType
from schema_core.errors import (
    AlreadyExistsError,
    ConflictError,
    ExternalError,
    SchemaError,
    UnsupportedError,
)
from schema_core.formats.catalog_codec import PropertyMaps
from schema_core.paths import ObjectPath
from schema_core.testing.catalog_samples import PLAIN, understood
from schema_core.types import DataTypes

T = ObjectPath("default", "t")
PLAIN_TABLE: CatalogBaseTable = PLAIN


def opened(file: Path) -> SqlCatalog:
    catalog = SqlCatalog("mine", f"sqlite:///{file}", PropertyMaps())
    catalog.open()
    return catalog


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


def test_lists_keep_the_order_in_which_things_came(file: Path) -> None:
    catalog = opened(file)
    for name in ("z", "a", "m"):
        catalog.create_table(ObjectPath("default", name), PLAIN, False)

    assert ["z", "a", "m"] == catalog.list_tables("default")


# --- many at once --------------------------------------------------------------------------------


def test_what_was_expected_is_altered(file: Path) -> None:
    catalog = opened(file)
    catalog.create_table(T, PLAIN, False)

    catalog.alter_table(T, PLAIN_TABLE.copy({"k": "1"}), False, expected=catalog.get_table(T))

    assert {"k": "1"} == catalog.get_table(T).get_options()


def test_the_slower_one_gets_a_conflict_that_shows_both(file: Path) -> None:
    one, other = opened(file), opened(file)
    one.create_table(T, PLAIN_TABLE.copy({"password": "canary"}), False)
    read = one.get_table(T)
    other.alter_table(T, PLAIN_TABLE.copy({"writer": "other"}), False)

    with pytest.raises(ConflictError) as caught:
        one.alter_table(T, PLAIN_TABLE.copy({"writer": "one"}), False, expected=read)

    assert (read, other.get_table(T)) == (caught.value.expected, caught.value.found)
    assert {"writer": "other"} == one.get_table(T).get_options()
    assert "canary" not in str(caught.value)


def count_up(file: Path, times: int) -> None:
    """Count in an option, reading again whenever someone else was faster."""
    catalog = opened(file)
    done = 0
    while done < times:
        read = catalog.get_table(T)
        counted = PLAIN_TABLE.copy({"n": str(int(read.get_options()["n"]) + 1)})
        try:
            catalog.alter_table(T, counted, False, expected=read)
            done += 1
        except ConflictError:
            continue


def test_no_update_of_many_processes_is_lost(file: Path) -> None:
    catalog = opened(file)
    catalog.create_table(T, PLAIN_TABLE.copy({"n": "0"}), False)
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=count_up, args=(file, 15)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [0, 0, 0] == [worker.exitcode for worker in workers]
    assert {"n": "45"} == catalog.get_table(T).get_options()


def write_for_ever(file: Path) -> None:
    catalog = opened(file)
    for number in range(1_000_000):
        path = ObjectPath("default", f"t{number % 7}")
        catalog.create_table(path, PLAIN_TABLE.copy({"n": "x" * 5_000}), True)
        catalog.drop_table(path, number % 2 == 0)


@pytest.mark.parametrize("seed", range(2))
def test_a_writer_that_is_killed_leaves_a_catalog_that_can_be_read(file: Path, seed: int) -> None:
    opened(file)
    worker = multiprocessing.get_context("spawn").Process(target=write_for_ever, args=(file,))
    worker.start()
    deadline = time.monotonic() + 60
    while not opened(file).list_tables("default") and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.Random(seed).random() / 10)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()

    catalog = opened(file)
    for name in catalog.list_tables("default"):
        path = ObjectPath("default", name)
        assert understood(catalog.get_table(path)) == PLAIN_TABLE.copy({"n": "x" * 5_000})
    catalog.create_table(T, PLAIN, False)
    assert catalog.table_exists(T)


# --- the store -----------------------------------------------------------------------------------


def test_user_defined_types_come_back(file: Path) -> None:
    catalog, path = opened(file), ObjectPath("default", "money")
    money = CatalogType(DataTypes.DECIMAL(10, 2), "in euros")
    catalog.create_type(path, money, False)

    assert (["money"], money) == (catalog.list_types("default"), catalog.get_type(path))
    with pytest.raises(AlreadyExistsError):
        catalog.create_type(path, money, False)
    catalog.drop_type(path, False)
    assert not catalog.type_exists(path)


def test_a_store_of_a_later_version_is_refused(file: Path) -> None:
    opened(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO schema_core_migration VALUES (99)")

    with pytest.raises(UnsupportedError) as caught:
        opened(file)

    assert caught.value.code == "catalog-version"


def test_a_file_that_is_no_database_is_told(file: Path) -> None:
    file.write_text("no database, however long the text may be " * 100)

    with pytest.raises(ExternalError) as caught:
        opened(file)

    assert caught.value.code == "catalog-store"


def test_an_entry_that_is_damaged_is_told_by_its_name(file: Path) -> None:
    catalog = opened(file)
    catalog.create_table(T, PLAIN, False)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE schema_core_entry SET content = '[1' WHERE kind = 'table'")

    with pytest.raises(ExternalError) as caught:
        catalog.get_table(T)

    assert ("damaged-entry", ("table 't'",)) == (caught.value.code, caught.value.path)
    assert ["t"] == catalog.list_tables("default")


# --- made by options -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "catalog-option"),
        ({"url": "sqlite:///x.db", "file": "y"}, "catalog-option"),
        ({"url": "no url"}, "catalog-url"),
        ({"url": "nosuch://host/db"}, "catalog-url"),
        ({"url": "postgresql://ann:canary@host/db"}, "secret-in-url"),
        ({"url": "sqlite:///x.db", "default-database": " "}, "blank-name"),
    ],
)
def test_options_that_are_refused(options: dict[str, str], code: str) -> None:
    registry = CatalogRegistry("c", InMemoryCatalog("c"))

    with pytest.raises(SchemaError) as caught:
        registry.create(CatalogDescriptor.of("shop", {"type": "sql", **options}), False)

    assert code == caught.value.code
    assert "canary" not in str(caught.value)
    assert ["c"] == registry.names()


def test_a_catalog_made_by_a_statement_outlives_its_environment(file: Path) -> None:
    create = f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{file}')"
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(create)
    env.execute_sql("USE CATALOG shop")
    env.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'filesystem')")
    env.execute_sql("CREATE VIEW v AS SELECT a, b FROM t")

    again = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    again.execute_sql(create)
    again.execute_sql("USE CATALOG shop")

    assert ["t", "v"] == again.list_tables()
    assert str(env.from_path("v").get_resolved_schema()) == str(
        again.from_path("v").get_resolved_schema()
    )
