"""Decimal arithmetic with full precision, where Spark would round intermediate results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation

from schema_core.spark.compiler.udfs.errors import UdfError

#: Enough digits for any product of two decimals.
EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
#: Precision of a quotient before it is rounded to its type.
QUOTIENT = Context(prec=38, rounding=ROUND_HALF_UP)

OPERATORS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": QUOTIENT.divide,
    "%": EXACT.remainder,
}


def rounded_to(value: Decimal, precision: int, scale: int) -> str | None:
    """Return a decimal rounded half up to a DECIMAL type, or None if it overflows.

    >>> (
    ...     rounded_to(Decimal("1.25"), 3, 1),
    ...     rounded_to(Decimal("9.95"), 2, 1),
    ...     rounded_to(Decimal("9" * 38), 38, 0),
    ... )
    ('1.3', None, '99999999999999999999999999999999999999')
    """
    rounded = value.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    overflows = rounded.copy_abs() >= Decimal(1).scaleb(precision - scale)
    return None if overflows else f"{rounded:f}"


def decimal_arithmetic(
    operator: str, a: Decimal | None, b: Decimal | None, precision: int, scale: int
) -> str | None:
    """Return the result of an operator as the string of a DECIMAL, or None if it overflows.

    >>> decimal_arithmetic("/", Decimal(1), Decimal(3), 38, 6)
    '0.333333'
    """
    if a is None or b is None:
        return None
    try:
        return rounded_to(OPERATORS[operator](a, b), precision, scale)
    except (DivisionByZero, InvalidOperation):
        raise UdfError("division by zero") from None


def decimal_truncated(a: Decimal | None, places: int | None) -> str | None:
    """Return TRUNCATE of a decimal to a number of decimal places, as a string.

    >>> decimal_truncated(Decimal("-1.29"), 1), decimal_truncated(Decimal("129"), -1)
    ('-1.2', '120')
    """
    if a is None or places is None:
        return None
    truncated = a.quantize(Decimal(1).scaleb(-places), rounding=ROUND_DOWN, context=EXACT)
    return f"{truncated:f}"
