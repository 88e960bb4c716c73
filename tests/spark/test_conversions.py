"""Conversions of values in rewrites for Spark, with and without ANSI, and in Flink's SQL."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

import pytest

from fuzz.conversion_matrix import ZONE, Case, cases, expression, is_kept, run_spark
from schema_core import EnvironmentSettings, SchemaCoreError, TableEnvironment
from schema_core.types import parse_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", ZONE)
    return session


@pytest.mark.parametrize("ansi", [True, False], ids=["ANSI", "no ANSI"])
def test_conversions_for_spark_keep_the_value_or_fail(session: SparkSession, ansi: bool) -> None:
    run = run_spark(session, ansi=ansi)
    results = [(case, run(case)) for n, case in enumerate(cases()) if n % 97 == 0]
    kept = [case for case, item in results if item is not None and is_kept(case, item)]
    silent = [(case, item) for case, item in results if item is not None and case not in kept]

    assert [] == [f"{case}: {item!r}" for case, item in silent]
    assert len(kept) >= 5


@pytest.mark.parametrize("ansi", [True, False], ids=["ANSI", "no ANSI"])
@pytest.mark.parametrize(
    ("old", "text", "new", "result"),
    [
        ("BIGINT", "5000000000", "INT", None),
        ("BIGINT", "5", "INT", "5"),
        ("STRING", "x", "INT", None),
        ("STRING", "1.5", "INT", None),
        ("STRING", "2020", "DATE", None),
        ("STRING", "2020-01-02T03:04:05", "DATE", None),
        ("STRING", "abcdef", "VARCHAR(3)", None),
        ("DOUBLE", "9223372036854775808", "BIGINT", None),
        ("INT", "5", "DATE", None),
        ("ARRAY<BIGINT>", ("5000000000",), "ARRAY<INT>", None),
        ("ARRAY<STRING>", ("7",), "ARRAY<INT>", ["7"]),
    ],
)
def test_values_of_spark(
    session: SparkSession, ansi: bool, old: str, text: str, new: str, result: str | None
) -> None:
    results = run_spark(session, ansi=ansi)(Case(parse_type(old), parse_type(new), text))

    assert result == results


#: Old type, a value that is kept, one that is not, new type.
FLINK = (
    ("BIGINT", "5", "5000000000", "INT"),
    ("STRING", "'7'", "'x'", "INT"),
    ("STRING", "'abc'", "'abcdef'", "VARCHAR(3)"),
    ("STRING", "'2020-02-29'", "'2020-02-30'", "DATE"),
    ("STRING", "'2020-02-29 01:02:03'", "'2020-02-30 01:02:03'", "TIMESTAMP(3)"),
    ("STRING", "'0.5'", "'0.1234567890123456789'", "DOUBLE"),
    ("DECIMAL(5, 2)", "2.00", "1.50", "INT"),
    ("TIMESTAMP(6)", "TIMESTAMP '2020-01-02 00:00:00'", "TIMESTAMP '2020-01-02 03:04:05'", "DATE"),
    ("ARRAY<BIGINT>", "ARRAY[5]", "ARRAY[5000000000]", "ARRAY<INT>"),
    ("INT", "CAST(NULL AS INT)", "5", "DATE"),
)


def query(*columns: tuple[str, str, str]) -> str:
    """A query that converts values: of an old type, as SQL, to a new type."""
    texts = [
        expression("flink", parse_type(old), parse_type(new), f"c{n}")
        for n, (old, _, new) in enumerate(columns)
    ]
    values = (f"CAST({value} AS {old})" for old, value, _ in columns)
    names = (f"c{n}" for n in range(len(columns)))
    return (
        f"SELECT {', '.join(texts)} FROM (VALUES ({', '.join(values)})) AS q ({', '.join(names)})"
    )


@pytest.fixture
def environment(spark: SparkSession) -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)


def test_values_are_kept_in_flinks_sql(environment: TableEnvironment) -> None:
    kept = [(old, value, new) for old, value, _, new in FLINK]
    nulls = [(old, "NULL", new) for old, _, _, new in FLINK]
    with environment.execute_sql(query(*kept, *nulls)).collect() as result:
        (row,) = result

    values = list(row)
    assert [5, 7, "abc", date(2020, 2, 29), datetime.fromisoformat("2020-02-29 01:02:03"), 0.5, 2,
            date(2020, 1, 2), [5], None] == values[: len(FLINK)]  # fmt: skip
    assert [None] * len(FLINK) == values[len(FLINK) :]


@pytest.mark.parametrize(("old", "value", "refused", "new"), FLINK)
def test_values_are_refused_in_flinks_sql(
    environment: TableEnvironment, old: str, value: str, refused: str, new: str
) -> None:
    with pytest.raises(SchemaCoreError):
        list(environment.execute_sql(query((old, refused, new))).collect())
