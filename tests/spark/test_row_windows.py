"""Windows of a number of rows return the rows that were recorded with PyFlink 2.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, Table, TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions import col, lit, row_interval
from schema_core.pyflink.table.window import Slide, Tumble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 2), ("a", 0), ("c", -4), ("a", 7)]


@pytest.fixture(scope="module")
def table(session: SparkSession) -> Table:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    env.create_temporary_view("t", env.from_elements(ROWS, ["k", "v"]))
    return env.sql_query("SELECT k, v, PROCTIME() AS p FROM t")


def tumble(size: int) -> Any:
    return Tumble.over(row_interval(size)).on(col("p")).alias("w")


def slide(size: int, every: int) -> Any:
    return Slide.over(row_interval(size)).every(row_interval(every)).on(col("p")).alias("w")


@pytest.mark.parametrize(
    ("window", "keys", "expected"),
    [
        (tumble(2), ["k"], [("a", 4, 2), ("a", 7, 2), ("b", 4, 2), ("c", 0, 2)]),
        (
            slide(2, 1),
            ["k"],
            [("a", 3, 2), ("a", 4, 2), ("a", 7, 2), ("b", 4, 2), ("c", 0, 2)],
        ),
        (slide(3, 2), [], [(-2, 3), (6, 3), (9, 3)]),
        (slide(2, 3), ["k"], [("a", 4, 2), ("b", 4, 2), ("c", 0, 2)]),
    ],
)
def test_complete_windows_are_returned(
    table: Table, window: Any, keys: list[str], expected: list[tuple[Any, ...]]
) -> None:
    columns = [col(key) for key in keys]
    grouped = table.window(window).group_by(col("w"), *columns)
    result = grouped.select(*columns, col("v").sum.alias("s"), col("v").count.alias("n"))

    with result.execute().collect() as rows:
        assert expected == sorted(map(tuple, rows))


def test_windows_of_the_processing_time(table: Table) -> None:
    """Flink drops the window that has not ended; here all rows of a bounded table are there."""
    hours = Tumble.over(lit(1).hours).on(col("p")).alias("w")
    result = table.window(hours).group_by(col("w")).select(col("v").sum.alias("s"))

    with result.execute().collect() as rows:
        assert 15 == sum(row[0] for row in rows)


def test_windows_of_rows_need_a_processing_time_and_have_no_bounds(table: Table) -> None:
    by_value = Tumble.over(row_interval(2)).on(col("v")).alias("w")
    for use in (
        lambda: table.window(by_value).group_by(col("w")),
        lambda: table.window(tumble(2)).group_by(col("w")).select(col("w").start),
    ):
        with pytest.raises(SchemaCoreError) as caught:
            use()
        assert "invalid-argument" == caught.value.code
