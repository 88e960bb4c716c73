"""Comparisons and casts of unusual values; the expected results are those of Flink 2.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

#: Expression of the columns of `ROWS` -> its values: T, F, or - for NULL.
COMPARED = {
    # beside a DECIMAL floats have Java's total order: NaN is above numbers, -0.0 below 0
    "d < x": "TFFTFF", "d <= x": "TFTTFT", "d > x": "FTFFTF", "x >= d": "TFTTFT",
    "x > 0.0": "TFFTFT", "x >= 0.0": "TFTTFT", "x < 0.0": "FTFFTF", "x > 0.5": "TFFTFF",
    "x BETWEEN 0.0 AND 0.5": "FFTFFT", "x NOT BETWEEN 0.0 AND 0.5": "TTFTTF",
    # beside other numbers NaN is neither within nor outside of bounds
    "x NOT BETWEEN 1 AND 2": "FTTTTT", "x NOT BETWEEN SYMMETRIC 2 AND 1": "FTTTTT",
    "x IN (x + 0, 7)": "FTTTTT", "x IN (0, 1)": "FFTFFF",
    "x IS NOT DISTINCT FROM x + 0": "FTTTTT",
    # several literals are a set of values of the type of the operand, one is compared exactly
    "z IN (0.1, 0.3)": "TFFTFF", "z IN (0.5, 0.3)": "TTFTFF", "z IN (0.1)": "FFFFFF",
    "z NOT IN (0.1, 0.3)": "FTTFTT",
}  # fmt: skip
ROWS = [
    ("1.50", "NaN", "0"), ("0.00", "-0.0", "1"), ("0.00", "0.0", "-1"),
    ("-1.00", "Infinity", "0"), ("5.00", "-1.0", "9" * 38), ("0.10", "0.1", "2"),
]  # fmt: skip


def test_floats_and_decimals_are_compared_as_in_flink(environment: TableEnvironment) -> None:
    values = ", ".join(f"('{d}', '{x}', '{z}')" for d, x, z in ROWS)
    columns = "CAST(d AS DECIMAL(5, 2)) AS d, CAST(x AS DOUBLE) AS x, CAST(z AS DECIMAL(38)) AS z"
    source = f"SELECT {columns} FROM (VALUES {values}) AS t (d, x, z)"
    rows = list(environment.execute_sql(f"SELECT {', '.join(COMPARED)} FROM ({source})").collect())

    for (expression, expected), result in zip(
        COMPARED.items(), zip(*rows, strict=True), strict=True
    ):
        assert expected == "".join({True: "T", False: "F", None: "-"}[item] for item in result), (
            expression
        )


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("ARRAY[CAST(1.5 AS DECIMAL(5, 2))]", "ARRAY[CAST(1.5 AS DECIMAL(6, 3))]", True),
        ("ARRAY[CAST(1.5 AS DECIMAL(5, 2))]", "ARRAY[CAST(1.501 AS DECIMAL(6, 3))]", False),
        ("ARRAY[1, 2]", "ARRAY[CAST(1 AS BIGINT), CAST(2 AS BIGINT)]", True),
        ("ARRAY[1, 2]", "ARRAY[CAST(1 AS BIGINT)]", False),
        ("ARRAY[1, CAST(NULL AS INT)]", "ARRAY[CAST(1 AS BIGINT), CAST(NULL AS BIGINT)]", False),
        ("ARRAY[1, CAST(NULL AS INT)]", "ARRAY[1, CAST(NULL AS INT)]", True),
        ("MAP['a', CAST(NULL AS INT)]", "MAP['a', CAST(NULL AS BIGINT)]", False),
        ("MAP['a', CAST(1 AS INT)]", "MAP['a', CAST(1 AS BIGINT)]", True),
    ],
)
def test_null_equals_no_element_of_another_type(
    environment: TableEnvironment, left: str, right: str, expected: bool
) -> None:
    [result] = environment.execute_sql(f"SELECT {left} = {right}, {left} <> {right}").collect()

    assert (expected, not expected) == tuple(result)


#: String -> its cast to DECIMAL(5, 2), DECIMAL(20, 2), INT, DATE and TIME, as strings.
CASTS = {
    "\t1.5": ("1.50", "1.50", None, None, None),
    "1\r": ("1.00", None, None, "0001-01-01", "01:00:00"),
    "\t": (None, None, None, None, None),
    " 1 ": ("1.00", "1.00", "1", "0001-01-01", "01:00:00"),
    " 2020-01-02 00:00:00": (None, None, None, None, None),
    "2020-01-02 00:00:00": (None, None, None, "2020-01-02", None),
    " 2020-01-02 ": (None, None, None, "2020-01-02", None),
    "00:00:00.9995": (None, None, None, None, "00:00:01"),
    "12:34:56.7899": (None, None, None, None, "12:34:56"),
}


def test_casts_of_unusual_strings(environment: TableEnvironment) -> None:
    types = ("DECIMAL(5, 2)", "DECIMAL(20, 2)", "INT", "DATE", "TIME")
    items = ", ".join(f"CAST(TRY_CAST(s AS {data_type}) AS STRING)" for data_type in types)
    rows = ", ".join(f"('{text}')" for text in CASTS)
    result = environment.execute_sql(f"SELECT {items} FROM (VALUES {rows}) AS t (s)").collect()

    assert list(CASTS.values()) == [tuple(row) for row in result]
    with pytest.raises(ExternalError, match="the TIME exceeds 24 hours"):
        list(environment.execute_sql("SELECT CAST('23:59:59.9999' AS TIME)").collect())
