"""Rows are validated against a new definition, and rewritten to it in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.catalog import CatalogTable
from schema_core.catalogs import SqlCatalog
from schema_core.cli.app import application
from schema_core.errors import SchemaCoreError
from schema_core.migration import ValidationReport, rewrite_table, validate_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLD = """
  id BIGINT, name STRING, amount BIGINT, at_ TIMESTAMP(6), item ROW<sku STRING, n BIGINT>,
  tags ARRAY<INT>, day_ STRING
"""
ROWS = """
  (1, 'a', 5000000000, TIMESTAMP '2020-01-01 00:00:00.123456', ROW('x', 1), ARRAY[1], 'mon'),
  (2, 'bcd', 7, TIMESTAMP '2020-01-01 00:00:00.123', ROW('y', 5000000000), ARRAY[2], 'mon'),
  (2, CAST(NULL AS STRING), 8, CAST(NULL AS TIMESTAMP(6)),
   CAST(NULL AS ROW<sku STRING, n BIGINT>), CAST(NULL AS ARRAY<INT>), 'tue')
"""


@pytest.fixture
def environment(spark: SparkSession, tmp_path: Path) -> TableEnvironment:
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
    url, rows = f"sqlite:///{tmp_path}/shop.db", f"{tmp_path}/managed"
    result.register_catalog("shop", SqlCatalog("shop", url, warehouse=rows))
    result.use_catalog("shop")
    return result


def create(environment: TableEnvironment, folder: Path | None) -> None:
    """Create the table t, managed by the catalog without a folder."""
    options = "" if folder is None else f"'connector' = 'filesystem', 'path' = '{folder}/t', "
    environment.execute_sql(
        f"CREATE TABLE t ({OLD}) PARTITIONED BY (day_) WITH ({options}'format' = 'parquet')"
    )
    environment.execute_sql(f"INSERT INTO t VALUES {ROWS}").wait()


def columns(**types: str) -> Schema:
    builder = Schema.new_builder()
    for name, type_ in types.items():
        builder.column(name, type_)
    return builder.build()


SAME = {
    "id": "BIGINT", "name": "STRING", "amount": "BIGINT", "at_": "TIMESTAMP(6)",
    "item": "ROW<sku STRING, n BIGINT>", "tags": "ARRAY<INT>", "day_": "STRING",
}  # fmt: skip


def problems(report: ValidationReport) -> list[tuple[str, str, int]]:
    return [(problem.kind, ".".join(problem.column), problem.rows) for problem in report.problems]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"id": "BIGINT NOT NULL"}, []),
        ({"name": "STRING NOT NULL"}, [("null-value", "name", 1)]),
        ({"amount": "INT"}, [("value-changed", "amount", 1)]),
        ({"amount": "DOUBLE"}, []),
        ({"amount": "BOOLEAN"}, [("value-changed", "amount", 3)]),
        ({"amount": "STRING"}, []),
        ({"amount": "VARCHAR(2)"}, [("too-long", "amount", 1)]),
        ({"name": "CHAR(2)"}, [("too-long", "name", 1)]),
        ({"name": "INT"}, [("cast-failed", "name", 2)]),
        ({"name": "DATE"}, [("cast-failed", "name", 2)]),
        ({"name": "VARBINARY(2)"}, [("value-changed", "name", 1)]),
        ({"at_": "TIMESTAMP(3)"}, [("value-changed", "at_", 1)]),
        ({"amount": "BYTES"}, [("not-castable", "amount", 3)]),
        ({"extra": "INT"}, []),
        ({"extra": "INT NOT NULL"}, [("missing-value", "extra", 3)]),
        ({"item": "ROW<sku STRING NOT NULL, n INT>"}, [("value-changed", "item.n", 1)]),
        ({"item": "ROW<n BIGINT>"}, [("value-dropped", "item.sku", 2)]),
        ({"item": "ROW<sku STRING, n BIGINT, m INT NOT NULL>"}, [("missing-value", "item.m", 2)]),
        ({"item": "ROW<sku STRING, n BIGINT> NOT NULL"}, [("null-value", "item", 1)]),
        ({"tags": None}, [("value-dropped", "tags", 2)]),
    ],
)  # fmt: skip
def test_rows_are_counted_by_kind_of_problem(
    environment: TableEnvironment,
    tmp_path: Path,
    changed: dict[str, str | None],
    expected: Sequence[tuple[str, str, int]],
) -> None:
    create(environment, tmp_path)
    types = {name: value for name, value in (SAME | changed).items() if value is not None}

    report = validate_rows(environment, "t", columns(**types))

    assert expected == problems(report)
    assert 3 == report.rows
    assert () == report.unchecked
    assert 2 <= report.files <= 3
    assert ["t"] == environment.list_tables()


def test_files_and_samples_of_a_problem(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, tmp_path)

    (one,) = validate_rows(environment, "t", columns(**SAME | {"name": "INT"})).problems

    assert 2 == sum(one.files.values())
    assert all("/day_=mon/" in file for file in one.files)
    assert {"'a'", "'bcd'"} == {sample.partition(" in ")[0] for sample in one.samples}
    text = str(validate_rows(environment, "t", columns(**SAME | {"name": "INT"}), samples=0))
    assert "name: 2 rows: it cannot be cast from STRING to INT [cast-failed]" in text
    assert "such as" not in text


def test_duplicates_of_the_new_key(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, tmp_path)
    types = SAME | {"id": "INT NOT NULL", "day_": "STRING NOT NULL"}
    single = Schema.new_builder().from_schema(columns(**types)).primary_key("id").build()
    both = Schema.new_builder().from_schema(columns(**types)).primary_key("id", "day_").build()

    (one,) = validate_rows(environment, "t", single).problems

    assert ("duplicate-key", ("id",), 1, ("2: 2 rows",)) == (
        one.kind, one.column, one.rows, one.samples,
    )  # fmt: skip
    assert [] == problems(validate_rows(environment, "t", both))


def test_elements_are_reported_as_unchecked(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, tmp_path)

    report = validate_rows(environment, "t", columns(**SAME | {"tags": "ARRAY<SMALLINT>"}))

    assert ("tags: from ARRAY<INT> to ARRAY<SMALLINT>",) == report.unchecked
    assert "not checked: tags" in str(report)


@pytest.mark.parametrize("is_managed", [False, True], ids=["a path", "managed"])
def test_rows_are_rewritten(
    environment: TableEnvironment, tmp_path: Path, is_managed: bool
) -> None:
    create(environment, None if is_managed else tmp_path)
    new = (
        Schema.new_builder()
        .column("key", "BIGINT NOT NULL")
        .column("amount", "DECIMAL(20, 1)")
        .column("item", "ROW<n STRING, sku STRING, more INT>")
        .column_by_expression("twice", "amount * 2")
        .column("day_", "STRING")
        .build()
    )
    accept = ["value-dropped"]

    rewrite_table(environment, "t", new, renames={"id": "key"}, accept=accept).wait()

    schema = environment.from_path("t").get_resolved_schema()
    assert ["key", "amount", "item", "twice", "day_"] == schema.get_column_names()
    with environment.execute_sql("SELECT key, twice, item, day_ FROM t").collect() as rows:
        result = sorted([str(value) for value in row] for row in rows)
    assert [
        ["1", "10000000000.0", "<Row('1', 'x', None)>", "mon"],
        ["2", "14.0", "<Row('5000000000', 'y', None)>", "mon"],
        ["2", "16.0", "None", "tue"],
    ] == result


@pytest.mark.parametrize(
    ("changed", "accept"),
    [
        ({"name": "STRING NOT NULL"}, ()),
        ({"amount": "INT"}, ()),
        ({"amount": "INT"}, ("too-long",)),
        ({"tags": None}, ("value-changed",)),
    ],
)
def test_rows_that_do_not_fit_are_not_rewritten(
    environment: TableEnvironment,
    tmp_path: Path,
    changed: dict[str, Any],
    accept: Sequence[str],
) -> None:
    create(environment, tmp_path)
    types = {name: value for name, value in (SAME | changed).items() if value is not None}

    with pytest.raises(SchemaCoreError) as caught:
        rewrite_table(environment, "t", columns(**types), accept=accept)

    assert "rows-do-not-fit" == caught.value.code
    assert list(SAME) == environment.from_path("t").get_resolved_schema().get_column_names()


def test_what_fails_cannot_be_accepted(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, tmp_path)
    for kind in ("null-value", "unknown"):
        with pytest.raises(SchemaCoreError) as caught:
            rewrite_table(environment, "t", columns(**SAME), accept=[kind])
        assert "invalid-argument" == caught.value.code


def test_a_definition_with_other_partitions(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, tmp_path)
    new = CatalogTable(
        columns(**SAME),
        ("name",),
        options={"connector": "filesystem", "path": f"{tmp_path}/t", "format": "orc"},
    )

    rewrite_table(environment, "t", new).wait()

    assert [] == problems(validate_rows(environment, "t", new))
    with environment.execute_sql("SELECT COUNT(*), COUNT(name) FROM t").collect() as rows:
        assert [(3, 2)] == [tuple(row) for row in rows]


def test_what_has_no_cast_is_never_replaced_by_null(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/n', 'format' = 'parquet'"
    environment.execute_sql(
        f"CREATE TABLE n (a ARRAY<ROW<x INT>>, `r` ROW<`a.b` INT>) WITH ({options})"
    )
    environment.execute_sql("INSERT INTO n VALUES (ARRAY[ROW(1)], ROW(2))").wait()
    wanted = columns(a="ARRAY<ROW<x INT, y INT>>", r="ROW<`a.b` INT NOT NULL>")

    report = validate_rows(environment, "n", wanted)
    assert [("not-castable", "a", 1)] == problems(report)
    with pytest.raises(SchemaCoreError) as caught:
        rewrite_table(environment, "n", wanted, accept=["value-dropped", "not-checked"])
    assert "rows-do-not-fit" == caught.value.code


def test_what_is_not_checked_must_be_accepted(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, tmp_path)
    wanted = columns(**SAME | {"tags": "ARRAY<BIGINT>"})

    with pytest.raises(SchemaCoreError) as caught:
        rewrite_table(environment, "t", wanted)
    assert "rows-do-not-fit" == caught.value.code
    rewrite_table(environment, "t", wanted, accept=["not-checked"]).wait()
    with environment.execute_sql("SELECT tags FROM t WHERE id = 1").collect() as rows:
        assert [([1],)] == [tuple(row) for row in rows]


def test_errors_name_the_table_and_not_the_query(environment: TableEnvironment) -> None:
    environment.execute_sql(
        "CREATE TABLE gone (id INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere/gone',"
        " 'format' = 'parquet')"
    )
    with pytest.raises(SchemaCoreError) as caught:
        validate_rows(environment, "gone", columns(id="INT NOT NULL"))

    assert "read table shop.default.gone" in caught.value.path
    assert "gone__" not in str(caught.value)
    assert caught.value.text is None


def test_renames_of_fields_are_refused(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, tmp_path)
    wanted = columns(**SAME | {"item": "ROW<code STRING, n BIGINT>"})

    renames: dict[tuple[str, ...], str] = {("item", "sku"): "code"}

    with pytest.raises(SchemaCoreError) as caught:
        rewrite_table(environment, "t", wanted, renames=renames)

    assert "invalid-argument" == caught.value.code


def test_views_are_refused(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE VIEW v AS SELECT 1 AS a")

    with pytest.raises(SchemaCoreError) as caught:
        validate_rows(environment, "v", columns(a="INT"))

    assert "wrong-object-type" == caught.value.code


def test_a_managed_table_that_was_never_written_has_no_rows(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (a BIGINT)")
    new = CatalogTable(columns(a="INT NOT NULL"))
    report = validate_rows(environment, "t", new)

    assert (0, []) == (report.rows, problems(report))
    rewrite_table(environment, "t", new).wait()
    assert "`a` INT NOT NULL" in environment.get_create_statement("t")
    assert [] == list(environment.execute_sql("SELECT * FROM t").collect())


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("csv", None),
        ("json", None),
        ("parquet", "parquet does not read INT as STRING (int to string)"),
        ("orc", "orc does not read INT as STRING (int to string)"),
        ("avro", "avro-file does not read INT as STRING (int to string)"),
    ],
)
def test_the_report_says_whether_the_files_follow(
    environment: TableEnvironment, tmp_path: Path, form: str, reason: str | None
) -> None:
    options = f"'type' = 'sql', 'url' = 'sqlite://', 'warehouse' = '{tmp_path}'"
    environment.execute_sql(
        f"CREATE CATALOG {form} WITH ({options}, 'warehouse.format' = '{form}')"
    )
    path = f"{form}.`default`.t"
    environment.execute_sql(f"CREATE TABLE {path} (a INT)")

    report = validate_rows(environment, path, columns(a="STRING"))

    assert reason == report.rewrite
    assert ("requires a rewrite" in str(report)) == (reason is not None)


def test_the_commands(spark: SparkSession, tmp_path: Path) -> None:
    assert spark is not None
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "setup.sql").write_text(
        "CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///${folder}/shop.db');\n"
        "USE CATALOG shop;"
    )
    catalog = SqlCatalog("shop", f"sqlite:///{tmp_path}/shop.db")
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
    environment.register_catalog("shop", catalog)
    environment.use_catalog("shop")
    create(environment, tmp_path)
    wanted = tmp_path / "tables.sql"
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'parquet'"
    wanted.write_text(
        f"CREATE TABLE t (key INT, amount INT, day_ STRING) PARTITIONED BY (day_) WITH ({options});"
    )

    def run(command: str, *more: str, rename: str = "id=key") -> tuple[int, str]:
        given = ["--directory", str(tmp_path / "migrations"), "--define", f"folder={tmp_path}"]
        given += ["--from", str(wanted), "--rename", rename, *more]
        result = CliRunner().invoke(application(), ["migrate", command, "t", *given])
        return result.exit_code, result.output

    status, output = run("validate")
    assert 1 == status
    assert "amount: 1 row: INT has another value [value-changed]" in output
    status, again = run("validate", rename="t.id=key")
    assert (1, True) == (status, "[value-changed]" in again)
    refused, problem = run("validate", rename="id")
    assert (2, True) == (refused, "requires COLUMN=NEW or t.COLUMN=NEW" in problem)
    status, output = run("rewrite", "--accept", "value-dropped")
    assert (1, True) == (status, "error[rows-do-not-fit]" in output)
    status, output = run("rewrite", "--accept", "value-dropped", "--accept", "value-changed")
    assert 0 == status, output
    assert output.endswith("rewritten t\n")
    with environment.execute_sql("SELECT * FROM t WHERE key = 2").collect() as rows:
        assert [(2, 7, "mon"), (2, 8, "tue")] == sorted(tuple(row) for row in rows)
