"""TIMESTAMP(9) on Spark: nanoseconds in expressions and results, microseconds in tables."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
from typing import TYPE_CHECKING, cast

import pytest

from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from schema_core.environment.table_environment import TableEnvironment

NOON = "TIMESTAMP '2020-02-29 12:00:00.123456789'"


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    with environment.execute_sql(query).collect() as result:
        return [tuple(row) for row in result]


def test_expressions_keep_nanoseconds(environment: TableEnvironment) -> None:
    query = f"""
        SELECT CAST(a AS STRING), a = b, a < b, a IN (b, {NOON}),
            CAST(CAST(a AS TIMESTAMP(8)) AS STRING),
            CAST(a + INTERVAL '1' DAY AS STRING), EXTRACT(NANOSECOND FROM a), YEAR(a),
            FLOOR(a TO HOUR) = a,
            CAST(COALESCE(CAST(NULL AS TIMESTAMP(3)), a) AS STRING), DATE_FORMAT(a, 'SSSSSSSSS'),
            CAST(GREATEST(a, b) AS STRING), CAST(CAST(a AS TIMESTAMP(6)) AS STRING)
        FROM (SELECT {NOON} AS a, TIMESTAMP '2020-02-29 12:00:00.123456790' AS b)
    """
    text = "2020-02-29 12:00:00.123456"

    assert [
        (
            f"{text}789", False, True, True, f"{text}78", "2020-03-01 12:00:00.123456789",
            123456789, 2020, False, f"{text}789", "123456789", f"{text}790", text,
        )
    ] == rows(environment, query)  # fmt: skip


def test_groups_orders_and_joins_by_nanoseconds(environment: TableEnvironment) -> None:
    values = "(VALUES (1, '002'), (2, '001'), (3, '002'), (4, CAST(NULL AS STRING))) AS v(id, s)"
    stamp = "CAST('2020-01-01 00:00:00.000000' || s AS TIMESTAMP(9))"
    table = f"(SELECT id, {stamp} AS t9 FROM {values})"

    grouped = f"SELECT DATE_FORMAT(t9, 'nnnnnnnnn'), COUNT(*) FROM {table} GROUP BY t9 ORDER BY t9"
    joined = f"SELECT a.id, b.id FROM {table} a JOIN {table} b ON a.t9 = b.t9 AND a.id < b.id"
    extremes = f"SELECT CAST(MAX(t9) AS STRING), COUNT(t9), COUNT(DISTINCT t9) FROM {table}"

    assert [(None, 1), ("000000001", 1), ("000000002", 2)] == rows(environment, grouped)
    assert [(1, 3)] == rows(environment, joined)
    assert [("2020-01-01 00:00:00.000000002", 3, 2)] == rows(environment, extremes)


def test_results_keep_nanoseconds(environment: TableEnvironment) -> None:
    whole = "CAST(TIMESTAMP '2020-02-29 12:00:00.123456' AS TIMESTAMP(9))"
    instant = f"CAST({NOON} AS TIMESTAMP_LTZ(9))"
    query = f"SELECT {whole}, {NOON}, {instant}, CAST(NULL AS TIMESTAMP(8))"

    ((at, noon, utc, empty),) = rows(environment, query)

    assert (dt.datetime.fromisoformat("2020-02-29 12:00:00.123456"), None) == (at, empty)
    assert type(at) is dt.datetime
    assert "2020-02-29 12:00:00.123456789" == str(noon)
    assert "2020-02-29T12:00:00.123456789+00:00" == cast("dt.datetime", utc).isoformat()
    many = f"SELECT {NOON} AS a, k FROM (VALUES (1), (2), (1), (2)) AS v(k)"
    grouped = f"SELECT a, CAST(a AS TIMESTAMP_LTZ(9)), SUM(k) FROM ({many}) GROUP BY a"
    assert [(noon, utc, 6)] == rows(environment, grouped)


def test_printed_results_have_nanoseconds(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.execute_sql(f"SELECT {NOON}, CAST({NOON} AS TIMESTAMP_LTZ(7))").print()

    printed = capsys.readouterr().out
    assert "2020-02-29 12:00:00.123456789" in printed
    assert "2020-02-29 12:00:00.1234567 " in printed


def test_other_frames_name_the_value_with_nanoseconds(environment: TableEnvironment) -> None:
    with pytest.raises(
        SchemaCoreError,
        match=r"column 'a': .* TIMESTAMP\(9\) NOT NULL '2020-02-29 12:00:00.123456789' has nano",
    ):
        environment.sql_query(f"SELECT {NOON} AS a").to_arrow().read_all()


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "orc"])
def test_tables_take_values_without_nanoseconds(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    environment.execute_sql(
        "CREATE TABLE t (id INT, t9 TIMESTAMP(9)) WITH ("
        f"'connector' = 'filesystem', 'format' = '{form}', 'path' = '{tmp_path}')"
    )
    environment.execute_sql(f"INSERT INTO t SELECT 1, CAST({NOON} AS TIMESTAMP(6))").wait()

    with pytest.raises(SchemaCoreError, match="has nanoseconds"):
        environment.execute_sql(f"INSERT INTO t SELECT 3, {NOON}").wait()
    read = rows(environment, "SELECT CAST(t9 AS STRING) FROM t")
    assert [("2020-02-29 12:00:00.123456000",)] == read


def test_nested_values_are_written_with_microseconds(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    environment.execute_sql(
        "CREATE TABLE n (r ROW<x TIMESTAMP(9)>, a ARRAY<TIMESTAMP(8)>) WITH ("
        f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}')"
    )

    whole = "TIMESTAMP '2020-02-29 12:00:00.123456'"
    environment.execute_sql(f"INSERT INTO n SELECT ROW({whole}), ARRAY[{whole}]").wait()
    with pytest.raises(SchemaCoreError, match="Spark stores microseconds"):
        environment.execute_sql(f"INSERT INTO n SELECT ROW({NOON}), ARRAY[{whole}]").wait()


def test_parts_of_values_are_printed_with_nanoseconds(environment: TableEnvironment) -> None:
    query = f"SELECT ROW({NOON}, INTERVAL '1' DAY), MAP[1, {NOON}], ARRAY[{NOON}][1]"

    row, entries, at = rows(environment, query)[0]
    assert ("2020-02-29 12:00:00.123456789", {1: at}) == (str(at), entries)
    assert (at, dt.timedelta(days=1)) == tuple(cast("Iterable[object]", row))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        environment.execute_sql(f"SELECT ARRAY[{NOON}][1], ROW({NOON}, 7)").print()
    assert 2 == output.getvalue().count("2020-02-29 12:00:00.123456")


def test_computed_columns_have_nanoseconds(environment: TableEnvironment, tmp_path: Path) -> None:
    environment.execute_sql(
        "CREATE TABLE c (ms BIGINT, t9 AS TO_TIMESTAMP_LTZ(ms, 9)) WITH ("
        "'connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', "
        f"'path' = '{tmp_path}')"
    )
    environment.execute_sql("INSERT INTO c VALUES (1000), (CAST(NULL AS BIGINT))").wait()

    query = "SELECT EXTRACT(NANOSECOND FROM t9), COALESCE(t9, t9) IS NULL FROM c ORDER BY ms"

    assert [(None, True), (1000, False)] == rows(environment, query)
