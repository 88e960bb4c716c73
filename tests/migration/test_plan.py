"""Migration plans: statements by target, risks, undo, JSON, and application to a catalog."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from fuzz.migration_plans import check_flink, checks, drawn_pair
from fuzz.postgres_server import server, why_not
from schema_core import EnvironmentSettings, Schema, SchemaCoreError, SchemaError, TableEnvironment
from schema_core.base.paths import UnresolvedPath
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.statistics import CatalogTableStatistics
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.migration import MigrationPlan, apply_plan, plan


def schema(*columns: tuple[str, str]) -> Schema:
    builder = Schema.new_builder()
    for name, type_ in columns:
        builder.column(name, type_)
    return builder.build()


OLD = schema(("id", "BIGINT NOT NULL"), ("name", "STRING"))


@pytest.mark.parametrize(
    ("target", "new", "statements"),
    [
        ("flink", schema(("id", "BIGINT NOT NULL"), ("x", "INT"), ("name", "STRING")),
         ["ALTER TABLE `t` ADD `x` INT AFTER `id`"]),
        ("flink", schema(("id", "BIGINT"), ("name", "STRING")),
         ["ALTER TABLE `t` MODIFY `id` BIGINT"]),
        ("postgres", schema(("id", "BIGINT"), ("name", "VARCHAR(9)")),
         ['ALTER TABLE "t" ALTER COLUMN "id" DROP NOT NULL',
          ('ALTER TABLE "t" ALTER COLUMN "name" TYPE varchar(9) USING CASE'
           ' WHEN CHAR_LENGTH("name") <= 9 THEN CAST("name" AS varchar(9))'
           " WHEN CAST('cannot convert STRING to VARCHAR(9): ' || \"name\" AS integer) = 0"
           " THEN CAST(NULL AS varchar(9)) END")]),
        ("postgres", schema(("id", "BIGINT NOT NULL"), ("name", "STRING NOT NULL")),
         ['ALTER TABLE "t" ALTER COLUMN "name" SET NOT NULL']),
        ("iceberg", schema(("x", "ROW<a INT>"), ("id", "BIGINT NOT NULL"), ("name", "STRING")),
         ["ALTER TABLE `t` ADD COLUMN `x` struct<`a`: int> FIRST"]),
        ("iceberg", schema(("name", "STRING"), ("id", "BIGINT NOT NULL")),
         ["ALTER TABLE `t` ALTER COLUMN `name` FIRST"]),
        ("spark", schema(("id", "BIGINT NOT NULL"), ("name", "STRING"), ("x", "DATE")),
         ["ALTER TABLE `t` ADD COLUMNS (`x` date)"]),
    ],
)  # fmt: skip
def test_statements(target: str, new: Schema, statements: list[str]) -> None:
    result = plan(OLD, new, target)

    assert statements == list(result.statements)
    assert result.rewrite is None


def test_iceberg_alters_nested_fields_by_their_path() -> None:
    old = schema(("r", "ROW<a INT, b STRING, c ARRAY<ROW<d INT>>>"))
    new = schema(("r", "ROW<z STRING, a BIGINT, c ARRAY<ROW<d INT, e DATE>>>"))
    renames: dict[tuple[str, ...], str] = {("r", "b"): "z"}
    result = plan(old, new, "iceberg", renames=renames)

    assert [
        "ALTER TABLE `t` ALTER COLUMN `r`.`a` TYPE bigint",
        "ALTER TABLE `t` ADD COLUMN `r`.`c`.`element`.`e` date",
        "ALTER TABLE `t` RENAME COLUMN `r`.`b` TO `z`",
        "ALTER TABLE `t` ALTER COLUMN `r`.`z` FIRST",
    ] == list(result.statements)
    assert () == result.risks


def test_iceberg_has_partition_and_identifier_fields() -> None:
    old = CatalogTable(OLD, ("name",))
    new = CatalogTable(schema(("id", "BIGINT NOT NULL"), ("name", "STRING")), ("id",))
    keyed = Schema.new_builder().from_schema(new.schema).primary_key("id").build()

    assert [
        "ALTER TABLE `t` DROP PARTITION FIELD `name`",
        "ALTER TABLE `t` ADD PARTITION FIELD `id`",
    ] == list(plan(old, new, "iceberg").statements)
    assert ["ALTER TABLE `t` SET IDENTIFIER FIELDS `id`"] == list(
        plan(OLD, keyed, "iceberg").statements
    )


def test_iceberg_reports_not_null_that_it_cannot_reach() -> None:
    result = plan(OLD, schema(("id", "BIGINT NOT NULL"), ("name", "STRING NOT NULL")), "iceberg")

    assert () == result.statements
    assert any(loss.startswith("name: NOT NULL is dropped") for loss in result.losses)


def test_a_rewrite_converts_every_column() -> None:
    old = schema(("id", "STRING"), ("r", "ROW<a INT, b INT>"), ("gone", "INT"))
    new = schema(("id", "BIGINT"), ("r", "ROW<b BIGINT, c DATE>"), ("more", "INT NOT NULL"))
    result = plan(old, new)

    assert result.rewrite is not None
    assert [
        "CREATE TABLE `t__new`",
        "INSERT INTO `t__new` (`id`, `r`, `more`)",
        "ALTER TABLE `t` RENAME TO `t__old`",
        "ALTER TABLE `t__new` RENAME TO `t`",
    ] == [statement.partition("\n")[0].removesuffix(" (") for statement in result.statements]
    assert "THEN CAST(`id` AS BIGINT) ELSE" in result.statements[1]
    assert "ROW(CAST(`r`.`b` AS BIGINT), CAST(NULL AS DATE))" in result.statements[1]
    assert {("field-dropped", ("gone",)), ("required-field-added", ("more",))} <= {
        risk[:2] for risk in result.risks
    }


@pytest.mark.parametrize("target", ["flink", "spark", "iceberg"])
def test_a_rewrite_moves_the_values_of_renamed_fields(target: str) -> None:
    old = schema(("id", "STRING"), ("r", "ROW<a INT, c ARRAY<ROW<d INT>>>"))
    new = schema(("id", "BIGINT"), ("r", "ROW<b INT, c ARRAY<ROW<d INT>>>"))
    renames: dict[tuple[str, ...], str] = {("r", "a"): "b"}
    result = plan(old, new, target, renames=renames)

    assert "`r`.`a`" in result.statements[1]
    assert "NULL AS INT" not in result.statements[1].replace("CAST(NULL AS INT) WHEN", "")
    assert "field-dropped" not in {risk.kind for risk in result.risks}


def test_the_value_of_a_computed_column_is_converted() -> None:
    builder = Schema.new_builder().column("a", "BIGINT").column_by_expression("b", "a + 1")
    result = plan(builder.build(), schema(("a", "STRING"), ("b", "SMALLINT")))

    assert "TRY_CAST(TRY_CAST(`b` AS SMALLINT) AS BIGINT) = `b`" in result.statements[1]


def test_what_the_target_cannot_hold_is_a_loss() -> None:
    builder = Schema.new_builder().from_schema(OLD).column("ts", "TIMESTAMP(3)")
    builder.watermark("ts", "ts").column_by_metadata("m", "STRING", None, is_virtual=True)
    builder.column_by_expression("p", "PROCTIME()")
    result = plan(OLD, CatalogTable(builder.build(), options={"connector": "x"}), "postgres")

    assert ['ALTER TABLE "t" ADD COLUMN "ts" timestamp(3)'] == list(result.statements)
    for what in ("WATERMARK", "m:", "p:", "options.connector"):
        assert any(what in loss for loss in result.losses), what


def test_steps_that_keep_the_rows_can_be_undone() -> None:
    new = schema(("key", "BIGINT NOT NULL"), ("x", "INT"))
    result = plan(OLD, new, "postgres", renames={"id": "key"})
    undone = {step.statements[0].split(" ", 3)[3]: step.undo for step in result.steps}

    assert {
        'RENAME COLUMN "id" TO "key"': ('ALTER TABLE "t" RENAME COLUMN "key" TO "id"',),
        'ADD COLUMN "x" integer': ('ALTER TABLE "t" DROP COLUMN "x"',),
        'DROP COLUMN "name"': None,
    } == undone


def test_rows_are_estimated_from_statistics() -> None:
    new = schema(("id", "STRING"), ("name", "STRING"))
    result = plan(OLD, new, "postgres", statistics=CatalogTableStatistics(1000, 1, 1, 1))

    assert [1000] == [step.rows for step in result.steps]
    assert "rewrites 1,000 rows" in str(result)


def test_secrets_are_neither_shown_nor_stored() -> None:
    old, new = (
        CatalogTable(OLD, options={"connector": "jdbc", "password": one}) for one in ("one", "two")
    )
    result = plan(old, new)

    assert () == result.statements
    assert "one" not in {*result.old.values()}
    assert "two" not in result.to_json()
    assert ("options.password: its new value is secret: set it with ALTER TABLE ... SET",) == (
        result.losses
    )


def test_a_plan_is_data() -> None:
    result = plan(OLD, schema(("id", "BIGINT NOT NULL")), "postgres")
    text = result.to_json()

    assert result == MigrationPlan.from_json(text)
    assert result.digest == json.loads(text)["digest"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", "invalid-plan"),
        ("{", "invalid-plan"),
        ("[" * 100_000, "invalid-plan"),
        (" " * 16_000_001, "invalid-plan"),
        ('{"format": "schema-core.migration-plan", "version": 2}', "version-not-supported"),
        ('{"format": "schema-core.migration-plan", "version": 1}', "invalid-plan"),
    ],
)
def test_other_text_is_not_a_plan(text: str, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        MigrationPlan.from_json(text)

    assert code == caught.value.code


@pytest.mark.parametrize("key", ["target", "path", "old", "new", "steps", "losses", "rewrite"])
def test_a_changed_plan_is_refused(key: str) -> None:
    content = json.loads(plan(OLD, schema(("id", "BIGINT NOT NULL"))).to_json())
    for other in (None, "flink", ["x"], {"x": "y"}):
        if content[key] != other:
            with pytest.raises(SchemaError) as caught:
                MigrationPlan.from_json(json.dumps({**content, key: other}))
            assert caught.value.code in ("invalid-plan", "invalid-plan")


# --- application ---------------------------------------------------------------------------------


def environment() -> TableEnvironment:
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())
    result.execute_sql(
        "CREATE TABLE t (id BIGINT NOT NULL, name STRING) "
        "WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', "
        "'password' = 'hunter2')"
    )
    return result


def current(env: TableEnvironment) -> CatalogTable:
    path = UnresolvedPath(("t",)).qualify(env.get_current_catalog(), env.get_current_database())
    result = env.catalog_manager.get(path).table
    assert isinstance(result, CatalogTable)
    return result


def test_a_plan_is_applied_to_the_table_that_it_was_made_for() -> None:
    env = environment()
    old = current(env)
    new = CatalogTable(
        schema(("id", "BIGINT NOT NULL"), ("name", "STRING"), ("x", "INT")), options=old.options
    )
    result = MigrationPlan.from_json(plan(old, new).to_json())
    apply_plan(env, result)

    table = current(env)
    assert ["id", "name", "x"] == [column.name for column in table.schema.columns]
    assert "hunter2" == table.options["password"]
    with pytest.raises(SchemaError) as caught:
        apply_plan(env, result)
    assert "plan-outdated" == caught.value.code


@pytest.mark.parametrize(
    ("target", "type_", "code"),
    [
        ("postgres", "INT", "migration-not-supported"),
        ("flink", "BIGINT", "migration-not-supported"),
    ],
)
def test_other_plans_are_not_applied(target: str, type_: str, code: str) -> None:
    env = environment()
    new = schema(("id", "BIGINT NOT NULL"), ("name", type_))
    with pytest.raises(SchemaCoreError) as caught:
        apply_plan(env, plan(OLD, new, target))

    assert code == caught.value.code


@pytest.mark.parametrize(
    ("form", "new", "renames"),
    [
        ("parquet", ("b INT", "r ROW<x INT>"), {"a": "b"}),
        ("csv", ("b INT", "r ROW<x INT>"), {"a": "b"}),
        ("orc", ("a INT", "r ROW<y INT>"), {("r", "x"): "y"}),
        ("json", ("b INT", "r ROW<x INT>", "a INT"), {"a": "b"}),
    ],
)
def test_renamed_columns_of_files_are_planned_as_they_are_read(
    form: str, new: tuple[str, ...], renames: Any
) -> None:
    options = {"connector": "filesystem", "path": "/data/t", "format": form}
    old, wanted = (
        CatalogTable(schema(*((column[0], column[2:]) for column in columns)), options=options)
        for columns in (("a INT", "r ROW<x INT>"), new)
    )

    result = plan(old, wanted, renames=renames)

    assert result.rewrite is None
    assert () == result.risks


# --- executed ------------------------------------------------------------------------------------


def test_statements_lead_to_the_new_table_in_flink() -> None:
    """Every statement is executed; `fuzz/migration_plans.py` checks more pairs."""
    outcomes = [check_flink(*drawn_pair(Random(seed), for_flink=True)) for seed in range(40)]

    assert {"in place", "rewrite"} == set(outcomes)


def test_statements_lead_to_the_new_table_in_postgresql() -> None:
    """The columns and keys are those of a table that is created new, and rows survive."""
    if reason := why_not():
        pytest.skip(reason)
    with server() as reached:
        outcomes = list(checks("postgres", 25, 0, reached))

    assert "rows kept" in outcomes


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("STRING", "INT", "to change the type of column `price` from STRING to INT"),
        ("INT NOT NULL", "INT NOT NULL", None),
        ("ROW<a STRING>", "ROW<a INT>", "to change the type of "),
    ],
)
def test_a_change_without_a_statement_is_named_in_words(
    old: str, new: str, problem: str | None
) -> None:
    shown = str(plan(schema(("price", old)), schema(("price", new)), "spark"))

    assert "{" not in shown
    assert problem is None or problem in shown
