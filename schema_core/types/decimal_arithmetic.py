"""Precision and scale of DECIMAL: the results of arithmetic, SUM, AVG and ROUND.

The rules are those of Flink's LogicalTypeMerging, which follow SQL Server. If a result needs more
than 38 digits, its scale is reduced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.types.atomic import DecimalType
from schema_core.types.families import TypeRoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from schema_core.types.base import DataType

    #: Precision and scale of two decimals -> those of the result, however large.
    Formula: TypeAlias = Callable[[int, int, int, int], tuple[int, int]]

#: Maximum precision, and the minimum scale that a result keeps if its precision exceeds it.
MAX_PRECISION = 38
KEPT_SCALE = 6

#: Integer root -> the precision of the decimal that represents all its values.
DIGITS = {
    TypeRoot.TINYINT: 3,
    TypeRoot.SMALLINT: 5,
    TypeRoot.INTEGER: 10,
    TypeRoot.BIGINT: 19,
}


def as_decimal(type_: DataType) -> DecimalType:
    """Return the NOT NULL decimal that represents the values of a decimal or integer type.

    >>> from schema_core.types import IntType
    >>> print(as_decimal(IntType()))
    DECIMAL(10, 0) NOT NULL
    """
    if isinstance(type_, DecimalType):
        return type_.not_null()
    return DecimalType(DIGITS[type_.root], 0, nullable=False)


def reduce_scale(precision: int, scale: int) -> DecimalType:
    """Return the decimal of a precision and scale; the scale is reduced if they are too large.

    >>> print(reduce_scale(77, 20))
    DECIMAL(38, 6) NOT NULL
    """
    if precision > MAX_PRECISION:
        whole = precision - scale
        scale = max(MAX_PRECISION - whole, min(scale, KEPT_SCALE))
        precision = MAX_PRECISION
    return DecimalType(precision, scale, nullable=False)


def _sum_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    scale = max(s1, s2)
    return max(p1 - s1, p2 - s2) + scale + 1, scale


def _product_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    """Return one digit more than Calcite: Flink follows SQL Server."""
    return p1 + p2 + 1, s1 + s2


def _quotient_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    scale = max(KEPT_SCALE, s1 + p2 + 1)
    return p1 - s1 + s2 + scale, scale


def _remainder_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    scale = max(s1, s2)
    return min(p1 - s1, p2 - s2) + scale, scale


#: Operator -> precision and scale of its result.
FORMULAS: dict[str, Formula] = {
    "+": _sum_digits,
    "-": _sum_digits,
    "*": _product_digits,
    "/": _quotient_digits,
    "%": _remainder_digits,
}


def decimal_result(operator: str, left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of the result of ``+ - * / %``.

    >>> print(decimal_result("/", DecimalType(10, 2), DecimalType(5, 3)))
    DECIMAL(19, 8) NOT NULL
    """
    return reduce_scale(
        *FORMULAS[operator](left.precision, left.scale, right.precision, right.scale)
    )


def decimal_sum(type_: DecimalType) -> DecimalType:
    """Return the type of SUM, of maximum precision."""
    return DecimalType(MAX_PRECISION, type_.scale, nullable=False)


def decimal_average(type_: DecimalType) -> DecimalType:
    """Return the type of AVG: the sum divided by a count of 20 digits."""
    return decimal_result("/", decimal_sum(type_), DecimalType(20, 0))


def decimal_round(type_: DecimalType, digits: int) -> DecimalType:
    """Return the type of ROUND and TRUNCATE to a constant number of decimal places.

    >>> print(decimal_round(DecimalType(10, 3), 1))
    DECIMAL(9, 1) NOT NULL
    """
    if digits >= type_.scale:
        return type_.not_null()
    whole = 1 + type_.precision - type_.scale
    if digits < 0:
        return DecimalType(min(MAX_PRECISION, whole), 0, nullable=False)
    return DecimalType(whole + digits, digits, nullable=False)


def common_decimal(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the common decimal of two; if 38 digits do not suffice, the scale is reduced.

    >>> print(common_decimal(DecimalType(19, 0), DecimalType(38, 20)))
    DECIMAL(38, 19) NOT NULL
    """
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = min(max(left.scale, right.scale), MAX_PRECISION - whole)
    return DecimalType(whole + scale, scale, nullable=False)
