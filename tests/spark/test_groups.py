"""GROUPING and its kin, and deviations of integers: rows that Flink 2.3.0 returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

T = "(VALUES (1.5e0, 1), (9e0, 2)) AS t (a, b)"
LATER = "CAST(CONCAT(CAST(MAX(b) AS STRING), '1') AS INT)"  # computed above the groups


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            f"SELECT GROUPING(a), GROUPING_ID(a, b), GROUP_ID(), COUNT(*) FROM {T} GROUP BY a, b",
            [(0, 0, 0, 1), (0, 0, 0, 1)],
        ),
        (
            (
                "SELECT a, GROUPING(b), GROUPING_ID(a, b), GROUPING(b, a), GROUPING(a, a),"
                f" GROUP_ID() FROM {T} GROUP BY ROLLUP (a, b) HAVING GROUPING(b) = 1"
                " ORDER BY GROUPING(a) DESC, a"
            ),
            [(None, 1, 3, 3, 3, 0), (1.5, 1, 1, 2, 0, 0), (9.0, 1, 1, 2, 0, 0)],
        ),
        (
            (
                f"SELECT GROUPING(100 / b), 100 / b, COUNT(*) + GROUPING(100 / b),"
                f" CASE WHEN GROUPING(a) = 0 AND GROUPING(100 / b) = 1 THEN a END"
                f" FROM {T} GROUP BY CUBE (100 / b, a)"
            ),
            [
                *([(0, 100, 1, None)] * 2),
                *([(0, 50, 1, None)] * 2),
                (1, None, 2, 1.5),
                (1, None, 2, 9.0),
                (1, None, 3, None),
            ],
        ),
        (
            (
                f"SELECT GROUPING(b + 1), b + 1, {LATER} + GROUPING(b + 1) FROM {T}"
                " GROUP BY ROLLUP (b + 1)"
            ),
            [(0, 2, 11), (0, 3, 21), (1, None, 22)],
        ),
        (
            (
                f"SELECT GROUPING(b), b * 2, {LATER} + GROUPING(b) FROM {T} GROUP BY ROLLUP (b)"
                f" HAVING {LATER} + GROUPING(b) > 11"
            ),
            [(0, 4, 21), (1, None, 22)],
        ),
        (
            (
                "SELECT x.a, GROUPING(x.a), y.c FROM (VALUES (1.5e0, 1), (9e0, 2)) AS x (a, b),"
                " (VALUES 1) AS y (c) GROUP BY CUBE (x.a, y.c)"
                " HAVING GROUPING_ID(x.a, y.c) IN (1, 2)"
            ),
            [(1.5, 0, None), (9.0, 0, None), (None, 1, 1)],
        ),
        (
            (
                f"SELECT GROUPING(a), RANK() OVER (PARTITION BY GROUPING(a) + 1 ORDER BY COUNT(*))"
                f" FROM {T} GROUP BY ROLLUP (a)"
            ),
            [(0, 1), (0, 1), (1, 1)],
        ),
        (
            (
                "SELECT STDDEV_SAMP(a), STDDEV_POP(a), VAR_POP(a), VAR_SAMP(a), STDDEV_SAMP(t),"
                " VAR_POP(t) FROM (VALUES (1, CAST(100 AS TINYINT)), (2, CAST(NULL AS TINYINT)),"
                " (9, CAST(-100 AS TINYINT))) AS v (a, t)"
            ),
            [(4, 3, 12, 19, -115, 16)],
        ),
    ],
)
def test_groups_are_those_of_flink(
    environment: TableEnvironment, sql: str, expected: list[tuple[object, ...]]
) -> None:
    rows = environment.execute_sql(sql).collect()

    assert sorted(expected, key=repr) == sorted(map(tuple, rows), key=repr)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            f"SELECT a, GROUP_ID() FROM {T} GROUP BY GROUPING SETS ((a), (a), ()) HAVING a IS NULL",
            [(None, 0)],
        ),
        (
            (
                "SELECT x, GROUP_ID() FROM (VALUES (1), (2)) AS v (x)"
                " GROUP BY GROUPING SETS ((x), (x), (x))"
            ),
            [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)],
        ),
        (
            (
                "SELECT x, y, GROUP_ID() FROM (VALUES (1, 2)) AS v (x, y)"
                " GROUP BY ROLLUP (x, y), CUBE (x)"
            ),
            [(None, None, 0), (1, None, 0), (1, 2, 0), (1, 2, 1), (1, None, 1), (1, None, 2)],
        ),
        (
            (
                "SELECT e.g FROM (VALUES (1, 'M'), (1, 'F')) AS e (d, g) JOIN (VALUES (1)) AS x (d)"
                " USING (d) GROUP BY CUBE (e.d, e.g) HAVING COUNT(*) > 2 OR g = 'M'"
            ),
            [("M",), ("M",)],
        ),
    ],
)
def test_grouping_sets_are_those_of_flink(
    environment: TableEnvironment, sql: str, expected: list[tuple[object, ...]]
) -> None:
    rows = environment.execute_sql(sql).collect()

    assert sorted(expected, key=repr) == sorted(map(tuple, rows), key=repr)


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(v) DESC) = 1", [("b", 7)]),
        ("HAVING SUM(v) > 0 QUALIFY RANK() OVER (ORDER BY MAX(v)) = 1", [("a", 3)]),
        ("QUALIFY RANK() OVER (ORDER BY k) > 1", [("b", 7), ("c", 0)]),
    ],
)
def test_qualify_selects_groups(
    environment: TableEnvironment, clauses: str, expected: list[tuple[object, ...]]
) -> None:
    """Flink 2.3 types these queries, and fails to plan aggregates in QUALIFY."""
    rows = "(VALUES ('a', 1), ('a', 2), ('b', 7), ('c', 0)) AS t (k, v)"
    with environment.execute_sql(
        f"SELECT k, SUM(v) FROM {rows} GROUP BY k {clauses}"
    ).collect() as result:
        assert expected == sorted(tuple(row) for row in result)
