"""Windows, functions of rows and `flatten` of the Table API, executed."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from schema_core import DataTypes, Row, Table, TableEnvironment
from schema_core.expressions import UNBOUNDED_ROW, col, lag, lit, row_interval
from schema_core.pyflink.table.udf import udf
from schema_core.pyflink.table.window import Over, Session, Slide, Tumble

pytestmark = pytest.mark.spark

START = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - without a time zone

PAIR = DataTypes.ROW([DataTypes.FIELD("p", DataTypes.INT()), DataTypes.FIELD("q", DataTypes.INT())])


@pytest.fixture
def visits(environment: TableEnvironment) -> Table:
    rows = [(1, "a", 10), (2, "a", 20), (3, "b", 70), (4, "a", 130)]
    return environment.from_elements(
        [(number, page, START + dt.timedelta(seconds=at)) for number, page, at in rows],
        DataTypes.ROW(
            [
                DataTypes.FIELD("id", DataTypes.INT()),
                DataTypes.FIELD("page", DataTypes.STRING()),
                DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)),
            ]
        ),
    )


def rows(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as result:
        return sorted(tuple(item) for item in result)


def minute(number: int) -> dt.datetime:
    return START.replace(minute=number)


def test_windows_of_time(visits: Table) -> None:
    tumble = Tumble.over(lit(1).minutes).on(col("ts")).alias("w")
    result = visits.window(tumble).group_by(col("w"), col("page"))
    assert rows(result.select(col("page"), col("w").start, col("w").end, col("id").sum)) == [
        ("a", minute(0), minute(1), 3),
        ("a", minute(2), minute(3), 4),
        ("b", minute(1), minute(2), 3),
    ]

    slide = Slide.over(lit(2).minutes).every(lit(1).minutes).on(col("ts")).alias("w")
    starts = visits.window(slide).group_by(col("w")).select(col("w").end, col("id").count)
    assert rows(starts) == [(minute(1), 2), (minute(2), 3), (minute(3), 2), (minute(4), 1)]

    session = Session.with_gap(lit(50).seconds).on(col("ts")).alias("w")
    sums = visits.window(session).group_by(col("w")).select(col("w").start, col("id").sum)
    assert [number for _, number in rows(sums)] == [6, 4]


def test_windows_over_rows(visits: Table) -> None:
    ordered = Over.partition_by(col("page")).order_by(col("ts"))
    last = ordered.preceding(row_interval(1)).alias("last")
    after = ordered.preceding(lit(0).seconds).following(lit(10).seconds).alias("after")
    every = ordered.preceding(UNBOUNDED_ROW).following(UNBOUNDED_ROW).alias("every")
    result = visits.over_window(last, after, every, ordered.alias("before")).select(
        col("id"),
        col("id").sum.over(col("last")),
        col("id").sum.over(col("after")),
        col("id").max.over(col("every")),
        lag(col("id"), 1, -1).over(col("before")),
    )
    assert rows(result) == [(1, 1, 3, 4, -1), (2, 3, 2, 4, 1), (3, 3, 3, 3, -1), (4, 6, 4, 4, 2)]


def test_functions_of_rows(visits: Table) -> None:
    pair = udf(lambda x: Row(x, x * x), [DataTypes.INT()], PAIR)
    result = visits.map(pair(col("id")))
    assert result.column_names() == ["p", "q"]
    assert rows(result) == [(1, 1), (2, 4), (3, 9), (4, 16)]
    assert rows(visits.select(col("page"), pair(col("id")).flatten).where(col("_c2") > 4)) == [
        ("a", 4, 16),
        ("b", 3, 9),
    ]
