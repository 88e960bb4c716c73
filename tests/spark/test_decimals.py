"""Arithmetic on DECIMALs in Spark equals exact arithmetic rounded once, without a Python UDF."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import product
from typing import TYPE_CHECKING

import pytest

from schema_core.types import DecimalType
from schema_core.types.decimal_arithmetic import decimal_result

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

#: Enough digits for any product of two decimals.
WIDE = Context(prec=80, rounding=ROUND_HALF_UP)
OPERATORS: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": WIDE.add,
    "-": WIDE.subtract,
    "*": WIDE.multiply,
}
#: Precision and scale of the operands: narrow ones, and those whose result exceeds 38 digits.
OPERANDS = [(38, 0), (38, 10), (38, 18), (38, 37), (38, 38), (37, 6), (30, 20), (19, 0), (15, 2)]


def drawn(draw: random.Random, precision: int, scale: int) -> Decimal:
    """Return a number near the limits of its type, or halfway between two results."""
    digits = draw.randint(1, precision)
    unscaled = draw.choice(
        [10**digits - 1, 10 ** (digits - 1), 5 * 10 ** (digits - 1), draw.randrange(10**digits), 0]
    )
    return Decimal(draw.choice((1, -1)) * unscaled).scaleb(-scale, WIDE)


def rounded(value: Decimal, type_: DecimalType) -> Decimal | None:
    """Return a number rounded half up to its type, or None where it has too many digits."""
    found = value.quantize(Decimal(1).scaleb(-type_.scale), context=WIDE)
    return found if found.copy_abs() < Decimal(10) ** (type_.precision - type_.scale) else None


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_sums_and_products_round_once(environment: TableEnvironment, symbol: str) -> None:
    draw = random.Random(symbol)
    types = [DecimalType(*one) for one in OPERANDS]
    columns = [f"{side}{i}" for side in "ab" for i in range(len(types))]
    numbers = [[drawn(draw, *one) for _ in range(24)] for one in OPERANDS * 2]
    rows = ", ".join(
        "(" + ", ".join(f"'{one:f}'" for one in row) + ")" for row in zip(*numbers, strict=True)
    )
    casts = ", ".join(f"CAST({name} AS {types[int(name[1:])]}) AS {name}" for name in columns)
    operations = [(i, j) for i in range(len(types)) for j in range(len(types))]
    results = ", ".join(f"a{i} {symbol} b{j}" for i, j in operations)
    query = (
        f"SELECT {results} FROM (SELECT {casts} FROM (VALUES {rows}) AS t ({', '.join(columns)}))"
    )

    assert "Python" not in environment.explain_sql(query)
    for row, found in enumerate(environment.execute_sql(query).collect()):
        for (i, j), value in zip(operations, found, strict=True):
            a, b = numbers[i][row], numbers[len(types) + j][row]
            expected = rounded(OPERATORS[symbol](a, b), decimal_result(symbol, types[i], types[j]))
            assert expected == value, f"{a} {types[i]} {symbol} {b} {types[j]}"


#: Pairs of (precision, scale, number) for which Spark has no type that holds every digit.
COMPARED = [
    ((38, 2, "123.45"), (38, 7, "123.4500001")),
    ((38, 2, "-123.45"), (38, 7, "-123.4500001")),
    ((38, 0, "-1"), (38, 38, "-0." + "9" * 38)),
    ((38, 0, "0"), (38, 38, "0." + "0" * 37 + "1")),
    ((38, 0, "9" * 38), (38, 1, "9" * 37 + ".9")),
    ((38, 37, "-9." + "9" * 37), (38, 1, "-10.0")),
    ((38, 18, "5.0"), (38, 19, "5.0")),
]
COMPARISONS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "IS NOT DISTINCT FROM": operator.eq, "IS DISTINCT FROM": operator.ne,
}  # fmt: skip


def test_decimals_of_any_digits_are_compared_exactly(environment: TableEnvironment) -> None:
    items, expected = [], []
    pairs = [pair for one in COMPARED for pair in (one, one[::-1])]
    for (left, right), symbol in product(pairs, COMPARISONS):
        a, b = (f"CAST('{text}' AS DECIMAL({p}, {s}))" for p, s, text in (left, right))
        items.append(f"{a} {symbol} {b}")
        expected.append(COMPARISONS[symbol](Decimal(left[2]), Decimal(right[2])))

    (row,) = environment.execute_sql(f"SELECT {', '.join(items)}").collect()
    assert expected == list(row)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # both fit into no more than 38 digits
        ("SELECT CAST('1' AS DECIMAL(10, 2)) / CAST('3' AS DECIMAL(10, 2))", "0.3333333333333"),
        # rounded to 38 digits and then to the type, as Flink does
        ("SELECT CAST('1' AS DECIMAL(38, 10)) / CAST('3' AS DECIMAL(38, 10))", "0.333333"),
    ],
)
def test_quotients(environment: TableEnvironment, sql: str, expected: str) -> None:
    [(value,)] = environment.execute_sql(sql).collect()

    assert Decimal(expected) == value
