"""User-defined functions: signatures from type hints or declarations, calls, registration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, NamedTuple, overload

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions import col, lit
from schema_core.expressions.typed import FunctionKind
from schema_core.expressions.user_functions import (
    AggregateFunction,
    ScalarFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
    user_function,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ComputedColumn
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes, DecimalType, Row


class Shout(ScalarFunction):
    def eval(self, text: str | None, times: int) -> str | None:
        return None if text is None else text.upper() + "!" * times


class Rounded(ScalarFunction):
    def eval(self, value: Annotated[Decimal, DecimalType(10, 2)]) -> dict[str, list[int | None]]:
        return {str(value): [int(value)]}

    def is_deterministic(self) -> bool:
        return False


class Twice(ScalarFunction):
    @overload
    def eval(self, value: int) -> int: ...
    @overload
    def eval(self, value: str, times: date | None) -> str: ...
    def eval(self, value: int | str, times: date | None = None) -> int | str:
        return value * 2


class Word(NamedTuple):
    word: str
    length: int | None


class Split(TableFunction):
    def eval(self, text: str) -> Iterator[Word]:
        yield from (Word(word, len(word)) for word in text.split())


class Mean(AggregateFunction[float | None, list[float]]):
    def create_accumulator(self) -> list[float]:
        return []

    def accumulate(self, accumulator: list[float], value: float, weight: int) -> None:
        accumulator += [value] * weight

    def get_value(self, accumulator: list[float]) -> float | None:
        return sum(accumulator) / len(accumulator) if accumulator else None


def of_any(
    row: Row,
    price: Decimal,
    times: list[datetime],
    key: int,
    exact: Annotated[Decimal, DecimalType(10, 2)],
) -> int:
    """With hints that restrict no argument, and two that do."""
    return 1


@udf(result_type="DECIMAL(12, 2)")
def taxed(price: Annotated[Decimal, DecimalType(12, 2)] | None) -> Decimal | None:
    return None if price is None else price * 2


@pytest.mark.parametrize(
    ("given", "kind", "rows", "results"),
    [
        (Shout, FunctionKind.SCALAR, ["Shout(STRING, BIGINT)"], ["STRING"]),
        (Shout(), FunctionKind.SCALAR, ["Shout(STRING, BIGINT)"], ["STRING"]),
        (Rounded, FunctionKind.SCALAR, ["Rounded(DECIMAL(10, 2))"],
         ["MAP<STRING NOT NULL, ARRAY<BIGINT> NOT NULL> NOT NULL"]),
        (Twice, FunctionKind.SCALAR, ["Twice(BIGINT)", "Twice(STRING, DATE)"],
         ["BIGINT NOT NULL", "STRING NOT NULL"]),
        (Split, FunctionKind.TABLE, ["Split(STRING)"],
         ["ROW<`word` STRING NOT NULL, `length` BIGINT> NOT NULL"]),
        (Mean, FunctionKind.AGGREGATE, ["Mean(DOUBLE, BIGINT)"], ["DOUBLE"]),
        (taxed, FunctionKind.SCALAR, ["taxed(DECIMAL(12, 2))"], ["DECIMAL(12, 2)"]),
        (of_any, FunctionKind.SCALAR, ["of_any(<ANY>, <ANY>, <ANY>, BIGINT, DECIMAL(10, 2))"],
         ["BIGINT NOT NULL"]),
    ],
)  # fmt: skip
def test_signature_from_type_hints(
    given: object, kind: FunctionKind, rows: list[str], results: list[str]
) -> None:
    result = user_function(given)

    assert kind is result.kind
    assert rows == [str(row) for row in result.rows()]
    assert results == [returns.as_summary_string() for _, returns in result.signatures]


def test_declared_types_override_hints() -> None:
    given = udf(Shout, ["VARCHAR(3)", DataTypes.INT()], str, name="loud")
    rows = udtf(Split(), result_types=["STRING", int])
    mean = udaf(Mean, result_type=DataTypes.FLOAT(), deterministic=False)

    assert ["loud(VARCHAR(3), INT)"] == [str(row) for row in given.rows()]
    assert ["ROW<`f0` STRING, `f1` BIGINT NOT NULL>"] == [
        returns.as_summary_string() for _, returns in rows.signatures
    ]
    assert (False, "FLOAT") == (mean.deterministic, str(mean.signatures[0][1]))
    assert not user_function(Rounded).deterministic


def no_result(value: int):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return value


def of_no_type(value: int) -> object:
    return 1


def of_broken_text(value: "1 +") -> int:  # type: ignore[valid-type]  # noqa: F722
    return 1


class Scaled(ScalarFunction):
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def eval(self, value: int) -> int:
        return value * self.factor


class Broken(ScalarFunction):
    def __init__(self) -> None:
        raise OSError("no model file")

    def eval(self, value: int) -> int:
        return value


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        (no_result, "invalid-function", ("function 'no_result'", "the result")),
        (of_no_type, "data-type-not-inferred", ("function 'of_no_type'", "the result")),
        (object(), "invalid-function", ("function 'object'",)),
        (of_broken_text, "invalid-function", ("function 'of_broken_text'",)),
        (Scaled, "invalid-function", ()),
        (Broken, "invalid-function", ()),
        (FunctionKind, "invalid-function", ()),
    ],
)
def test_incomplete_hints_raise(
    given: Callable[..., object], code: str, path: tuple[str, ...]
) -> None:
    with pytest.raises(SchemaError) as caught:
        user_function(given)

    assert (code, path) == (caught.value.code, caught.value.path)


# --- registered functions ------------------------------------------------------------------------


@pytest.fixture
def environment() -> TableEnvironment:
    result = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    result.create_temporary_function("shout", Shout)
    result.create_temporary_function("default_database.words", Split())
    result.create_temporary_system_function("taxed", taxed)
    result.create_temporary_system_function("mean", Mean)
    return result


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("SELECT shout('a', 2), taxed(1)", ["STRING", "DECIMAL(12, 2)"]),
        ("SELECT mean(x, 1) FROM (VALUES (1e0)) AS t (x)", ["DOUBLE"]),
        ("SELECT t.* FROM LATERAL TABLE(words('a b')) AS t (a, b)", ["STRING NOT NULL", "BIGINT"]),
    ],
)
def test_queries_call_registered_functions(
    environment: TableEnvironment, query: str, types: list[str]
) -> None:
    result = environment.sql_query(query).get_resolved_schema().get_column_data_types()

    assert types == [item.as_summary_string() for item in result]


def test_arguments_are_nullable(environment: TableEnvironment) -> None:
    result = environment.sql_query("SELECT shout('a', CAST(NULL AS INT))")

    (type_,) = result.get_resolved_schema().get_column_data_types()
    assert "STRING" == type_.as_summary_string()


def labelled(first: int, second, *others, third=None) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002
    return f"{first}{second}{others}{third}"


def with_default(first: str, second: int = 2, third: object = None) -> str:
    return f"{first}{second}"


class Called:
    def __call__(self, number: int, text: Any) -> int:
        return number


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (lambda: 1, ["<lambda>()"]),
        (lambda a, b: a, ["<lambda>(<ANY>, <ANY>)"]),
        (labelled, ["labelled(BIGINT, <ANY>, <ANY>, ...)"]),
        (partial(labelled, 1), ["partial(<ANY>, <ANY>, ...)"]),
        (Called(), ["Called(BIGINT, <ANY>)"]),
        (max, ["max(<ANY>, ...)"]),
    ],
)
def test_parameters_without_hints_take_any_argument(given: Any, rows: list[str]) -> None:
    assert rows == [str(row) for row in udf(given, result_type="INT").rows()]


def test_a_parameter_with_a_default_may_be_omitted() -> None:
    one = with_default
    one.__annotations__.pop("third")
    assert ["with_default(STRING, BIGINT, <ANY>)", "with_default(STRING)",
            "with_default(STRING, BIGINT)"] == [str(row) for row in udf(one).rows()]  # fmt: skip


def test_another_func_type_is_refused() -> None:
    for declare in (udf, udaf, udtaf):
        with pytest.raises(SchemaError, match="func_type must be 'general'") as caught:
            declare(lambda a: a, result_type="INT", func_type="arrow")
        assert "invalid-argument" == caught.value.code


def test_a_table_function_requires_result_types() -> None:
    with pytest.raises(SchemaError, match="result_types must not be empty") as caught:
        udtf(Split(), result_types=[])
    assert "invalid-argument" == caught.value.code


def test_an_unregistered_function_is_typed_but_not_serializable() -> None:
    written = (
        Schema.new_builder()
        .column("price", "DECIMAL(10, 2)")
        .column_by_expression("gross", taxed(col("price")) + lit(1))
        .build()
    )
    gross = SchemaResolver().resolve(written).get_column("gross")

    assert isinstance(gross, ComputedColumn)
    assert "DECIMAL(13, 2)" == str(gross.data_type)
    assert "*taxed*(`price`) + 1" == gross.expression.as_summary_string()
    with pytest.raises(UnsupportedError) as caught:
        gross.expression.as_serializable_string()
    assert "not-in-sql" == caught.value.code
