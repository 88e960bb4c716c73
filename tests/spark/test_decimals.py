"""Arithmetic on DECIMALs in Spark equals Flink's, without a Python UDF.

Flink rounds sums and products once, and quotients twice: to 38 digits and then to their type.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import pytest

from schema_core.errors import ExternalError
from schema_core.types import DecimalType
from schema_core.types.common import decimal_result

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

#: Enough digits for any product of two decimals.
WIDE = Context(prec=80, rounding=ROUND_HALF_UP)
#: Enough digits to round a quotient once.
WIDER = Context(prec=160, rounding=ROUND_HALF_UP)
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
    result = value.quantize(Decimal(1).scaleb(-type_.scale), context=WIDE)
    return result if result.copy_abs() < Decimal(10) ** (type_.precision - type_.scale) else None


Row: TypeAlias = "tuple[Decimal, ...]"


def query_of(items: str, types: Sequence[DecimalType], rows: Iterable[Row]) -> str:
    """Return a query of expressions over rows of DECIMALs, whose columns are c0, c1 and so on.

    The columns are nullable: a result with too many digits is NULL, not the end of the job.
    """
    written = ", ".join("(" + ", ".join(f"'{cell:f}'" for cell in row) + ")" for row in rows)
    casts = ", ".join(f"CAST(NULLIF(c{i}, '') AS {type_}) AS c{i}" for i, type_ in enumerate(types))
    names = ", ".join(f"c{i}" for i in range(len(types)))
    return f"SELECT {items} FROM (SELECT {casts} FROM (VALUES {written}) AS t ({names}))"


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_sums_and_products_round_once(environment: TableEnvironment, symbol: str) -> None:
    draw = random.Random(symbol)
    types = [DecimalType(*operand) for operand in OPERANDS * 2]
    rows = [tuple(drawn(draw, *operand) for operand in OPERANDS * 2) for _ in range(24)]
    half = len(OPERANDS)
    operations = [(i, j) for i in range(half) for j in range(half, 2 * half)]
    items = ", ".join(f"c{i} {symbol} c{j}" for i, j in operations)
    query = query_of(items, types, rows)

    assert "Python" not in environment.explain_sql(query)
    for row, result in zip(rows, environment.execute_sql(query).collect(), strict=True):
        for (i, j), value in zip(operations, result, strict=True):
            exact = OPERATORS[symbol](row[i], row[j])
            expected = rounded(exact, decimal_result(symbol, types[i], types[j]))
            assert expected == value, f"{row[i]} {types[i]} {symbol} {row[j]} {types[j]}"


#: Types of dividends and divisors: quotients whose types guarantee one rounding, those that may be
#: rounded twice, those with a scale of 6, and those of which an operand has no integer digit.
DIVIDED = [
    ((15, 2), (15, 2)), ((18, 2), (18, 2)), ((19, 0), (18, 0)), ((5, 0), (20, 0)),
    ((30, 10), (13, 2)), ((38, 2), (38, 2)), ((38, 18), (38, 18)), ((38, 0), (38, 0)),
    ((38, 2), (20, 0)), ((37, 0), (38, 33)), ((10, 0), (38, 20)), ((38, 37), (19, 0)),
    ((38, 0), (38, 38)), ((38, 38), (38, 0)), ((38, 38), (38, 38)),
]  # fmt: skip


def divided(a: Decimal, b: Decimal, type_: DecimalType) -> Decimal | None:
    """Return a quotient as Flink rounds it."""
    return rounded(Context(prec=38, rounding=ROUND_HALF_UP).divide(a, b), type_)


def near_middle(draw: random.Random, left: DecimalType, right: DecimalType) -> Row:
    """Return operands whose quotient is near the middle between two results, if there are any.

    In units of the last place the quotient is ``a * power / b``; twice the dividend and `lack` are
    an odd multiple of the divisor.
    """
    scale = decimal_result("/", left, right).scale
    power = 10 ** (scale + right.scale - left.scale)
    sign = draw.choice((1, -1))
    for _ in range(20):
        digits = draw.randint(max(right.precision - draw.choice((0, 1, 8, 38)), 1), right.precision)
        b = draw.choice((10 ** (digits - 1), draw.randrange(10**digits))) | 1
        if b % 5 == 0 or b == 1:
            continue
        lack = draw.choice((1, 1, 3, 7, draw.randrange(1, b, 2), -1))
        a = -lack * pow(2 * power, -1, b) % b
        most = (10**left.precision - 1 - a) // b
        if most >= 0:
            a += b * draw.choice((0, most, draw.randint(0, most)))
            return (Decimal(sign * a).scaleb(-left.scale, WIDE), Decimal(b).scaleb(-right.scale))
    a, b = draw.randrange(10**left.precision), 2 ** draw.randint(0, 3)
    return (Decimal(sign * a).scaleb(-left.scale, WIDE), Decimal(b).scaleb(-right.scale))


def test_quotients_round_as_flink_does(environment: TableEnvironment) -> None:
    draw = random.Random("quotients")
    types = [(DecimalType(*left), DecimalType(*right)) for left, right in DIVIDED]
    rows = [tuple(value for pair in types for value in near_middle(draw, *pair)) for _ in range(80)]
    items = ", ".join(f"c{2 * i} / c{2 * i + 1}" for i in range(len(types)))
    query = query_of(items, [token for pair in types for token in pair], rows)

    assert "Python" not in environment.explain_sql(query)
    twice = 0
    for row, result in zip(rows, environment.execute_sql(query).collect(), strict=True):
        for i, value in enumerate(result):
            a, b, type_ = row[2 * i], row[2 * i + 1], decimal_result("/", *types[i])
            assert divided(a, b, type_) == value, f"{a} {types[i][0]} / {b} {types[i][1]}"
            twice += value != rounded(WIDER.divide(a, b), type_)
    assert twice > 60  # the second rounding matters


def test_signs_remainders_and_truncation_keep_all_digits(environment: TableEnvironment) -> None:
    draw = random.Random("signs")
    types = [
        DecimalType(*item) for item in [(38, 0), (38, 6), (38, 20), (38, 37), (38, 38), (37, 37)]
    ]
    rows = [
        tuple(drawn(draw, data_type.precision, data_type.scale) for data_type in types)
        for _ in range(20)
    ]
    rows.append(tuple(Decimal(-1).scaleb(-data_type.scale) for data_type in types))
    places = (-40, -3, 0, 2, 36, 40)
    items = []
    for i in range(len(types)):
        items += [f"-c{i}", f"ABS(c{i})", f"c{i} % 1.0003"]
        items += [f"TRUNCATE(c{i}, {n})" for n in places]
    query = query_of(", ".join(items), types, rows)

    assert "Python" not in environment.explain_sql(query)
    down = Context(prec=80, rounding=ROUND_DOWN)
    for row, result in zip(rows, environment.execute_sql(query).collect(), strict=True):
        expected = []
        for value, type_ in zip(row, types, strict=True):
            expected += [value.copy_negate(), value.copy_abs()]
            expected.append(WIDE.remainder(value, Decimal("1.0003")))
            for n in places:
                kept = min(n, type_.scale)
                expected.append(value.quantize(Decimal(1).scaleb(-kept), context=down))
        assert expected == list(result)


def test_the_smallest_divisor_is_not_zero(environment: TableEnvironment) -> None:
    divisor = "CAST(NULLIF(v, '') AS DECIMAL(38, 38))"
    query = f"SELECT CAST(1 AS DECIMAL(38, 0)) {{}} {divisor} FROM (VALUES '{{}}') t(v)"
    smallest = "0." + "0" * 37 + "1"

    for symbol, expected in (("/", None), ("%", Decimal(0))):
        [(value,)] = environment.execute_sql(query.format(symbol, smallest)).collect()
        assert expected == value
    for symbol in "/%":
        with pytest.raises(ExternalError, match="division by zero"):
            list(environment.execute_sql(query.format(symbol, "0")).collect())


def test_averages_have_the_scale_of_flink(environment: TableEnvironment) -> None:
    """The values are those of Flink 2.3."""
    types = {(10, 0): "2.333333", (5, 1): "2.333333", (38, 0): "2.333333", (18, 8): "2.33333333"}
    items = ", ".join(f"AVG(CAST(v AS DECIMAL({p}, {s})))" for p, s in types)
    windows = ", ".join(f"AVG(CAST(v AS DECIMAL({p}, {s}))) OVER ()" for p, s in types)
    rows = "FROM (VALUES '1', '2', '4', CAST(NULL AS STRING)) AS t (v)"

    [result] = environment.execute_sql(f"SELECT {items} {rows}").collect()
    assert [Decimal(data_type) for data_type in types.values()] == list(result)
    assert list(result) == list(
        next(iter(environment.execute_sql(f"SELECT {windows} {rows}").collect()))
    )
    [empty] = environment.execute_sql(f"SELECT {items} {rows} WHERE v IS NULL").collect()
    assert [None] * len(types) == list(empty)


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
    pairs = [pair for item in COMPARED for pair in (item, item[::-1])]
    for (left, right), symbol in product(pairs, COMPARISONS):
        a, b = (f"CAST('{text}' AS DECIMAL({p}, {s}))" for p, s, text in (left, right))
        items.append(f"{a} {symbol} {b}")
        expected.append(COMPARISONS[symbol](Decimal(left[2]), Decimal(right[2])))

    (row,) = environment.execute_sql(f"SELECT {', '.join(items)}").collect()
    assert expected == list(row)
