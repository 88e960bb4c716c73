"""Passwords of stores and of tables are in no message, log or representation."""

from __future__ import annotations

import logging
import os
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.postgres_server import Server
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.stores.catalog_store import CatalogDescriptor, FileCatalogStore
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import SchemaCoreError
from schema_core.testing.catalog_cases import PLAIN

CANARY = "canary-4711"
T = ObjectPath("default", "t")
SECRET = PLAIN.copy({"properties.sasl.password": CANARY})


def error_text(call: Callable[[], object]) -> str:
    """Return everything that an error shows: message, diagnostics, and the chained traceback."""
    with pytest.raises(SchemaCoreError) as caught:
        call()
    error: BaseException | None = caught.value
    shown = [repr(caught.value.diagnostics)]
    while error is not None:
        shown += [str(error), repr(error), *traceback.format_exception(error)]
        error = error.__context__ or error.__cause__
    return "\n".join(shown)


def test_unreachable_server(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = "postgresql+psycopg://127.0.0.1:1/nowhere"
    catalog = SqlCatalog("c", url, username="ann", password=CANARY)
    shown = error_text(catalog.open)

    assert "the catalog store failed" in shown
    assert CANARY not in f"{shown}{caplog.text}{catalog!r}"


def test_wrong_password(postgres: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    catalog = SqlCatalog("c", postgres.url, username="ann", password=CANARY)
    shown = error_text(catalog.open)

    assert "password authentication failed" in shown
    assert CANARY not in f"{shown}{caplog.text}"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql+psycopg://ann:{CANARY}@host/db",
        f"postgresql+psycopg://host/db?password={CANARY}",
        f"postgresql+psycopg://host/db?sslpassword={CANARY}",
        f"postgresql+psycopg://ann:{CANARY}@host:no-port/db",
        f"postgresql+psycopg://ann:{CANARY}/db",
        f"nosuch://ann:{CANARY}@host/db",
        f"{CANARY}",
    ],
)
def test_a_password_in_the_url_is_refused(url: str) -> None:
    registry = CatalogRegistry("c", InMemoryCatalog("c"))
    descriptor = CatalogDescriptor.of("shop", {"type": "sql", "url": url})

    assert CANARY not in error_text(lambda: registry.create(descriptor, False))


def test_a_failing_statement_shows_no_values(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLAlchemy's error contains the statement's parameters, with the options of the table."""
    caplog.set_level(logging.DEBUG)
    for name in ("sqlalchemy", "sqlalchemy.engine"):
        caplog.set_level(logging.DEBUG, logger=name)
    catalog = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db")
    catalog.open()
    catalog.create_table(T, SECRET, False)
    with sqlite3.connect(tmp_path / "c.db") as connection:
        connection.execute("DROP TABLE schema_core_entry")
    shown = "".join(
        (
            error_text(lambda: catalog.create_table(ObjectPath("default", "u"), SECRET, False)),
            error_text(lambda: catalog.alter_table(T, SECRET, False)),
            error_text(lambda: catalog.get_table(T)),
        )
    )

    assert "no such table" in shown
    assert CANARY not in f"{shown}{caplog.text}"


def test_sqlalchemy_log_shows_no_stored_values(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("sqlalchemy", "sqlalchemy.engine", "sqlalchemy.pool"):
        caplog.set_level(logging.DEBUG, logger=name)
    catalog = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db")
    catalog.open()
    catalog.create_table(T, SECRET, False)
    catalog.alter_table(T, SECRET, False)

    assert CANARY in catalog.get_table(T).get_options().values()
    assert "Row (" in caplog.text
    assert CANARY not in caplog.text


@pytest.mark.parametrize("url", ["sqlite:///{}/c.db", "sqlite:///file:{}/c.db?uri=true"])
def test_files_of_a_store_are_private(tmp_path: Path, url: str) -> None:
    mask = os.umask(0o000)
    try:
        catalog = SqlCatalog("c", url.format(tmp_path))
        catalog.open()
        catalog.create_table(T, SECRET, False)
        store = FileCatalogStore(tmp_path)
        store.store_catalog("s", CatalogDescriptor.of("s", {"type": "x", "password": CANARY}))
        store.alter_catalog("s", CatalogDescriptor.of("s", {"type": "y", "password": CANARY}))
    finally:
        os.umask(mask)
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}

    assert {"c.db", "c.db-wal", "c.db-shm", "s.yaml"} == set(modes)
    assert {0o600} == set(modes.values())


@pytest.mark.parametrize("cut", [10, 60, 120])
def test_malformed_entry_shows_no_content(tmp_path: Path, cut: int) -> None:
    catalog = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db")
    catalog.open()
    catalog.create_table(T, SECRET, False)
    with sqlite3.connect(tmp_path / "c.db") as connection:
        connection.execute(
            "UPDATE schema_core_entry SET content = substr(content, ?) WHERE kind = 'table'", (cut,)
        )

    assert CANARY not in error_text(lambda: catalog.get_table(T))


def test_descriptors_in_files_show_no_secret(tmp_path: Path) -> None:
    store = FileCatalogStore(tmp_path)
    options = {"type": "sql", "url": "sqlite://", "password": CANARY}
    descriptor = CatalogDescriptor.of("c", options)
    store.store_catalog("c", descriptor)
    shown = error_text(lambda: store.store_catalog("c", descriptor))
    file = tmp_path / "c.yaml"
    file.write_text(file.read_text() + "- broken")

    assert CANARY not in f"{shown}{error_text(lambda: store.get_catalog('c'))}{descriptor!r}"


def test_environment_shows_no_secret(tmp_path: Path) -> None:
    """For a catalog that was never opened, and for a table in an open one."""
    options = {"type": "sql", "url": f"sqlite:///{tmp_path}/c.db", "password": CANARY}
    store = FileCatalogStore(tmp_path / "store")
    store.open()
    store.store_catalog("shut", CatalogDescriptor.of("shut", options))
    settings = EnvironmentSettings.new_instance().with_catalog_store(store).build()
    env = TableEnvironment.create(settings)
    env.execute_sql(f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = '{options['url']}')")
    env.execute_sql(
        f"CREATE TABLE shop.`default`.t (a INT) WITH ('connector' = 'x', 'password' = '{CANARY}')"
    )
    shown: list[object] = [
        list(env.execute_sql(statement).collect())
        for statement in (
            "SHOW CREATE CATALOG shut",
            "DESCRIBE CATALOG EXTENDED shut",
            "SHOW CREATE TABLE shop.`default`.t",
        )
    ]
    shown += [error_text(lambda: env.execute_sql("USE CATALOG shut"))]

    assert "******" in str(shown)
    assert CANARY not in str(shown)
