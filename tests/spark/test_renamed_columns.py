"""Tables of files whose columns are renamed: older files are read by the former names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, PlanReference, TableEnvironment
from schema_core.catalog import CatalogTable, ObjectPath
from schema_core.catalog.changes.column_history import KEY
from schema_core.errors import SchemaCoreError
from schema_core.migration import rewrite_table, validate_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATH = ObjectPath("default_database", "t")
FORMS = ["parquet", "orc", "json", "avro", "csv"]


@pytest.fixture
def env(environment: TableEnvironment, tmp_path: Path, form: str) -> TableEnvironment:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/a t', 'format' = '{form}'"
    if form == "csv":
        options += ", 'csv.header' = 'true', 'csv.null-literal' = 'NULL'"
    environment.execute_sql(
        "CREATE TABLE t (id INT NOT NULL, a STRING, at_ TIMESTAMP(3), p STRING)"
        f" PARTITIONED BY (p) WITH ({options})"
    )
    return environment


def run(environment: TableEnvironment, *statements: str) -> None:
    for statement in statements:
        environment.execute_sql(statement)


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with environment.execute_sql(query).collect() as result:
        return sorted(map(tuple, result), key=repr)


def stored(environment: TableEnvironment) -> CatalogTable:
    result = environment.get_catalog("default_catalog").get_table(PATH)
    assert isinstance(result, CatalogTable)
    return result


TIME = "TIMESTAMP '2020-01-01 00:00:00.123'"


@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_name_are_read(env: TableEnvironment, form: str) -> None:
    run(
        env,
        f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x'), (2, CAST(NULL AS STRING), {TIME}, 'y')",
        "ALTER TABLE t RENAME a TO b",
        f"INSERT INTO t VALUES (3, 'three', {TIME}, 'x')",
        "ALTER TABLE t RENAME b TO c",
        "ALTER TABLE t RENAME id TO number",
        f"INSERT INTO t VALUES (4, 'four', {TIME}, 'y'), (5, CAST(NULL AS STRING), {TIME}, 'x')",
    )

    every = rows(env, "SELECT number, c, p FROM t")
    assert every == [
        (1, "one", "x"), (2, None, "y"), (3, "three", "x"), (4, "four", "y"), (5, None, "x"),
    ]  # fmt: skip
    assert [(3,)] == rows(env, "SELECT number FROM t WHERE c = 'three'")
    assert [(2,)] == rows(env, "SELECT number FROM t WHERE c IS NULL AND p = 'y'")
    old = "SELECT number FROM t WHERE number < 4 AND c > 'a' AND p = 'x'"
    assert [(1,), (3,)] == rows(env, old)
    assert [(5, 3)] == rows(env, "SELECT COUNT(*), COUNT(c) FROM t")
    (at,) = {row[0] for row in rows(env, "SELECT at_ FROM t")}
    assert 123_000 == at.microsecond
    assert "former" not in rows(env, "SHOW CREATE TABLE t")[0][0]
    run(env, "ALTER TABLE t RENAME c TO a")
    assert [(1, "one"), (4, "four")] == rows(env, "SELECT number, a FROM t WHERE number IN (1, 4)")


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_older_files_are_filtered_by_the_former_name(env: TableEnvironment, form: str) -> None:
    run(env, f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x')", "ALTER TABLE t RENAME a TO b")
    run(env, f"INSERT INTO t VALUES (2, 'two', {TIME}, 'x')")

    plan = env.explain_sql("SELECT id FROM t WHERE b = 'one'")

    pushed = re.findall(r"PushedFilters: \[(.*?)\]", plan)
    assert any("EqualTo(a,one)" in one for one in pushed)
    assert any("EqualTo(b,one)" in one for one in pushed)
    assert re.search(r"ReadSchema: struct<id:int,a:string>", plan)


@pytest.mark.parametrize("form", FORMS)
def test_a_dropped_column_of_the_new_name_is_not_read(env: TableEnvironment, form: str) -> None:
    run(
        env,
        "ALTER TABLE t ADD c STRING",
        f"INSERT INTO t VALUES (1, CAST(NULL AS STRING), {TIME}, 'c of 1', 'x')",
        "ALTER TABLE t DROP c",
        "ALTER TABLE t RENAME a TO c",
        f"INSERT INTO t VALUES (2, 'two', {TIME}, 'x')",
    )

    assert [(1, None), (2, "two")] == rows(env, "SELECT id, c FROM t")


@pytest.mark.parametrize("form", ["parquet"])
def test_types_are_compared_with_those_of_the_former_name(env: TableEnvironment, form: str) -> None:
    run(env, f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x')", "ALTER TABLE t RENAME a TO b")
    run(env, "ALTER TABLE t MODIFY b INT")

    with pytest.raises(SchemaCoreError, match="column 'b' is STRING, but is declared as INT"):
        rows(env, "SELECT * FROM t")


def streaming(env: TableEnvironment, session: SparkSession) -> TableEnvironment:
    """Return an environment whose queries of the table are streams."""
    result = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    result.register_catalog("c", env.get_catalog("default_catalog"))
    return result


def of_stream(columns: str) -> str:
    hint = "/*+ OPTIONS('source.monitor-interval' = '50 ms') */"
    return f"SELECT {columns} FROM c.default_database.t {hint}"


@pytest.mark.parametrize("form", ["parquet", "orc", "json", "avro"])
def test_streams_read_files_of_every_name(
    env: TableEnvironment, session: SparkSession, form: str
) -> None:
    run(
        env,
        "ALTER TABLE t ADD r ROW<x INT>",
        f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x', ROW(1))",
        "ALTER TABLE t RENAME a TO b",
        "ALTER TABLE t RENAME r.x TO y",
    )

    with streaming(env, session).execute_sql(of_stream("id, b, at_, r.y, p")).collect() as result:
        first = next(result)
        run(env, f"INSERT INTO t VALUES (2, CAST(NULL AS STRING), {TIME}, 'x', ROW(2))")
        second = next(result)

    assert [(1, "one", 1, "x"), (2, None, 2, "x")] == [
        (side[0], side[1], side[3], side[4]) for side in (first, second)
    ]
    assert first[2] == second[2]
    assert 123_000 == first[2].microsecond


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_streams_do_not_read_files_with_a_dropped_column_of_the_new_name(
    env: TableEnvironment, session: SparkSession, form: str
) -> None:
    run(
        env,
        "ALTER TABLE t ADD c STRING",
        f"INSERT INTO t VALUES (1, CAST(NULL AS STRING), {TIME}, 'x', 'c of 1')",
        "ALTER TABLE t DROP c",
        "ALTER TABLE t RENAME a TO c",
    )

    with pytest.raises(SchemaCoreError) as caught:
        rows(streaming(env, session), of_stream("id, c"))

    assert "streaming-not-supported" == caught.value.code
    assert "older ones have other columns by the names" in caught.value.problem


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_a_file_of_two_names_that_a_stream_finds_later_fails_the_job(
    env: TableEnvironment, session: SparkSession, tmp_path: Path, form: str
) -> None:
    run(env, f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x')", "ALTER TABLE t RENAME a TO c")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/other', 'format' = '{form}'"
    run(
        env,
        f"CREATE TABLE u (id INT, a STRING, c STRING, at_ TIMESTAMP(3)) WITH ({options})",
        f"INSERT INTO u VALUES (2, 'two', 'dropped', {TIME})",
    )
    (file,) = (tmp_path / "other").glob(f"*.{form}")

    with streaming(env, session).execute_sql(of_stream("id, c")).collect() as result:
        assert (1, "one") == tuple(next(result))
        file.rename(tmp_path / "a t" / "p=x" / file.name)
        with pytest.raises(SchemaCoreError, match="a file has 'a' and 'c'"):
            next(result)


@pytest.mark.parametrize("form", ["parquet"])
def test_a_rewrite_reads_the_former_names_and_removes_them(
    env: TableEnvironment, form: str
) -> None:
    run(env, f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x')", "ALTER TABLE t RENAME a TO b")
    schema = stored(env).schema

    report = validate_rows(env, "t", schema)
    rewrite_table(env, "t", schema).wait()

    assert (1, ()) == (report.rows, report.problems)
    assert KEY not in stored(env).options
    assert [(1, "one")] == rows(env, "SELECT id, b FROM t")
    run(env, "ALTER TABLE t ADD a INT", f"INSERT INTO t VALUES (2, 'two', {TIME}, 'x', 7)")
    assert [(1, "one", None), (2, "two", 7)] == rows(env, "SELECT id, b, a FROM t")


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_a_compiled_plan_reads_the_former_names_in_another_session(
    env: TableEnvironment, session: SparkSession, tmp_path: Path, form: str
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'json'"
    run(
        env,
        f"INSERT INTO t VALUES (1, 'one', {TIME}, 'x')",
        "ALTER TABLE t RENAME a TO b",
        f"CREATE TABLE s (id INT, b STRING) WITH ({options})",
    )
    plan = env.compile_plan_sql("INSERT INTO s SELECT id, b FROM t").as_json_string()
    other = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)

    other.load_plan(PlanReference.from_json_string(plan)).execute().wait()

    assert [(1, "one")] == rows(env, "SELECT * FROM s")
