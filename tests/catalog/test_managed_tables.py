"""Managed tables: without a connector, in a catalog with a warehouse; no Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.managed import KEY, ManagedStorage, directory_of, new_directory
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError


@pytest.fixture
def environment(tmp_path: Path) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}', 'warehouse.format' = 'orc')"
    )
    made.use_catalog("c")
    return made


def folder(environment: TableEnvironment, name: str) -> str | None:
    return directory_of(environment.get_catalog("c").get_table(ObjectPath("default", name)))


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement).wait()
    return caught.value.code


def test_the_directory_is_stored_and_not_shown(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('orc.compress' = 'ZLIB')")
    environment.execute_sql("CREATE TABLE u LIKE t")
    bound = environment._session.bind(ObjectIdentifier.of("c", "default", "t"))

    assert KEY not in environment.get_create_statement("t")
    assert {
        "connector": "filesystem",
        "format": "orc",
        "orc.compress": "ZLIB",
        "path": f"{tmp_path / 'house'}/{folder(environment, 't')}",
    } == dict(bound.table.options)
    assert folder(environment, "t") != folder(environment, "u")
    before = folder(environment, "t")
    environment.execute_sql("ALTER TABLE t RENAME TO r")
    environment.execute_sql("ALTER TABLE r ADD b STRING")
    assert before == folder(environment, "r")


def test_dropping_a_table_deletes_its_directory(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    environment.execute_sql("CREATE DATABASE d")
    places = []
    for name in ("t", "d.x", "d.y"):
        environment.execute_sql(f"CREATE TABLE {name} (a INT)")
        path = ObjectPath(*(name.split(".") if "." in name else ["default", name]))
        own = directory_of(environment.get_catalog("c").get_table(path))
        assert own is not None
        places.append(tmp_path / "house" / own)
        places[-1].mkdir(parents=True)
        (places[-1] / "part-0").write_text("1")
    environment.execute_sql("CREATE TABLE own (a INT) WITH ('connector' = 'filesystem',"
                            f" 'format' = 'csv', 'path' = '{tmp_path / 'own'}')")  # fmt: skip
    (tmp_path / "own").mkdir()

    environment.execute_sql("DROP TABLE t")
    environment.execute_sql("DROP TABLE own")
    assert [False, True, True] == [place.exists() for place in places]
    assert (tmp_path / "own").exists()
    environment.execute_sql("DROP DATABASE d CASCADE")
    assert not any(place.exists() for place in places)


@pytest.mark.parametrize("name", ["..", "a/b", "x" * 200, "ä ö%", ".hidden"])
def test_any_name_has_a_directory_within_the_warehouse(
    environment: TableEnvironment, name: str
) -> None:
    environment.execute_sql(f"CREATE TABLE `{name}` (a INT)")
    own = folder(environment, name)

    assert own is not None
    assert 1 == own.count("/")
    assert ".." not in own.split("/")
    assert len(own.encode()) < 255


def test_what_the_catalog_sets_is_refused(environment: TableEnvironment) -> None:
    for option in ("path", KEY):
        statement = f"CREATE TABLE t (a INT) WITH ('{option}' = '../../etc-0123456789ab')"
        assert "reserved-option" == code(environment, statement)
    query = "CREATE TABLE t WITH ('path' = 'x') AS SELECT 1 AS a"
    assert "reserved-option" == code(environment, query)
    assert "reserved-option" in [problem.code for problem in environment.plan_ctas(query).problems]


@pytest.mark.parametrize(
    "options",
    [{"warehouse": "relative"}, {"warehouse": "hdfs://h/x"}, {"warehouse.format": "csv"}],
)
def test_the_warehouse_is_a_local_directory(options: dict[str, str]) -> None:
    with pytest.raises(SchemaError) as caught:
        ManagedStorage.of(options)
    assert "invalid-option-value" == caught.value.code
    with pytest.raises(SchemaError):
        SqlCatalog("c", "sqlite://", warehouse="relative")
    assert ManagedStorage.of({"warehouse": "file:///x/"}) == ManagedStorage("/x")
    assert new_directory(ObjectIdentifier.of("c", "d", "t")).startswith("d.db/t-")


@pytest.mark.usefixtures("spark")
def test_other_catalogs_refuse_tables_without_a_connector(environment: TableEnvironment) -> None:
    environment.use_catalog("default_catalog")
    environment.execute_sql("CREATE TABLE t (a INT)")
    for statement in (
        "CREATE TABLE n AS SELECT 1 AS a",
        "INSERT INTO t VALUES (1)",
        "SELECT * FROM t",
    ):
        assert "missing-connector" == code(environment, statement)
    assert ["t"] == environment.list_tables()
