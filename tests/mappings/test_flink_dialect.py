"""Flink as a dialect: tables are written as SHOW CREATE TABLE prints them, and read back."""

from __future__ import annotations

import pytest

from schema_core.catalog.objects import CatalogTable, TableDistribution
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects import ddl_losses, from_ddl, read_table, read_tables, to_ddl
from schema_core.schema.unresolved import Schema

STATEMENT = """\
CREATE TABLE `shop`.`orders` (
  `id` BIGINT NOT NULL COMMENT 'it''s the key',
  `price` DECIMAL(10, 2),
  `total` AS `price` * 2,
  `at` TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,
  `offset` BIGINT METADATA,
  WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND,
  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
)
COMMENT 'all orders'
DISTRIBUTED BY HASH(`id`) INTO 4 BUCKETS
PARTITIONED BY (`price`)
WITH (
  'connector' = 'made-up',
  'password' = 'hunter2',
  'url' = 'jdbc:mysql://ann:letmein@host/db'
)"""


def codes(error: SchemaCoreError) -> list[str]:
    return [diagnostic.code for diagnostic in error.diagnostics]


# --- writing --------------------------------------------------------------------------------------


def test_every_clause_is_restored() -> None:
    result = read_table(STATEMENT, "flink")

    assert result.path == ("shop", "orders")
    assert result.losses == ()
    assert result.table.comment == "all orders"
    assert result.table.partition_keys == ("price",)
    assert result.table.distribution == TableDistribution.of_hash(["id"], 4)
    assert result.table.options["password"] == "hunter2"
    assert to_ddl(result.table, "flink", result.path) == STATEMENT


def test_the_statement_is_that_of_show_create_table() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE DATABASE shop")
    environment.execute_sql(STATEMENT)
    shown = environment.get_create_statement("shop.orders").rstrip("\n")
    result = read_table(shown, "flink")

    assert result.path == ("default_catalog", "shop", "orders")
    assert to_ddl(result.table, "flink", result.path) == shown


def test_a_resolved_schema_is_written_as_the_schema() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE t (a INT NOT NULL, b AS a + 1) WITH ('connector' = 'x')")
    resolved = environment.from_path("t").get_resolved_schema()
    schema = Schema.new_builder().column("a", "INT NOT NULL").column_by_expression("b", "a + 1")

    assert to_ddl(schema.build(), "flink") == to_ddl(resolved, "flink")


def test_parts_that_sql_cannot_express_are_losses() -> None:
    schema = (
        Schema.new_builder()
        .column("a", "INT NOT NULL")
        .with_comment("")
        .primary_key("a")
        .index("a")
        .build()
    )
    table = CatalogTable(
        schema, comment="", snapshot=7, distribution=TableDistribution.of_hash([], 3)
    )

    assert sorted(loss.path for loss in ddl_losses(table, "flink")) == [
        ("a",), ("distribution",), ("index",), ("table",), ("table",)
    ]  # fmt: skip
    assert "DISTRIBUTED INTO 3 BUCKETS" in to_ddl(table, "flink")


@pytest.mark.parametrize(
    ("schema", "path", "code"),
    [
        (Schema.new_builder().column("a\nb", "INT").build(), ("t",), "name-not-supported"),
        (Schema.new_builder().column("", "INT").build(), ("t",), "name-not-supported"),
        (Schema.new_builder().column("a", "INT").build(), ("t\r",), "name-not-supported"),
        (Schema.new_builder().column("a", "INT").build(), ("", "t"), "name-not-supported"),
        (Schema.new_builder().column("a", "INT").build(), tuple("abcd"), "name-not-supported"),
        (Schema.new_builder().column("a", "NULL").build(), ("t",), "type-not-supported"),
        (Schema.new_builder().column("a", "ROW<`x\ny` INT>").build(), ("t",),
         "type-not-supported"),
        (Schema.new_builder().column_by_expression("a", "1, b INT").build(), ("t",), "syntax"),
    ],
)  # fmt: skip
def test_what_flink_cannot_read_is_refused(
    schema: Schema, path: tuple[str, ...], code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        to_ddl(schema, "flink", path)
    assert codes(caught.value) == [code]


def test_a_type_in_a_string_cannot_add_a_column() -> None:
    schema = Schema.new_builder().column("a", "INT COMMENT 'x'").build()
    with pytest.raises(SchemaCoreError):
        to_ddl(schema, "flink")


def test_functions_that_are_not_known_are_written() -> None:
    schema = Schema.new_builder().column("a", "INT").column_by_expression("b", "mine(a)").build()

    assert "`b` AS `mine`(`a`)" in to_ddl(schema, "flink")


# --- secrets --------------------------------------------------------------------------------------


def test_secrets_are_masked_on_request() -> None:
    table = read_table(STATEMENT, "flink").table
    shown = to_ddl(table, "flink", mask_secrets=True, secret_keys=["Connector"])

    assert "hunter2" not in shown
    assert "letmein" not in shown
    assert "'connector' = '******'" in shown
    assert "hunter2" not in " ".join(map(str, ddl_losses(table, "postgres")))


def test_masked_values_are_not_read_as_real_ones() -> None:
    masked = to_ddl(read_table(STATEMENT, "flink").table, "flink", mask_secrets=True)
    with pytest.raises(SchemaCoreError) as caught:
        read_table(masked, "flink")
    first, *_ = caught.value.diagnostics

    assert codes(caught.value) == ["invalid-option-value"]
    assert (first.line, first.column) == (15, 3)
    assert from_ddl(masked, "flink") == from_ddl(STATEMENT, "flink")
    with pytest.raises(SchemaCoreError) as several:
        read_tables(masked, "flink", strict=True)
    assert codes(several.value) == ["invalid-option-value"]


def test_masked_values_are_not_written_as_real_ones() -> None:
    schema = Schema.new_builder().column("a", "INT").build()
    table = CatalogTable(schema, options={"password": "******"})
    with pytest.raises(SchemaCoreError) as caught:
        to_ddl(table, "flink")

    assert codes(caught.value) == ["invalid-option-value"]
    assert "******" in to_ddl(table, "flink", mask_secrets=True)


# --- scripts --------------------------------------------------------------------------------------

SCRIPT = """
SET 'table.local-time-zone' = 'UTC';
CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'password' = 'hunter2');
USE CATALOG c;
USE d;
CREATE TABLE a (x INT) WITH ('connector' = 'x');
CREATE TABLE IF NOT EXISTS a (y INT) WITH ('connector' = 'x');
CREATE TABLE e.b (x INT) WITH ('connector' = 'x');
CREATE TABLE gone (x INT) WITH ('connector' = 'x');
DROP TABLE IF EXISTS gone;
CREATE VIEW v AS SELECT x FROM a;
INSERT INTO a VALUES (1);
CREATE OR REPLACE TABLE e.b (z INT) WITH ('connector' = 'x');
"""


def test_a_script_gives_the_tables_that_it_leaves() -> None:
    script = read_tables(SCRIPT, "flink")

    assert {path: [column.name for column in table.schema.columns] for path, table in
            script.by_path.items()} == {("c", "d", "a"): ["x"], ("c", "e", "b"): ["z"]}  # fmt: skip
    (catalog, view) = [loss.source for loss in script.losses]
    assert "CREATE CATALOG" in catalog
    assert "hunter2" not in catalog
    assert "CREATE VIEW" in view


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("CREATE TABLE a (x INT);\nCREATE TABLE a (x INT)", "table-exists", (2, 14)),
        ("CREATE TABLE a (x INT);\nALTER TABLE a DROP y", "unknown-column", (2, 20)),
        (
            "CREATE TABLE a (x INT);CREATE TABLE b (x INT);\nALTER TABLE a RENAME TO b",
            "table-exists",
            (2, 1),
        ),
        ("CREATE TABLE a (x INT);\nCREATE TABLE b LIKE a", "missing-columns", (2, 14)),
        ("CREATE TABLE a AS SELECT 1", "missing-columns", (1, 14)),
        ("CREATE TABLE a (x INT, y AS)", "syntax", (1, 28)),
        ("CREATE TABLE a (x INT);\nDROP DATABASE d;\nnonsense", "syntax", (3, 1)),
        ("SELECT 1", "invalid-statement", (1, 1)),
        ("CREATE TABLE a (x INT); DROP TABLE a", "invalid-statement", (1, 1)),
    ],
)
def test_what_is_not_understood_is_refused(text: str, code: str, place: tuple[int, int]) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        read_tables(text, "flink", strict=True)
    (one,) = caught.value.diagnostics

    assert (one.code, (one.line, one.column)) == (code, place)


def test_changes_of_tables_are_applied() -> None:
    script = read_tables(
        "CREATE TABLE d.a (x INT) WITH ('k' = 'v'); ALTER TABLE d.a ADD (y INT, z AS x + 1);"
        "ALTER TABLE d.a MODIFY x BIGINT FIRST; ALTER TABLE d.a RENAME y TO w;"
        "ALTER TABLE d.a SET ('l' = 'm'); ALTER TABLE d.a RESET ('k'); ALTER TABLE d.a RENAME TO b;"
        "ALTER TABLE IF EXISTS d.a ADD q INT; ALTER TABLE e.f ADD q INT",
        "flink",
    )

    assert to_ddl(script.by_path["d", "b"], "flink") == (
        "CREATE TABLE `t` (\n  `x` BIGINT,\n  `w` INT,\n  `z` AS `x` + 1\n)\nWITH (\n  'l' = 'm'\n)"
    )
    (lost,) = script.losses
    assert "`e`.`f`" in lost.source


def test_too_many_changes_of_a_wide_table_are_refused() -> None:
    columns = ", ".join(f"c{number} INT" for number in range(20_000))
    changes = "ALTER TABLE t SET ('k' = 'v');" * 600
    with pytest.raises(SchemaCoreError) as caught:
        read_tables(f"CREATE TABLE t ({columns}); {changes}", "flink", strict=True)

    assert caught.value.code == "limit-exceeded"


def test_a_masked_value_of_a_change_is_refused() -> None:
    text = "CREATE TABLE a (x INT);\nALTER TABLE a SET ('password' = '******')"
    with pytest.raises(SchemaCoreError) as caught:
        read_tables(text, "flink", strict=True)
    (one,) = caught.value.diagnostics

    assert (one.code, one.line, one.column) == ("invalid-option-value", 2, 20)
    assert read_tables(f"{text}; ALTER TABLE a RESET ('password')", "flink").losses == ()


def test_a_dropped_database_takes_its_tables() -> None:
    script = read_tables(
        "CREATE TABLE d.a (x INT); CREATE TABLE e.b (x INT); DROP DATABASE d CASCADE", "flink"
    )

    assert list(script.by_path) == [("e", "b")]


def test_all_errors_of_a_script_are_reported() -> None:
    with pytest.raises(SchemaCoreError) as caught:
        read_tables(
            "CREATE TABLE a (x NOPE(1)); CREATE TABLE b (; CREATE TABLE c LIKE a",
            "flink",
            strict=True,
        )

    assert len(codes(caught.value)) == 3


def test_a_table_written_for_another_engine_reports_what_is_lost() -> None:
    table = read_table(STATEMENT, "flink").table
    lost = {loss.path[0] for loss in ddl_losses(table, "postgres")}

    assert {"partitions", "distribution", "options", "watermark", "at"} <= lost


@pytest.mark.parametrize(
    ("dialect", "clause"),
    [
        ("postgres", ";\nCOMMENT ON TABLE \"s\".\"t\" IS 'it''s'"),
        ("mysql", " COMMENT='it\\'s'"),
        ("snowflake", " COMMENT = 'it\\'s'"),
        ("hive", " COMMENT 'it\\'s'"),
        ("clickhouse", " ENGINE = MergeTree ORDER BY tuple() COMMENT 'it\\'s'"),
        ("bigquery", " OPTIONS(description='it\\'s')"),
    ],
)
def test_comments_of_tables_are_written_for_other_engines(dialect: str, clause: str) -> None:
    table = CatalogTable(Schema.new_builder().column("a", "DATE").build(), comment="it's")

    assert to_ddl(table, dialect, ("s", "t")).endswith(f"\n){clause}")
