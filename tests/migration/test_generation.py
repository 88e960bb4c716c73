"""Generated migrations lead from the catalog to the wanted definitions, and back."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest

from fuzz.generated_migrations import check
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.base.keywords import RESERVED
from schema_core.base.paths import ObjectPath
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    CatalogContent,
    GeneratedMigration,
    Migrator,
    autogenerate,
    diff_catalogs,
    import_definitions,
    read_definitions,
    write_baseline,
)

OLD = """
CREATE TABLE orders (id BIGINT NOT NULL, price DECIMAL(10, 2), cost AS price * 2)
WITH ('connector' = 'print', 'password' = 'hunter2');
CREATE TABLE gone (a INT) COMMENT 'it''s' WITH ('connector' = 'blackhole');
CREATE VIEW latest AS SELECT id FROM orders;
CREATE VIEW above AS SELECT id FROM latest;
"""
NEW = """
CREATE DATABASE extra COMMENT 'more' WITH ('k' = 'v');
CREATE TABLE purchases (
  id BIGINT NOT NULL, channel STRING, amount DECIMAL(12, 2), cost AS amount * 3,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'print', 'password' = 'hunter2');
CREATE TABLE extra.added (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) PARTITIONED BY (a)
WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv');
CREATE VIEW latest (number) AS SELECT id FROM purchases;
CREATE VIEW above AS SELECT number FROM latest;
"""


def migrator(environment: TableEnvironment, folder: Path) -> Migrator:
    secrets = {"orders_password": "hunter2", "purchases_password": "hunter2"}
    (folder / "migrations").mkdir(exist_ok=True)
    return Migrator(environment, folder / "migrations", variables=secrets)


def generate(environment: TableEnvironment, folder: Path, tables: str, **hints: object) -> str:
    """Generate a migration to the tables of a script; return its text."""
    path = generated(environment, folder, tables, **hints).path
    return "" if path is None else path.read_text()


def generated(
    environment: TableEnvironment, folder: Path, tables: str, **hints: object
) -> GeneratedMigration:
    """Generate a migration to the tables of a script."""
    (folder / "tables.sql").write_text(tables)
    wanted = read_definitions(environment, folder / "tables.sql")
    return autogenerate(migrator(environment, folder), wanted, "next", **hints)  # type: ignore[arg-type]


def test_generated_migrations_lead_there_and_back(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    database = environment.get_current_database() or ""
    first = generate(environment, tmp_path, OLD)
    assert "'password' = '${orders_password}'" in first
    assert "hunter2" not in first
    migrator(environment, tmp_path).upgrade()
    assert "" == generate(environment, tmp_path, OLD)

    second = generate(
        environment,
        tmp_path,
        NEW,
        renames={ObjectPath(database, "orders"): "purchases"},
        column_renames={ObjectPath(database, "purchases"): {"price": "amount"}},
    )
    assert "-- unsupported" not in second
    assert "not restored" not in second
    assert "RENAME price TO amount" in second
    assert f"-- at risk: {database}.gone: the table is dropped" in second
    assert f"-- at risk: {database}.purchases: price: rows that are read by name" in second
    before = migrator(environment, tmp_path).content()
    migrator(environment, tmp_path).upgrade()
    assert "" == generate(environment, tmp_path, NEW)
    assert () == migrator(environment, tmp_path).drift()
    migrator(environment, tmp_path).downgrade("-1")
    assert () == diff_catalogs(migrator(environment, tmp_path).content(), before)


def test_managed_tables_have_no_options_of_the_catalog(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    if "shop" != environment.get_current_catalog():
        pytest.skip("the catalog manages no tables")
    text = generate(environment, tmp_path, "CREATE TABLE t (a INT);")
    assert "managed" not in text
    migrator(environment, tmp_path).upgrade()

    assert "" == generate(environment, tmp_path, "CREATE TABLE t (a INT);")


def test_what_cannot_be_reached_is_reported(environment: TableEnvironment, tmp_path: Path) -> None:
    generate(environment, tmp_path, "CREATE DATABASE d WITH ('k' = 'v', 'l' = 'w');")
    migrator(environment, tmp_path).upgrade()

    text = generate(environment, tmp_path, "CREATE DATABASE d WITH ('k' = 'v');")

    assert "-- unsupported: alter database `d`" in text


def test_what_needs_a_rewrite_is_refused(environment: TableEnvironment, tmp_path: Path) -> None:
    generate(environment, tmp_path, "CREATE TABLE t (a STRING) WITH ('connector' = 'print');")
    migrator(environment, tmp_path).upgrade()

    result = generated(
        environment, tmp_path, "CREATE TABLE t (a BYTES) WITH ('connector' = 'print');"
    )

    assert result.path is None
    assert ["migration-not-supported"] == [error.code for error in result.rewrites]


def test_a_change_that_cannot_be_undone_has_no_down(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    with_ = " WITH ('connector' = 'print');"
    generate(environment, tmp_path, f"CREATE TABLE t (a INT){with_}")
    migrator(environment, tmp_path).upgrade()

    text = generate(environment, tmp_path, f"CREATE TABLE t (a BIGINT){with_}")

    assert re.search(
        r"-- cannot be undone; on the way back table \w+\.t cannot be altered in place: .", text
    )
    assert "\n-- down\n" not in text


def test_pending_migrations_are_refused(environment: TableEnvironment, tmp_path: Path) -> None:
    generate(environment, tmp_path, "CREATE TABLE t (a INT);")

    with pytest.raises(SchemaCoreError) as caught:
        generate(environment, tmp_path, "CREATE TABLE u (a INT);")

    assert "migration-pending" == caught.value.code


def test_definitions_of_a_directory(environment: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "1.sql").write_text("CREATE TABLE a (x INT);")
    (tmp_path / "tables" / "2.sql").write_text("CREATE VIEW b AS SELECT x FROM a;")

    result = read_definitions(environment, tmp_path / "tables")

    assert ["a", "b"] == sorted(path.object_name for path in result.objects)
    assert [] == environment.list_tables()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("DROP TABLE t;", "invalid-migration-file"),
        ("CREATE TABLE t AS SELECT 1 AS a;", "invalid-migration-file"),
        ("CREATE TEMPORARY TABLE t (a INT);", "invalid-migration-file"),
        ("CREATE TEMPORARY SYSTEM FUNCTION f AS 'a.b';", "invalid-migration-file"),
        ("CREATE TABLE x.y.t (a INT);", "invalid-migration-file"),
        ("CREATE TABLE (", "syntax"),
        ("CREATE TABLE t (a INTT);", "type-not-found"),
    ],
)
def test_wrong_definitions(
    environment: TableEnvironment, tmp_path: Path, text: str, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        generate(environment, tmp_path, f"CREATE DATABASE d;\n{text}")

    assert code == caught.value.code
    assert 2 == caught.value.diagnostics[0].line
    assert environment.get_catalog(environment.get_current_catalog() or "").list_databases() != []
    assert "d" not in environment.list_databases()


def test_definitions_of_a_python_module(
    environment: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_tables_of_a_test.py").write_text(
        "from schema_core import Schema, TableDescriptor\n"
        "schema = Schema.new_builder().column('id', 'BIGINT').build()\n"
        "TABLES = {'t': TableDescriptor.for_connector('print').schema(schema).build()}\n"
        "WRONG = {'t': schema}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        result = import_definitions(environment, "shop_tables_of_a_test:TABLES")
        assert ["t"] == [path.object_name for path in result.objects]
        for target, code in (
            ("shop_tables_of_a_test:WRONG", "invalid-argument"),
            ("shop_tables_of_a_test:schema", "invalid-argument"),
            ("shop_tables_of_a_test:ABSENT", "not-loadable"),
            ("shop_tables_of_a_test", "not-loadable"),
            ("absent_module:T", "not-loadable"),
        ):
            with pytest.raises(SchemaCoreError) as caught:
                import_definitions(environment, target)
            assert code == caught.value.code
    finally:
        sys.modules.pop("shop_tables_of_a_test", None)


def test_generated_migrations_between_drawn_tables(tmp_path: Path) -> None:
    result = set()
    for seed in range(30):
        (tmp_path / str(seed)).mkdir()
        result.add(check(Random(seed), tmp_path / str(seed)))

    assert {"applied and undone", "needs a rewrite"} <= result


def test_each_secret_has_a_variable_of_its_own(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    def tables(first: str, second: str, host: str) -> str:
        return "".join(
            f"CREATE DATABASE {name} WITH ('password' = '{value}');"
            f"CREATE TABLE {name}.t (a INT) WITH ('connector' = 'print', 'path' = '/$${{day}}',"
            f" 'password' = '{value}', 'url' = 'https://ann:{value}@{host}/');"
            for name, value in (("d1", first), ("d2", second))
        )

    (tmp_path / "m").mkdir()
    for number, texts in enumerate((("one", "o''ne", "a"), ("three", "o''ne", "b"))):
        (tmp_path / "tables.sql").write_text(tables(*texts))
        values = {f"v{number}": "unused"}
        result = Migrator(environment, tmp_path / "m", variables=values)
        wanted = read_definitions(environment, tmp_path / "tables.sql")
        path = autogenerate(result, wanted, "next").path
        assert path is not None
        text = path.read_text()
        assert "-- unsupported" not in text
        assert all(secret not in text for secret in ("'one'", "three", "o'"))
        secrets = {
            "t_password": "three" if number else "one",
            "t_password_2": "o'ne",
            "t_url": f"https://ann:{'three' if number else 'one'}@{'b' if number else 'a'}/",
            "t_url_2": f"https://ann:o'ne@{'b' if number else 'a'}/",
            "d1_password": "three" if number else "one",
            "d2_password": "o'ne",
        }
        if number:
            secrets |= {"t_password": "three", "t_password_2": "one"}
        Migrator(environment, tmp_path / "m", variables=secrets).upgrade()
        if not number:
            left = diff_catalogs(Migrator(environment, tmp_path / "m").content(), wanted)
            assert () == tuple(item for item in left if type(item).__name__ != "RemoveDatabase")


FILES = "WITH ('connector' = 'filesystem', 'path' = '/data/t', 'format' = 'parquet')"


def test_fields_of_files_are_renamed_in_place(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    folder = tmp_path
    generate(environment, folder, f"CREATE TABLE t (r ROW<x INT>) {FILES}")
    migrator(environment, folder).upgrade()
    hints: dict[ObjectPath, dict[tuple[str, ...], str]] = {
        ObjectPath(environment.get_current_database() or "", "t"): {("r", "x"): "y"}
    }

    text = generate(
        environment, folder, f"CREATE TABLE t (r ROW<y INT>) {FILES}", column_renames=hints
    )

    assert "RENAME r.x TO r.y;" in text
    migrator(environment, folder).upgrade()
    migrator(environment, folder).downgrade("-1")
    assert () == migrator(environment, folder).drift()


def test_a_former_name_of_a_column_is_generated_for_another(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    generate(environment, tmp_path, f"CREATE TABLE t (a INT) {FILES}")
    migrator(environment, tmp_path).upgrade()
    environment.execute_sql("ALTER TABLE t RENAME a TO b")

    text = generate(environment, tmp_path, f"CREATE TABLE t (b INT, a INT) {FILES}")

    assert re.search("ADD `?a`? INT;", text)


def test_a_likely_rename_is_reported_and_not_assumed(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    generate(environment, tmp_path, f"CREATE TABLE t (id INT, a STRING) {FILES}")
    migrator(environment, tmp_path).upgrade()
    database = environment.get_current_database() or ""

    text = generate(environment, tmp_path, f"CREATE TABLE t (id INT, b STRING) {FILES}")

    assert f"-- if it is a rename: --rename {database}.t.a=b\n" in text
    assert "DROP a;" in text


# --- views ---------------------------------------------------------------------------------------


def test_views_are_renamed_and_changed(environment: TableEnvironment, tmp_path: Path) -> None:
    """A view that is renamed and changed, and one that reads it, beside the renamed table."""
    database = environment.get_current_database() or ""
    with_ = "WITH ('connector' = 'print');"
    generate(
        environment,
        tmp_path,
        f"CREATE TABLE t (a INT, b STRING) {with_} CREATE VIEW v AS SELECT a, b FROM t;"
        "CREATE VIEW same AS SELECT a FROM t; CREATE VIEW w AS SELECT b FROM v;",
    )
    migrator(environment, tmp_path).upgrade()
    before = migrator(environment, tmp_path).content()
    wanted = (
        f"CREATE TABLE s (a BIGINT, c STRING) {with_} CREATE VIEW x AS SELECT c, a FROM s;"
        "CREATE VIEW same AS SELECT a FROM s; CREATE VIEW w AS SELECT c AS b FROM x;"
    )

    result = generated(
        environment,
        tmp_path,
        wanted,
        renames={ObjectPath(database, "t"): "s", ObjectPath(database, "v"): "x"},
        column_renames={ObjectPath(database, "s"): {"b": "c"}},
    )

    assert result.path is not None
    text = result.path.read_text()
    assert "-- unsupported" not in text
    assert () == result.broken
    readers = ", ".join(f"view {database}.{name}" for name in ("same", "v", "w"))
    assert f"--   read by {readers}\n" in text
    migrator(environment, tmp_path).upgrade()
    assert "" == generate(environment, tmp_path, wanted)
    states = environment.read_view_states()
    assert {None} == {state.problem for state in states.values()}
    if "cannot be undone" not in text:
        migrator(environment, tmp_path).downgrade("-1")
        assert () == diff_catalogs(migrator(environment, tmp_path).content(), before)


def test_materialized_tables_are_kept_by_descriptors_and_reported_if_they_break(
    tmp_path: Path,
) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    with_ = "WITH ('connector' = 'print');"
    generate(environment, tmp_path, f"CREATE TABLE t (a INT, b INT) {with_}")
    migrator(environment, tmp_path).upgrade()
    environment.execute_sql(
        "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT a FROM t"
    )

    def generate_from(text: str) -> GeneratedMigration:
        (tmp_path / "tables.sql").write_text(text)
        wanted = read_definitions(environment, tmp_path / "tables.sql")
        content = CatalogContent(wanted.databases, wanted.objects)  # as of a Python module
        return autogenerate(migrator(environment, tmp_path), content, "change")

    kept = generate_from(f"CREATE TABLE t (a INT) {with_}")
    assert kept.path is not None
    assert () == kept.broken
    assert "--   read by materialized table default_database.m" in kept.path.read_text()
    kept.path.unlink()

    broken = generate_from(f"CREATE TABLE t (b INT) {with_}")

    assert broken.path is not None
    assert ["m"] == [state.identifier.object_name for state in broken.broken]
    assert "-- breaks: materialized table default_database.m does not work: " in (
        broken.path.read_text()
    )
    with pytest.raises(SchemaCoreError, match="does not work") as caught:
        migrator(environment, tmp_path).upgrade()
    assert "migration-breaks-view" == caught.value.code


# --- baselines -----------------------------------------------------------------------------------


def test_a_baseline_creates_what_the_catalog_contains(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    database = environment.get_current_database() or ""
    options = "'connector' = 'print', 'password' = 'hunter2', 'print-identifier' = '${day}'"
    for statement in (
        "CREATE DATABASE d COMMENT 'it''s'",
        f"CREATE TABLE d.t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ({options})",
        "CREATE VIEW v AS SELECT * FROM d.t",
        "CREATE VIEW d.above (x) AS SELECT a FROM v",
        "CREATE FUNCTION f AS 'a.B'",
    ):
        environment.execute_sql(statement.replace("FROM v", f"FROM `{database}`.v"))
    content = migrator(environment, tmp_path).content()

    path = write_baseline(migrator(environment, tmp_path)).path

    assert path is not None
    text = path.read_text()
    assert "hunter2" not in text
    assert "'password' = '${t_password}'" in text
    assert "'print-identifier' = '$${day}'" in text
    assert f"-- not created: function {database}.f\n" in text
    assert "-- unsupported" not in text
    assert f"CREATE VIEW {quote_if_reserved(database)}.v\nAS SELECT *" in text
    result = Migrator(environment, tmp_path / "migrations", variables={"t_password": "hunter2"})
    assert [("0001_baseline", True)] == [
        (status.name, status.stamped) for status in result.history()
    ]
    assert () == result.drift()
    with pytest.raises(SchemaCoreError) as caught:
        write_baseline(result, "again")
    assert "migration-exists" == caught.value.code

    result.downgrade("base")
    assert {} == result.content().objects
    result.upgrade()
    assert () == diff_catalogs(result.content(), content)


def quote_if_reserved(name: str) -> str:
    return f"`{name}`" if name.upper() in RESERVED else name


def test_the_baseline_of_an_empty_catalog_is_nothing(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    assert write_baseline(migrator(environment, tmp_path)).path is None
    assert [] == [*(tmp_path / "migrations").iterdir()]


# --- rewrites ------------------------------------------------------------------------------------


def test_all_tables_that_need_a_rewrite_are_reported_and_the_rest_is_generated(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    database = environment.get_current_database() or ""
    with_ = "WITH ('connector' = 'print');"

    def tables(type_: str, more: str) -> str:
        return (
            f"CREATE TABLE t (a {type_}) {with_} CREATE TABLE u (b {type_}) {with_}"
            f"CREATE TABLE fine (c INT{more}) {with_}"
            "CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT a FROM v;"
            f"CREATE VIEW x AS SELECT * FROM fine;"
        )

    generate(environment, tmp_path, tables("STRING", ""))
    migrator(environment, tmp_path).upgrade()

    result = generated(environment, tmp_path, tables("BYTES", ", d INT"))

    assert result.path is not None
    text = result.path.read_text()
    assert {"t", "u"} == {error.problem.split()[1].partition(".")[2] for error in result.rewrites}
    assert {"migration-not-supported"} == {error.code for error in result.rewrites}
    assert {ObjectPath(database, name) for name in ("v", "w")} == {*result.left}
    assert f"-- needs a rewrite: table {database}.t cannot be altered in place: " in text
    assert f"-- left as it is: {database}.v: it reads a table that needs a rewrite\n" in text
    assert "fine ADD d INT;" in text
    assert "-- unsupported" not in text
    migrator(environment, tmp_path).upgrade()
    left = generated(environment, tmp_path, tables("BYTES", ", d INT"))
    assert left.path is None
    assert 2 == len(left.rewrites)


# --- readable files ------------------------------------------------------------------------------


def test_generated_files_are_readable(environment: TableEnvironment, tmp_path: Path) -> None:
    text = generate(
        environment,
        tmp_path,
        "CREATE TABLE t (a STRING, `order` BYTES, r ROW<`the day` STRING, `it``s` INT>)"
        " WITH ('connector' = 'print', '`k`' = '`VARCHAR(2147483647)`');",
    )

    assert (
        "t (\n"
        "  a STRING,\n"
        "  `order` BYTES,\n"
        "  r ROW<`the day` STRING, `it``s` INT>\n"
        ")\n"
        "WITH (\n"
        "  '`k`' = '`VARCHAR(2147483647)`',\n"
        "  'connector' = 'print'\n"
        ");\n"
    ) in text
    migrator(environment, tmp_path).upgrade()

    text = generate(
        environment,
        tmp_path,
        "CREATE TABLE t (a STRING COMMENT 'it', `order` BYTES, r ROW<`the day` STRING, `it``s` INT>"
        ", c AS UPPER(a)) WITH ('connector' = 'print', '`k`' = '`VARCHAR(2147483647)`');",
    )

    assert "--   set the comment of column `a` to 'it'" in text
    assert "--   add column `c` " in text
    assert "ModifyTable{" not in text


# --- variables -----------------------------------------------------------------------------------


def test_variables_of_definitions_are_kept(environment: TableEnvironment, tmp_path: Path) -> None:
    def tables(more: str) -> str:
        return (
            "CREATE TABLE t (a INT) WITH ('connector' = 'print',"
            f" 'print-identifier' = '${{data}}/$${{day}}/{more}', 'password' = '${{key}}');"
        )

    def step(text: str, values: dict[str, str]) -> str:
        (tmp_path / "tables.sql").write_text(text)
        result = Migrator(environment, tmp_path / "m", variables=values)
        wanted = read_definitions(environment, tmp_path / "tables.sql", values)
        path = autogenerate(result, wanted, "next").path
        Migrator(environment, tmp_path / "m", variables=values).upgrade()
        return "" if path is None else path.read_text()

    (tmp_path / "m").mkdir()
    values = {"data": "/it's", "key": "hunter2"}
    first = step(tables("t"), values)
    assert "'print-identifier' = '${data}/$${day}/t'" in first
    assert "'password' = '${key}'" in first
    assert "hunter2" not in first
    assert "" == step(tables("t"), values)
    stored = environment.get_catalog(environment.get_current_catalog() or "").get_table(
        ObjectPath(environment.get_current_database() or "", "t")
    )
    assert ("/it's/${day}/t", "hunter2") == (
        stored.options["print-identifier"],
        stored.options["password"],
    )

    second = step(tables("u"), values | {"key": "hunter3"})
    assert "SET ('print-identifier' = '${data}/$${day}/u')" in second
    assert "SET ('password' = '${key}')" in second
    # the variables of the migration that set the old value
    assert "SET ('print-identifier' = '${data}/$${day}/t')" in second
    third = step("", values)
    assert "'print-identifier' = '${data}/$${day}/u'" in third
    assert "-- not restored" not in third


def test_a_variable_without_a_value_is_kept_in_options_only(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    table = (
        "CREATE TABLE t (a INT{}) WITH ('connector' = 'print', 'print-identifier' = '${{data}}/t');"
    )
    first = generate(environment, tmp_path, table.format(""))
    assert "'print-identifier' = '${data}/t'" in first
    values = {"data": "/mnt"}
    Migrator(environment, tmp_path / "migrations", variables=values).upgrade()

    assert "" == generate(environment, tmp_path, table.format(""))
    second = generate(environment, tmp_path, table.format(", b INT"))
    assert "ADD b INT;" in second
    assert "SET" not in second

    for text, line in (
        ("CREATE TABLE u (a INT);\nCREATE VIEW v AS SELECT '${day}' AS x FROM u;", 2),
        ("CREATE TABLE u (a ${type});", 1),
    ):
        with pytest.raises(SchemaCoreError) as caught:
            generate(environment, tmp_path, text)
        (diagnostic,) = caught.value.diagnostics
        assert "variable-not-found" == diagnostic.code
        assert (str(tmp_path / "tables.sql"), line) == (diagnostic.file, diagnostic.line)
