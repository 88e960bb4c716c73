"""Former names of columns: kept with the table by every way to rename one, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.catalog import CatalogTable, InMemoryCatalog, ObjectPath
from schema_core.catalog.changes.former_names import KEY, FormerNames
from schema_core.catalog.managed import KEY as DIRECTORY
from schema_core.catalogs import SqlCatalog
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    MigrationPlan,
    apply_plan,
    apply_to_catalog,
    diff,
    diff_catalogs,
    plan,
    plan_table,
)

PATH = ObjectPath("default", "t")
FILES = "WITH ('connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = '{}')"
AS_B = Schema.new_builder().column("id", "INT").column("b", "STRING").build()


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    """An environment with a managed table and tables of files."""
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    catalog = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db", warehouse=f"{tmp_path}/w")
    result.register_catalog("c", catalog)
    result.use_catalog("c")
    result.execute_sql("CREATE TABLE t (id INT, a STRING)")
    return result


def run(env: TableEnvironment, *statements: str) -> None:
    for statement in statements:
        env.execute_sql(statement)


def stored(env: TableEnvironment) -> CatalogTable:
    result = env.get_catalog("c").get_table(PATH)
    assert isinstance(result, CatalogTable)
    return result


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


def test_a_plan_keeps_the_names_and_the_directory(env: TableEnvironment) -> None:
    folder = stored(env).options[DIRECTORY]
    old = CatalogTable(stored(env).schema)
    made = plan(old, AS_B, path="t", renames={"a": "b"})

    apply_plan(env, MigrationPlan.from_json(made.to_json()))

    assert {"b": ("a",)} == names(env)
    assert folder == stored(env).options[DIRECTORY]


def test_changes_of_a_catalog_keep_the_names_and_the_directory(env: TableEnvironment) -> None:
    folder = stored(env).options[DIRECTORY]
    wanted = InMemoryCatalog("wanted", "default")
    wanted.create_table(PATH, CatalogTable(AS_B), ignore_if_exists=False)
    live = env.get_catalog("c")

    apply_to_catalog(diff_catalogs(live, wanted, column_renames={PATH: {"a": "b"}}), live)

    assert {"b": ("a",)} == names(env)
    assert folder == stored(env).options[DIRECTORY]
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
        (f"ALTER TABLE t SET ('{DIRECTORY}' = '')", RESERVED),
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


FIELDS = "r ROW<x INT, y ARRAY<ROW<k INT, v INT>>>"


def field_names(env: TableEnvironment) -> dict[tuple[str, ...], tuple[str, ...]]:
    return dict(FormerNames.of(stored(env).options).paths)


def test_statements_and_changes_keep_the_names_of_fields(env: TableEnvironment) -> None:
    run(env, f"ALTER TABLE t ADD {FIELDS}")
    run(env, "ALTER TABLE t RENAME r.x TO r.z", "ALTER TABLE t RENAME r.y.`element`.k TO n")
    old = stored(env).schema
    renames: dict[tuple[str, ...], str] = {("r",): "s", ("r", "z"): "w"}
    wanted = Schema.new_builder().column("id", "INT").column("a", "STRING")
    wanted = wanted.column("s", "ROW<w INT, y ARRAY<ROW<n INT, v INT>>>")

    env.alter_table("t", diff(old, wanted.build(), renames=renames))

    assert field_names(env) == {
        ("s",): ("r",),
        ("s", "w"): ("x", "z"),
        ("s", "y", "element", "n"): ("k",),
    }
    assert FormerNames.of(stored(env).options) == FormerNames.of({KEY: stored(env).options[KEY]})


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE t RENAME r.y.`element`.v TO k", NAME),
        ("ALTER TABLE t MODIFY r ROW<x INT, y ARRAY<ROW<n INT, k INT>>>", NAME),
        ("ALTER TABLE t MODIFY r ROW<x INT, k INT, y ARRAY<ROW<n INT, v INT>>>", None),
        ("ALTER TABLE t RENAME r.x TO k", None),
        ("ALTER TABLE t RENAME r.y.`element`.n TO k", None),
        ("ALTER TABLE t RENAME r.y.`element`.n TO v", "invalid-field-name"),
        ("ALTER TABLE t RENAME r.q TO p", "unknown-field"),
        ("ALTER TABLE t RENAME id.q TO p", "unknown-field"),
        ("ALTER TABLE t RENAME q.x TO p", "unknown-column"),
        ("ALTER TABLE t RENAME r.x TO s.p", "nested-column"),
    ],
)
def test_names_of_fields_that_older_files_have_are_refused(
    env: TableEnvironment, statement: str, expected: str | None
) -> None:
    run(env, f"ALTER TABLE t ADD {FIELDS}", "ALTER TABLE t RENAME r.y.`element`.k TO n")

    assert expected == code_of(env, statement)


def test_a_renamed_column_does_not_get_the_names_of_the_fields_of_a_dropped_one(
    env: TableEnvironment,
) -> None:
    run(
        env,
        "ALTER TABLE t ADD (r ROW<x INT>, s ROW<x INT>)",
        "ALTER TABLE t RENAME r.x TO y",
        "ALTER TABLE t DROP r",
        "ALTER TABLE t RENAME s TO r",
    )

    assert field_names(env) == {("r",): ("s",)}


def test_dropped_fields_are_kept_where_rows_do_not_show_their_names(env: TableEnvironment) -> None:
    run(
        env,
        "DROP TABLE t",
        f"CREATE TABLE t (id INT, {FIELDS}) {FILES.format('json')}",
        "ALTER TABLE t DROP r",
        "ALTER TABLE t ADD r ROW<z INT>",
    )

    assert NAME == code_of(env, "ALTER TABLE t RENAME r.z TO x")
    run(env, "ALTER TABLE t MODIFY r ROW<z INT, x INT>", "ALTER TABLE t RENAME r.x TO w")
    assert {("r", "w"): ("x",)} == field_names(env)


# --- CREATE TABLE LIKE ---------------------------------------------------------------------------


def hidden(env: TableEnvironment, name: str) -> dict[str, tuple[str, ...]]:
    options = env.get_catalog("c").get_table(ObjectPath("default", name)).options
    return dict(FormerNames.of(options).columns)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", {"b": ("a",)}),
        ("WITH ('path' = 'file:///nowhere/t/')", {"b": ("a",)}),
        ("WITH ('path' = '/nowhere/u')", {}),
        ("WITH ('format' = 'orc')", {}),
        ("WITH ('connector' = 'print')", {}),
    ],
)
def test_a_table_with_the_same_files_has_the_former_names(
    env: TableEnvironment, options: str, expected: dict[str, tuple[str, ...]]
) -> None:
    run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format('parquet')}")
    run(env, "ALTER TABLE t RENAME a TO b", f"CREATE TABLE u (c INT) {options} LIKE t")
    run(env, f"CREATE TEMPORARY TABLE w {options} LIKE t", "CREATE TABLE v LIKE w")

    assert expected == hidden(env, "u")
    assert expected == hidden(env, "v")
    (shown,) = [row[0] for row in env.execute_sql("SHOW CREATE TABLE w").collect()]
    assert "schema-core" not in shown


def test_a_table_at_the_directory_of_a_managed_one_has_its_former_names(
    env: TableEnvironment, tmp_path: Path
) -> None:
    folder = f"{tmp_path}/w/{stored(env).options[DIRECTORY]}"
    run(
        env,
        "ALTER TABLE t RENAME a TO b",
        f"CREATE TABLE u WITH ('connector' = 'filesystem', 'path' = '{folder}',"
        " 'format' = 'parquet') LIKE t",
        "CREATE TABLE v LIKE t",
    )

    assert {"b": ("a",)} == hidden(env, "u")
    assert {} == hidden(env, "v")


def test_a_column_beside_those_of_the_source_does_not_take_a_former_name(
    env: TableEnvironment,
) -> None:
    run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format('parquet')}")
    run(env, "ALTER TABLE t RENAME a TO b")

    assert NAME == code_of(env, "CREATE TABLE u (a INT) LIKE t")
    assert code_of(env, "CREATE TABLE u (a INT) WITH ('path' = '/nowhere/u') LIKE t") is None


def test_a_temporary_table_does_not_take_former_names_from_its_options(
    env: TableEnvironment,
) -> None:
    statement = f"CREATE TEMPORARY TABLE u (a INT) WITH ('connector' = 'print', '{KEY}' = '')"

    assert RESERVED == code_of(env, statement)


# --- plans ---------------------------------------------------------------------------------------


FORMER = "ALTER TABLE does not allow it: older files of the table have column 'b' by the name 'a'"


@pytest.mark.parametrize("form", [None, "parquet", "json"])
def test_a_plan_does_not_give_the_former_name_of_a_column_to_another(
    env: TableEnvironment, form: str | None
) -> None:
    if form is not None:
        run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format(form)}")
    run(env, "ALTER TABLE t RENAME a TO b")
    wanted = Schema.new_builder().column("id", "INT").column("b", "STRING").column("a", "INT")
    shown = {
        key: option for key, option in stored(env).options.items() if key not in (KEY, DIRECTORY)
    }
    new = CatalogTable(wanted.build(), options=shown)

    result = plan_table(env, "t", wanted.build())

    assert FORMER == result.rewrite
    assert FORMER == plan(stored(env), new, path="t").rewrite
    assert KEY not in result.old
    assert DIRECTORY not in result.old
    with pytest.raises(SchemaCoreError) as caught:
        apply_plan(env, MigrationPlan.from_json(result.to_json()))
    assert "migration-needs-rewrite" == caught.value.code
    assert plan_table(env, "t", wanted.build(), "spark").target == "spark"


def test_a_plan_for_files_renames_fields_in_place(env: TableEnvironment) -> None:
    run(env, f"ALTER TABLE t ADD {FIELDS}")
    wanted = Schema.new_builder().column("id", "INT").column("a", "STRING")
    wanted = wanted.column("r", "ROW<w BIGINT, y ARRAY<ROW<n INT, v INT>>, z INT>")
    renames: dict[tuple[str, ...], str] = {("r", "x"): "w", ("r", "y", "element", "k"): "n"}

    result = plan_table(env, "t", wanted.build(), renames=renames)

    assert result.rewrite is None
    assert {statement for statement in result.statements if "RENAME" in statement} == {
        "ALTER TABLE `t` RENAME `r`.`x` TO `r`.`w`",
        "ALTER TABLE `t` RENAME `r`.`y`.`element`.`k` TO `r`.`y`.`element`.`n`",
    }
    assert () == result.risks
    apply_plan(env, MigrationPlan.from_json(result.to_json()))
    assert field_names(env) == {("r", "w"): ("x",), ("r", "y", "element", "n"): ("k",)}
    assert () == plan_table(env, "t", wanted.build()).statements


#: The option of a table with former names of these fields.
FIELDS_OF = '{{"version": 2, "columns": {{}}, "dropped": [], "fields": [{}], "dropped_fields": []}}'


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"version": 2, "columns": {}, "dropped": []}',
             '{"version": 1, "columns": {"b": ["a"], "c": ["a"]}, "dropped": []}',
             '{"version": 1, "columns": {"b": [1]}, "dropped": []}', "[" * 100_000,
             FIELDS_OF.format('[[], ["a"]]'),
             FIELDS_OF.format('[["r", "a"], ["x"]], [["r", "b"], ["x"]]')],
)  # fmt: skip
def test_another_value_is_refused(text: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        FormerNames.of({KEY: text})

    assert "invalid-option-value" == caught.value.code


def test_the_names_round_trip() -> None:
    result = FormerNames().after(("a",), ("b",)).after(("é`",), ("x y",))
    assert result == FormerNames.of({KEY: str(result)})
    assert '"version": 1' in str(result)
    result = result.after(("z",), None, listed=False).after(("b", "é"), ("b", "`"))
    result = result.after(("b", "z"), None, listed=False)

    assert result == FormerNames.of({KEY: str(result)})
