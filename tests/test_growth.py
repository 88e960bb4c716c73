"""Time is bounded for every shape of input, and exponential growth is refused.

`tests/benchmarks/bench_growth.py` measures how time and memory grow up to 1 MB. This is the coarse
guard: 10 KB of any shape take less than 2 seconds of processor time.
"""

from __future__ import annotations

from functools import reduce

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import MAX_ERRORS, SchemaError
from schema_core.expressions import col, lit, row
from schema_core.expressions.fluent import Expression
from schema_core.sql.parser import read_statements
from schema_core.types import DataType, DataTypes
from tests.benchmarks.bench_growth import SHAPES, outcome
from tests.support import processor_time

#: Seconds of processor time for 10 KB; most shapes take a tenth of a second.
LIMIT = 2.0
#: Seconds until exponential growth reaches the bound at which it is refused.
LIMIT_OF_BOUNDS = 10.0
MULTIPLIED = ("views that double columns", "views of rows", "ORDER BY of a large expression")


@pytest.mark.parametrize("name", SHAPES)
def test_10_kb_of_any_shape_take_less_than_two_seconds(name: str) -> None:
    limit = LIMIT_OF_BOUNDS if any(item in name for item in MULTIPLIED) else LIMIT

    result: list[str] = []

    assert processor_time(lambda: result.append(outcome(SHAPES[name](10_000))), limit) < limit
    assert not any(item.startswith("!!") for item in result)


def doubled(first: Expression, times: int) -> Expression:
    for _ in range(times):
        first = first + first
    return first


def test_an_expression_that_doubles_is_refused() -> None:
    assert doubled(col("a"), 10) is not None
    with pytest.raises(SchemaError) as caught:
        doubled(col("a"), 40)

    assert caught.value.code == "limit-exceeded"


def test_an_expression_nested_to_the_right_is_refused_before_it_exhausts_the_stack() -> None:
    with pytest.raises(SchemaError) as caught:
        reduce(lambda found, _: lit(1) + found, range(2_000), col("a"))

    assert caught.value.code == "limit-exceeded"


def test_a_long_chain_built_in_python_is_not_nested() -> None:
    result = col("a")
    for _ in range(5_000):
        result = result + 1

    assert str(result).count("+") == 5_000
    assert repr(result.syntax).count("LiteralKind") == 5_000


def test_a_type_that_doubles_is_refused() -> None:
    def pair(type_: DataType, _: int) -> DataType:
        return DataTypes.ROW([DataTypes.FIELD("a", type_), DataTypes.FIELD("b", type_)])

    start: DataType = DataTypes.INT()
    with pytest.raises(SchemaError) as caught:
        reduce(pair, range(40), start)

    assert caught.value.code == "limit-exceeded"


@pytest.mark.parametrize("step", ["*, *", "x.*, x.*"])
def test_columns_that_double_are_refused(step: str) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE t (a INT, b INT)")
    tables = ", ".join(f"c{i} AS (SELECT {step} FROM c{i - 1} AS x)" for i in range(1, 20))
    with pytest.raises(SchemaError) as caught:
        environment.sql_query(f"WITH c0 AS (SELECT * FROM t), {tables} SELECT * FROM c19")

    assert caught.value.code == "limit-exceeded"


def test_a_table_united_with_itself_again_and_again_is_refused() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE t (a INT)")
    table = environment.from_path("t")
    with pytest.raises(SchemaError) as caught:
        reduce(lambda found, _: found.union_all(found), range(40), table)

    assert caught.value.code == "limit-exceeded"


def test_rows_of_rows_are_refused_where_they_double() -> None:
    with pytest.raises(SchemaError) as caught:
        reduce(lambda value, _: row(value, value), range(40), col("a"))

    assert caught.value.code == "limit-exceeded"


def test_errors_beyond_the_maximum_are_counted() -> None:
    result = list(read_statements("USE 1;" * (MAX_ERRORS + 10)))

    assert len(result) == MAX_ERRORS + 1
    assert isinstance(result[-1], SchemaError)
    assert result[-1].code == "too-many-errors"


def test_long_messages_are_truncated() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    names = ", ".join(f"u{i}" for i in range(4_000))
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql(
            f"CREATE TABLE t (a INT, PRIMARY KEY ({names}) NOT ENFORCED) WITH ('connector' = 'x')"
        )

    assert len(str(caught.value)) < 1_000_000
    assert caught.value.diagnostics[-1].message == "and 3,000 more errors"
