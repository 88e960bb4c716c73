"""Dry runs of statements: nothing is left of them, and tables are checked as jobs check them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import dry_run_session, dry_run_statement
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.sql.parser import parse_statements

FILES = "WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '/p')"


def attempt(text: str, *, checks_connectors: bool = True) -> None:
    settings = EnvironmentSettings.in_batch_mode()
    with dry_run_session(settings, checks_connectors=checks_connectors) as session:
        for statement in parse_statements(text):
            dry_run_statement(session, statement, text)


def catalog(folder: Path, *options: str) -> str:
    given = ["'type' = 'sql'", f"'url' = 'sqlite:///{folder / 'c.db'}'", *options]
    return f"CREATE CATALOG c WITH ({', '.join(given)}); USE CATALOG c;"


def test_a_catalog_is_as_before(tmp_path: Path) -> None:
    existing = SqlCatalog("c", f"sqlite:///{tmp_path / 'c.db'}")
    existing.open()
    folder = tmp_path / "warehouse"
    text = f"""
    {catalog(tmp_path, f"'warehouse' = '{folder}'")}
    CREATE DATABASE d;
    CREATE TABLE t (a INT) {FILES};
    CREATE TABLE managed (a INT);
    INSERT INTO managed SELECT a FROM t;
    CREATE TABLE u {FILES} AS SELECT a + 1 AS b FROM t;
    CREATE VIEW v AS SELECT b FROM u;
    SELECT b FROM v;
    DROP TABLE t;
    """
    for _ in range(2):
        attempt(text)

    assert ["default"] == existing.list_databases()
    assert [] == existing.list_tables("default")
    assert not folder.exists()


def test_no_file_is_created_for_a_catalog(tmp_path: Path) -> None:
    attempt(f"{catalog(tmp_path)} CREATE TABLE t (a INT) {FILES}; SELECT a FROM t; SHOW TABLES")

    assert [] == list(tmp_path.iterdir())


def test_a_catalog_without_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        attempt(catalog(tmp_path / "nowhere"))

    assert "catalog-store-failed" == caught.value.code


def test_a_database_without_a_catalog_stays_one(tmp_path: Path) -> None:
    file = tmp_path / "c.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE mine (a INT)")
    for _ in range(2):
        attempt(f"{catalog(tmp_path)} CREATE DATABASE d; CREATE TABLE d.t (a INT) {FILES}")
    with closing(sqlite3.connect(file)) as other:
        assert [("mine",)] == other.execute("SELECT name FROM sqlite_master").fetchall()


def test_names_are_found_in_a_catalog_of_a_dry_run(tmp_path: Path) -> None:
    text = f"{catalog(tmp_path)} CREATE TABLE orders (a INT) {FILES}; SELECT a FROM ordres"
    with pytest.raises(SchemaCoreError) as caught:
        attempt(text)

    assert caught.value.hint is not None
    assert "orders" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "CREATE TABLE t (a INT) WITH ('connector' = 'nope'); SELECT a FROM t",
            "factory-not-found",
        ),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'print'); SELECT a FROM t",
         "unsupported-ability"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'datagen'); INSERT INTO t SELECT 1",
         "unsupported-ability"),
        ("CREATE TABLE t WITH ('connector' = 'filesystem') AS SELECT 1 AS a", "missing-option"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'nope'); CREATE VIEW v AS TABLE t; TABLE v",
         "factory-not-found"),
    ],
)  # fmt: skip
def test_tables_are_checked_where_they_are_used(text: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        attempt(text)
    assert code == caught.value.code
    attempt(text, checks_connectors=False)


def test_statements_with_other_effects_are_not_executed(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    attempt(f"""
    CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');
    COMPILE PLAN '{plan}' FOR INSERT INTO t SELECT 1;
    EXECUTE PLAN '{plan}';
    STOP JOB '00000000-0000-0000-0000-000000000000';
    """)

    assert not plan.exists()
    with pytest.raises(SchemaCoreError, match="nope"):
        attempt(f"COMPILE PLAN '{plan}' FOR INSERT INTO nope SELECT 1;")


def test_a_catalog_without_transactions_is_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqlCatalog, "capabilities", frozenset())
    attempt(f"{catalog(tmp_path)} SHOW TABLES")

    with pytest.raises(UnsupportedError) as caught:
        attempt(f"{catalog(tmp_path)} CREATE TABLE t (a INT)")
    assert "not-checked" == caught.value.code
