"""Rows are sorted by keys that are not columns of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

T = "(VALUES (1, 'b', 20), (2, 'a', 10), (3, 'c', 20), (4, 'a', 30)) AS t (id, v, g)"
U = "(VALUES (1, 3), (2, 2), (4, 1)) AS u (id, w)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT id AS k FROM {T} ORDER BY v, t.id DESC", [4, 2, 1, 3]),
        (f"SELECT v AS id FROM {T} ORDER BY t.id DESC", ["a", "c", "a", "b"]),
        (f"SELECT -id AS id FROM {T} ORDER BY id", [-4, -3, -2, -1]),
        (f"SELECT -id AS id FROM {T} ORDER BY id + 0", [-4, -3, -2, -1]),
        (f"SELECT id AS a, v AS a FROM {T} ORDER BY 2 DESC, g", [3, 1, 2, 4]),
        (f"SELECT id AS a, v AS a FROM {T} ORDER BY g DESC, v", [4, 1, 3, 2]),
        (f"SELECT id FROM {T} ORDER BY -1, id DESC", [4, 3, 2, 1]),
        (f"SELECT id FROM {T} ORDER BY v, g LIMIT 2", [2, 4]),
        (f"SELECT id FROM {T} ORDER BY v DESC, g OFFSET 1 ROWS", [1, 2, 4]),
        (f"SELECT id FROM {T} ORDER BY ROW_NUMBER() OVER (ORDER BY v, id DESC)", [4, 2, 1, 3]),
        (
            f"SELECT id FROM {T} ORDER BY (SELECT MAX(w) FROM {U} WHERE u.id = t.id), id",
            [3, 4, 2, 1],
        ),
        (f"SELECT id FROM {T} ORDER BY id IN (SELECT id FROM {U}), v, id", [3, 2, 4, 1]),
        (f"SELECT g FROM {T} GROUP BY g ORDER BY COUNT(*) DESC, g DESC", [20, 30, 10]),
        (f"SELECT COUNT(*) AS g FROM {T} GROUP BY g ORDER BY t.g", [1, 2, 1]),
        (f"SELECT g AS k, SUM(id) AS g FROM {T} GROUP BY g ORDER BY g * 1", [10, 20, 30]),
        (
            f"SELECT g FROM {T} GROUP BY ROLLUP (g) ORDER BY COUNT(*) DESC, g DESC",
            [None, 20, 30, 10],
        ),
        (f"SELECT DISTINCT g FROM {T} ORDER BY -g", [30, 20, 10]),
        (f"SELECT DISTINCT g FROM {T} ORDER BY 0 - g, UPPER(CAST(g AS STRING)) LIMIT 2", [30, 20]),
        (f"SELECT DISTINCT v, g FROM {T} ORDER BY v || 'x' DESC, t.g", ["c", "b", "a", "a"]),
        (f"SELECT id FROM {T} UNION SELECT id + 3 FROM {U} ORDER BY -id", [7, 5, 4, 3, 2, 1]),
        (
            f"SELECT id FROM {T} UNION ALL SELECT 9 ORDER BY id IN (SELECT id FROM {U}), id",
            [3, 9, 1, 2, 4],
        ),
        (
            f"WITH c AS (SELECT * FROM {T}) SELECT v AS k FROM c ORDER BY c.id DESC",
            ["a", "c", "a", "b"],
        ),
        (
            f"WITH c AS (SELECT * FROM {T}) SELECT g AS k FROM c GROUP BY g ORDER BY SUM(c.id), g",
            [10, 20, 30],
        ),
        (f"SELECT COUNT(*) AS c FROM {T} GROUP BY 1", [4]),
        (
            (
                f"SELECT id FROM {T} GROUP BY id"
                f" ORDER BY EXISTS (SELECT 1 FROM {U} WHERE u.id = t.id), id"
            ),
            [3, 1, 2, 4],
        ),
        (
            (
                f"SELECT id FROM {T} GROUP BY id"
                f" ORDER BY (SELECT MAX(w) FROM {U} WHERE u.id = t.id) DESC, id"
            ),
            [1, 2, 4, 3],
        ),
        (
            (
                f"SELECT id + 1 FROM {T} GROUP BY id + 1"
                f" ORDER BY (SELECT MAX(w) FROM {U} WHERE u.id = t.id + 1), 1"
            ),
            [3, 5, 4, 2],
        ),
    ],
)
def test_rows_are_sorted(environment: TableEnvironment, sql: str, expected: list[object]) -> None:
    assert expected == [row[0] for row in environment.execute_sql(sql).collect()]
