"""Former names of columns: kept with the table by every way to rename one, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.catalog import CatalogTable, InMemoryCatalog, ObjectPath
from schema_core.catalog.former_names import KEY, FormerNames
from schema_core.catalog.managed import KEY as FOLDER
from schema_core.catalogs import SqlCatalog
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    MigrationPlan,
    apply_plan,
    apply_to_catalog,
    diff,
    diff_catalogs,
    plan,
)

PATH = ObjectPath("default", "t")
FILES = "WITH ('connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = '{}')"
AS_B = Schema.new_builder().column("id", "INT").column("b", "STRING").build()


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    """An environment with a managed table and tables of files."""
    found = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    catalog = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db", warehouse=f"{tmp_path}/w")
    found.register_catalog("c", catalog)
    found.use_catalog("c")
    found.execute_sql("CREATE TABLE t (id INT, a STRING)")
    return found


def run(env: TableEnvironment, *statements: str) -> None:
    for statement in statements:
        env.execute_sql(statement)


def stored(env: TableEnvironment) -> CatalogTable:
    found = env.get_catalog("c").get_table(PATH)
    assert isinstance(found, CatalogTable)
    return found


def names(env: TableEnvironment) -> dict[str, tuple[str, ...]]:
    return dict(FormerNames.of(stored(env).options).columns)


def code_of(env: TableEnvironment, statement: str) -> str | None:
    try:
        env.execute_sql(statement)
    except SchemaCoreError as error:
        return error.code
    return None


def test_statements_keep_the_names(env: TableEnvironment, tmp_path: Path) -> None:
    run(env, "ALTER TABLE t RENAME a TO b", "ALTER TABLE t RENAME b TO c")
    run(env, "ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t")

    assert {"c": ("a", "b")} == names(env)
    assert "former" not in str(env.from_path("t").get_resolved_schema())
    (shown,) = [row[0] for row in env.execute_sql("SHOW CREATE TABLE t").collect()]
    assert "schema-core" not in shown
    run(env, "CREATE TABLE u LIKE t")
    assert KEY not in env.get_catalog("c").get_table(ObjectPath("default", "u")).options
    again = SqlCatalog("again", f"sqlite:///{tmp_path}/c.db").get_table(PATH)
    assert stored(env).options == again.options


def test_changes_keep_the_names(env: TableEnvironment) -> None:
    old = stored(env).schema

    env.alter_table("t", diff(old, AS_B, renames={"a": "b"}))

    assert {"b": ("a",)} == names(env)


def test_a_plan_keeps_the_names_and_the_folder(env: TableEnvironment) -> None:
    folder = stored(env).options[FOLDER]
    old = CatalogTable(stored(env).schema)
    made = plan(old, AS_B, path="t", renames={"a": "b"})

    apply_plan(env, MigrationPlan.from_json(made.to_json()))

    assert {"b": ("a",)} == names(env)
    assert folder == stored(env).options[FOLDER]


def test_changes_of_a_catalog_keep_the_names_and_the_folder(env: TableEnvironment) -> None:
    folder = stored(env).options[FOLDER]
    wanted = InMemoryCatalog("wanted", "default")
    wanted.create_table(PATH, CatalogTable(AS_B), ignore_if_exists=False)
    live = env.get_catalog("c")

    apply_to_catalog(diff_catalogs(live, wanted, column_renames={PATH: {"a": "b"}}), live)

    assert {"b": ("a",)} == names(env)
    assert folder == stored(env).options[FOLDER]
    assert () == diff_catalogs(live, wanted)


NAME, RESERVED = "former-name", "reserved-option"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE t ADD a INT", NAME),
        ("ALTER TABLE t ADD b INT", NAME),
        ("ALTER TABLE t RENAME id TO a", NAME),
        ("ALTER TABLE t RENAME c TO a", None),
        ("ALTER TABLE t RENAME c TO d", None),
        ("ALTER TABLE t ADD a AS id + 1", None),
        ("ALTER TABLE t DROP c", None),
        (f"ALTER TABLE t SET ('{KEY}' = '')", RESERVED),
        (f"ALTER TABLE t RESET ('{KEY}')", RESERVED),
        (f"ALTER TABLE t SET ('{FOLDER}' = '')", RESERVED),
        (f"CREATE TABLE u (a INT) WITH ('connector' = 'print', '{KEY}' = '')", RESERVED),
    ],
)  # fmt: skip
def test_names_that_older_files_have_are_refused(
    env: TableEnvironment, statement: str, expected: str | None
) -> None:
    run(env, "ALTER TABLE t RENAME a TO b", "ALTER TABLE t RENAME b TO c")

    assert expected == code_of(env, statement)


def test_a_dropped_column_keeps_its_former_names(env: TableEnvironment) -> None:
    run(env, "ALTER TABLE t RENAME a TO b", "ALTER TABLE t DROP b")

    assert NAME == code_of(env, "ALTER TABLE t ADD a STRING")
    assert NAME == code_of(env, "ALTER TABLE t RENAME id TO b")
    run(env, "ALTER TABLE t ADD b STRING")
    assert {"b": ("a",)} == names(env)


def test_a_computed_column_does_not_become_stored_by_a_former_name(env: TableEnvironment) -> None:
    run(env, "ALTER TABLE t RENAME a TO b", "ALTER TABLE t ADD a AS id + 1")

    assert NAME == code_of(env, "ALTER TABLE t MODIFY a INT")


@pytest.mark.parametrize(
    ("form", "expected"),
    [("parquet", {"b": ("a",)}), ("json", {"b": ("a",)}), ("avro", {"b": ("a",)}), ("csv", {})],
)
def test_formats_by_name_have_former_names(
    env: TableEnvironment, form: str, expected: dict[str, tuple[str, ...]]
) -> None:
    run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format(form)}")

    run(env, "ALTER TABLE t RENAME a TO b")

    assert expected == names(env)


def test_fields_of_files_are_not_renamed(env: TableEnvironment) -> None:
    run(env, "ALTER TABLE t ADD r ROW<x INT>")
    old = stored(env).schema
    wanted = (
        Schema.new_builder().column("id", "INT").column("a", "STRING").column("r", "ROW<y INT>")
    )

    renames: dict[tuple[str, ...], str] = {("r", "x"): "y"}
    with pytest.raises(SchemaCoreError) as caught:
        env.alter_table("t", diff(old, wanted.build(), renames=renames))

    assert "field-rename-not-supported" == caught.value.code


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"version": 2, "columns": {}, "dropped": []}',
             '{"version": 1, "columns": {"b": ["a"], "c": ["a"]}, "dropped": []}',
             '{"version": 1, "columns": {"b": [1]}, "dropped": []}', "[" * 100_000],
)  # fmt: skip
def test_another_value_is_refused(text: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        FormerNames.of({KEY: text})

    assert "invalid-option-value" == caught.value.code


def test_the_names_round_trip() -> None:
    found = FormerNames().after("a", "b").after("é`", "x y").after("z", None, listed=False)

    assert found == FormerNames.of({KEY: str(found)})
