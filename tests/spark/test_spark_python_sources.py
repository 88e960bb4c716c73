"""The connectors `spark` and `python`: types are compared, and nothing is imported unasked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError, UnsupportedError

pytestmark = pytest.mark.spark

ALLOWED = "table.connectors.python.allowed-modules"


def create(environment: TableEnvironment, name: str, columns: str, **options: object) -> None:
    written = ", ".join(f"'{key.replace('__', '.')}' = '{v}'" for key, v in options.items())
    environment.execute_sql(f"CREATE TABLE {name} {columns} WITH ({written})")


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in environment.execute_sql(query).collect())


def refused(environment: TableEnvironment, statement: str) -> SchemaCoreError:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    return caught.value


# --- spark ---------------------------------------------------------------------------------

EVERY = {
    "BOOLEAN": "TRUE", "TINYINT": "CAST(1 AS TINYINT)", "SMALLINT": "CAST(2 AS SMALLINT)",
    "INT": "3", "BIGINT": "CAST(4 AS BIGINT)", "FLOAT": "CAST(1.5 AS FLOAT)", "DOUBLE": "2.5E0",
    "DECIMAL(5, 2)": "1.25", "CHAR(2)": "'ab'", "VARCHAR(5)": "'abc'", "STRING": "'x'",
    "BINARY(1)": "X'01'", "BYTES": "X'02'", "DATE": "DATE '2024-01-02'",
    "TIMESTAMP(3)": "TIMESTAMP '2024-01-02 03:04:05.123'",
    "TIMESTAMP_LTZ(6)": "CAST(TIMESTAMP '2024-01-02 03:04:05.123456' AS TIMESTAMP_LTZ(6))",
    "ARRAY<INT>": "ARRAY[1, 2]", "MAP<STRING, INT>": "MAP['k', 1]",
    "ROW<x INT, y ROW<z STRING>>": "ROW(1, ROW('q'))",
}  # fmt: skip


def test_every_type_comes_back(environment: TableEnvironment, tmp_path: Path) -> None:
    columns = ", ".join(f"c{i} {type_}" for i, type_ in enumerate(EVERY))
    query = "SELECT " + ", ".join(f"CAST({v} AS {type_})" for type_, v in EVERY.items())
    options = {"connector": "spark", "format": "parquet", "path": tmp_path / "p"}
    create(environment, "p", f"({columns})", **options, option__compression="gzip")
    environment.execute_sql(f"INSERT INTO p {query}")

    assert rows(environment, "SELECT * FROM p") == rows(environment, query)
    files = [path.name for path in (tmp_path / "p").glob("*.parquet")]
    assert [file for file in files if not file.endswith(".gz.parquet")] == []
    assert files


def test_types_are_compared(environment: TableEnvironment, tmp_path: Path) -> None:
    options = {"connector": "spark", "format": "parquet", "path": tmp_path / "p"}
    create(environment, "p", "(a INT, b STRING, t TIMESTAMP(6))", **options)
    environment.execute_sql("INSERT INTO p VALUES (1, 'x', TIMESTAMP '2024-01-02 03:04:05.123456')")
    create(environment, "other", "(a BIGINT, c INT, b INT)", **options)
    create(environment, "fewer", "(t TIMESTAMP(3))", **options)
    error = refused(environment, "SELECT * FROM other")

    assert [diagnostic.code for diagnostic in error.diagnostics] == ["schema-mismatch"] * 3
    assert "column 'a' is int in the data source, but BIGINT in the table" in str(error)
    assert "no column 'c'" in str(error)
    (read,) = rows(environment, "SELECT * FROM fewer")
    assert read[0].microsecond == 123000


def test_overwriting_and_partitions(environment: TableEnvironment, tmp_path: Path) -> None:
    options = {"connector": "spark", "format": "orc", "path": tmp_path / "p"}
    create(environment, "p", "(a INT, k INT) PARTITIONED BY (k)", **options)
    environment.execute_sql("INSERT INTO p VALUES (1, 1), (2, 2)")
    environment.execute_sql("INSERT INTO p PARTITION (k = 1) VALUES (3)")
    environment.execute_sql("INSERT OVERWRITE p VALUES (9, 2)")
    assert rows(environment, "SELECT * FROM p") == [(1, 1), (3, 1), (9, 2)]
    environment.execute_sql("INSERT OVERWRITE p PARTITION (k = 1) VALUES (7)")
    nothing = "INSERT OVERWRITE p PARTITION (k = 2) SELECT a FROM p WHERE a > 9"
    error = refused(environment, nothing)

    assert error.code == "unsupported-ability"
    assert rows(environment, "SELECT * FROM p") == [(7, 1), (9, 2)]
    plain = {**options, "path": tmp_path / "q"}
    create(environment, "q", "(a INT)", **plain)
    environment.execute_sql("INSERT INTO q VALUES (1)")
    environment.execute_sql("INSERT OVERWRITE q VALUES (2)")
    assert rows(environment, "SELECT * FROM q") == [(2,)]
    least = "SELECT v FROM (VALUES (3)) AS x (v) WHERE v < (SELECT a FROM q)"
    for query, value in (("SELECT a + 5 FROM q", 7), (least, 3)):
        environment.execute_sql(f"INSERT OVERWRITE q {query}")
        assert rows(environment, "SELECT * FROM q") == [(value,)]
    statement = (
        f"CREATE TABLE r WITH ('connector' = 'spark', 'format' = 'orc', 'path' = '{plain['path']}')"
    )
    assert refused(environment, f"{statement} AS SELECT 1 AS a").code == "target-not-empty"
    appending = statement.replace("path'", "sink.mode' = 'error', 'path'")
    assert "PATH_ALREADY_EXISTS" in str(refused(environment, f"{appending} AS SELECT 1 AS a"))


def test_a_schema_for_sources_without_one(environment: TableEnvironment, tmp_path: Path) -> None:
    options = {"connector": "spark", "format": "csv", "path": tmp_path / "p"}
    create(environment, "p", "(a INT, b STRING)", **options, option__header="true", schema="table")
    environment.execute_sql("INSERT INTO p VALUES (1, 'x')")

    assert rows(environment, "SELECT * FROM p") == [(1, "x")]


def test_a_table_of_a_catalog(environment: TableEnvironment, spark: Any) -> None:
    try:
        environment.execute_sql(
            "CREATE TABLE p WITH ('connector' = 'spark', 'table' = 'default.of_spark')"
            " AS SELECT 1 AS a, 'x' AS b"
        )
        create(environment, "q", "(b STRING, a INT)", connector="spark", table="default.of_spark")
        environment.execute_sql("INSERT INTO q VALUES ('y', 2)")
        assert rows(environment, "SELECT * FROM p") == [(1, "x"), (2, "y")]
        create(environment, "r", "(a INT)", connector="spark", table="default.of_spark")
        assert "further columns: 'b'" in str(refused(environment, "INSERT INTO r VALUES (1)"))
        environment.execute_sql("INSERT OVERWRITE q SELECT b, a + 1 FROM p WHERE a = 2")
        assert rows(environment, "SELECT * FROM p") == [(3, "y")]
    finally:
        spark.sql("DROP TABLE IF EXISTS default.of_spark")


@pytest.mark.parametrize(
    ("source", "hint"),
    [("delta", "io.delta:delta-spark_2.13"), ("nosuch", "spark.jars"), ("parqet", "'parquet'?")],
)
def test_an_unknown_source(environment: TableEnvironment, source: str, hint: str) -> None:
    create(environment, "p", "(a INT)", connector="spark", format=source, option__password="pw77")
    for statement in ("SELECT * FROM p", "INSERT INTO p VALUES (1)"):
        error = refused(environment, statement)
        assert (error.code, hint in str(error.hint)) == ("factory-not-found", True), error.hint
        assert "pw77" not in str(error)


def test_a_format_or_a_table_is_required(environment: TableEnvironment) -> None:
    create(environment, "p", "(a INT)", connector="spark")
    create(environment, "q", "(a INT)", connector="spark", format="orc", table="t")
    for name in "pq":
        assert refused(environment, f"SELECT * FROM {name}").code == "missing-option"


# --- python --------------------------------------------------------------------------------

MODULE = "tests.spark.orders_source"


def test_reading_with_filters_and_writing(environment: TableEnvironment, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environment.get_config().set(ALLOWED, f"other; {MODULE}")
    options = {"connector": "python", "class": f"{MODULE}.Orders", "option__log": log}
    create(environment, "p", "(id INT, name STRING)", **options)
    create(environment, "wrong", "(id BIGINT)", **options)

    assert len(rows(environment, "SELECT * FROM p")) == 5
    assert rows(environment, "SELECT name FROM p WHERE id = 3") == [("n3",)]
    assert json.loads(log.read_text()) == [3]
    log.unlink()
    environment.execute_sql("INSERT INTO p VALUES (1, 'a')")
    environment.execute_sql("INSERT OVERWRITE p VALUES (2, 'b')")
    written = [json.loads(line) for line in log.read_text().splitlines()]
    assert written == [[False, 1, "a"], [True, 2, "b"]]
    assert refused(environment, "SELECT * FROM wrong").code == "schema-mismatch"


def test_a_source_is_given_the_fields_that_a_query_reads(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    environment.get_config().set(ALLOWED, MODULE)
    options = {"connector": "python", "class": f"{MODULE}.Nested", "option__log": log}
    columns = "(id INT, r ROW<a INT NOT NULL, b STRING, c ROW<x INT, y INT>>, d AS r.c.y + 1)"
    create(environment, "p", columns, **options, schema="query")

    assert rows(environment, "SELECT r.c.x FROM p WHERE r.a > 0") == [(3,)]
    assert log.read_text() == "struct<r:struct<a:int,c:struct<x:int>>>"
    assert rows(environment, "SELECT z.v.x, d FROM (SELECT r.c AS v, d FROM p) AS z") == [(3, 5)]
    assert log.read_text() == "struct<r:struct<c:struct<x:int,y:int>>>"
    assert rows(environment, "SELECT COUNT(*) FROM p") == [(1,)]
    assert log.read_text() == "struct<id:int>"
    explanation = environment.explain_sql("SELECT id, r.c.x FROM p WHERE r.a > 0")
    assert "  columns: id, r (2 of 2)\n  fields: `r`.`a`, `r`.`c`.`x`\n" in explanation


def test_nothing_is_imported_that_is_not_allowed(environment: TableEnvironment) -> None:
    create(environment, "p", "(a INT)", **{"connector": "python", "class": "antigravity.Orders"})
    for allowed in (None, "anti; antigravity.sub"):
        if allowed is not None:
            environment.get_config().set(ALLOWED, allowed)
        for statement in ("SELECT * FROM p", "INSERT INTO p VALUES (1)"):
            error = refused(environment, statement)
            assert error.code == "not-allowed"
            assert ALLOWED in str(error.hint)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (f"{MODULE}.NoSource", "not-loadable"),
        (f"{MODULE}.Nothing", "not-loadable"),
        (f"{MODULE}.missing.Orders", "not-loadable"),
        ("Orders", "invalid-option-value"),
    ],
)
def test_what_is_not_a_data_source(environment: TableEnvironment, path: str, code: str) -> None:
    environment.get_config().set(ALLOWED, "tests.spark")
    create(environment, "p", "(a INT)", **{"connector": "python", "class": path})

    assert refused(environment, "SELECT * FROM p").code == code


def test_create_table_as_writes_or_is_refused_before_anything_is_created(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    """A class without `writer` cannot be written, one without `reader` cannot be read."""
    environment.get_config().set(ALLOWED, MODULE)
    query = "AS SELECT 1 AS id, 'x' AS name"
    options = f"'connector' = 'python', 'option.log' = '{tmp_path / 'log'}', 'class' = '{MODULE}."
    environment.execute_sql(f"CREATE TABLE p WITH ({options}Orders') {query}").wait()
    assert json.loads((tmp_path / "log").read_text()) == [False, 1, "x"]

    for name, code in (("ReadOnly", "unsupported-ability"), ("No", "not-loadable")):
        error = refused(environment, f"CREATE TABLE q WITH ({options}{name}') {query}")
        assert error.code == code
    error = refused(environment, f"CREATE TABLE q WITH ('connector' = 'spark') {query}")
    assert error.code == "missing-option"
    assert environment.list_tables() == ["p"]
    create(environment, "w", "(id INT)", **{"connector": "python", "class": f"{MODULE}.WriteOnly"})
    assert refused(environment, "SELECT * FROM w").code == "unsupported-ability"


# --- CREATE and REPLACE TABLE AS -----------------------------------------------------------------


def test_new_files_are_staged_and_replaced_as_a_whole(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    def given(name: str) -> str:
        place = tmp_path / name
        return f"WITH ('connector' = 'spark', 'format' = 'parquet', 'path' = '{place}')"

    def rows(query: str) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, environment.execute_sql(query).collect()))

    def run(statement: str) -> None:
        environment.execute_sql(statement).wait()

    values = "(VALUES (1, 'x'), (2, 'y')) AS v(a, p)"
    create = f"CREATE TABLE t PARTITIONED BY (p) {given('a b%c?d')} AS SELECT * FROM {values}"
    environment.execute_sql("SET 'table.ctas.atomicity-enabled' = 'true'")
    plan = environment.plan_ctas(create)
    assert (3, "final") == (plan.level.value, plan.visibility and plan.visibility.value)
    failing = "SELECT CAST(s AS INT) AS z FROM (VALUES ('1'), ('x')) AS v(s)"
    with pytest.raises(ExternalError):
        run(f"CREATE TABLE t {given('a b%c?d')} AS {failing}")
    assert [] == environment.list_tables()
    assert [] == list(tmp_path.iterdir())

    run(create)
    assert [(1, "x"), (2, "y")] == rows("SELECT a, p FROM t")
    assert ["a b%c?d"] == [path.name for path in tmp_path.iterdir()]
    with pytest.raises(SchemaError) as caught:
        run(create.replace("TABLE t ", "TABLE u "))
    assert "target-not-empty" == caught.value.code
    environment.execute_sql("RESET 'table.ctas.atomicity-enabled'")
    before = environment.get_create_statement("t")
    with pytest.raises(ExternalError):
        run(f"REPLACE TABLE t {given('a b%c?d')} AS {failing}")
    assert before == environment.get_create_statement("t")
    assert [(1, "x"), (2, "y")] == rows("SELECT a, p FROM t")
    run(f"REPLACE TABLE t {given('a b%c?d')} AS SELECT p, a + 1 AS b FROM t")
    assert [("x", 2), ("y", 3)] == rows("SELECT p, b FROM t")
    assert [] == list((tmp_path / "a b%c?d").glob("p=*/*"))
    run("INSERT INTO t VALUES ('z', 9)")
    assert 3 == len(rows("SELECT * FROM t"))


@pytest.mark.parametrize(
    "options",
    [
        "'connector' = 'spark', 'table' = 'spark_catalog.default.nowhere'",
        "'connector' = 'spark', 'format' = 'delta', 'path' = '/nowhere'",
        "'connector' = 'spark', 'format' = 'jdbc'",
        "'connector' = 'hive'",
    ],
)
def test_what_cannot_keep_the_old_rows_is_not_replaced(
    environment: TableEnvironment, options: str
) -> None:
    environment.execute_sql(f"CREATE TABLE t (a INT) WITH ({options})")
    before = environment.get_create_statement("t")
    statement = f"REPLACE TABLE t WITH ({options}) AS SELECT 1 AS b"
    plan = environment.plan_ctas(statement)
    with pytest.raises(UnsupportedError, match="keep the old rows") as caught:
        environment.execute_sql(statement)

    assert "unsupported-ability" == caught.value.code
    assert "unsupported-ability" in [problem.code for problem in plan.problems]
    assert before == environment.get_create_statement("t")
