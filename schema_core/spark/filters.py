"""Filters that the planner offers to connectors: typed predicates over one table's columns.

A filter is a deterministic conjunct over physical columns that cannot fail. The query evaluates it
as well, so a connector may return more rows than it selects, never fewer.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from schema_core.base.lazy import dataclass
from schema_core.expressions.to_sql import to_sql as flink_sql
from schema_core.expressions.typed import Constant, FunctionCall, Ref, walk
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
)
from schema_core.spark.compiler.translation import INTEGERS, MAX_PRECISION
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import to_sql
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import (
    MAX_LENGTH,
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)
from schema_core.types.common import common_decimal

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: Comparison operators, each with the one for swapped operands.
MIRRORED: Mapping[str, str] = {
    "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip


class Comparison(NamedTuple):
    """A filter as a column, an operator and a Python value.

    The operators are ``=``, ``<>``, ``<``, ``<=``, ``>``, ``>=``, ``IN``, ``NOT IN``, ``BETWEEN``
    (whose values are tuples), ``IS NULL`` and ``IS NOT NULL`` (whose value is None).
    """

    column: str
    operator: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A predicate over one table's physical columns, which selects the rows where it is TRUE.

    Attributes:
        expression: The typed predicate; its columns have no qualifier.
        zone: The session's time zone.
    """

    expression: Typed
    zone: str = "UTC"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the predicate reads, each once."""
        names = (node.name for node in walk(self.expression) if isinstance(node, Ref))
        return tuple(sorted(set(names)))

    @property
    def is_exact(self) -> bool:
        """Whether other systems evaluate it alike: it compares no approximate numbers.

        For these, the order of NaN and the rounding of literals differ.
        """
        types = (node.type for node in walk(self.expression))
        return not any(isinstance(type_, FloatType | DoubleType) for type_ in types)

    @property
    def comparison(self) -> Comparison | None:
        """The predicate as a column, an operator and a value; None for any other predicate.

        The value has the column's Python type: int, Decimal, float, str, bool, date, or datetime
        (of a TIMESTAMP with up to 6 digits). Columns of other types have no comparison.
        """
        return _comparison(self.expression)

    @property
    def spark_sql(self) -> str:
        """The predicate in Spark SQL over the columns of a frame of `read`."""
        context = TranslationContext(
            self.zone, lambda ref: from_physical(ColumnNode(ref.name), ref.type)
        )
        return to_sql(compile_expression(self.expression, context))

    def __str__(self) -> str:
        """Return the predicate in Flink's SQL."""
        return flink_sql(self.expression)


@dataclass(frozen=True, slots=True)
class FilterResult:
    """What a connector does with offered filters, as Flink's ``Result``.

    Attributes:
        accepted: The filters for the context of `read`, which may omit rows for which one is not
            TRUE.
        remaining: The filters that `read` may leave unapplied for some or all rows; LIMIT is only
            pushed down without any. A filter may be in both.
    """

    accepted: tuple[Filter, ...] = ()
    remaining: tuple[Filter, ...] = ()

    @classmethod
    def of(cls, accepted: Sequence[Filter], remaining: Sequence[Filter]) -> FilterResult:
        """Return a result, with the arguments of Flink's ``Result.of``."""
        return cls(tuple(accepted), tuple(remaining))

    @classmethod
    def split(cls, filters: Iterable[Filter], accepts: Callable[[Filter], bool]) -> FilterResult:
        """Accept the filters for which a function is True; the others remain."""
        every = tuple(filters)
        accepted = tuple(filter_ for filter_ in every if accepts(filter_))
        return cls(accepted, tuple(filter_ for filter_ in every if filter_ not in accepted))


# --- comparisons -----------------------------------------------------------------------------


def _comparison(expression: Typed) -> Comparison | None:
    match expression:
        case Ref(name=name, type=BooleanType()):
            return Comparison(name, "=", True)
        case FunctionCall(arguments=(Ref() as column, *rest)):
            return _of_column(column, expression.function.name, rest)
        case FunctionCall(arguments=(Constant() as constant, Ref() as column)):
            operator = MIRRORED.get(expression.function.name)
            return (operator and _of_column(column, operator, [constant])) or None
        case _:
            return None


def _of_column(column: Ref, operator: str, rest: Sequence[Typed]) -> Comparison | None:
    match operator:
        case "IS NULL" | "IS NOT NULL":
            return Comparison(column.name, operator)
        case "NOT" | "IS FALSE" | "IS TRUE" if isinstance(column.type, BooleanType):
            return Comparison(column.name, "=", operator == "IS TRUE")
        case "IN" | "NOT IN" if not all(_fits(token, column.type) for token in rest):
            return None
        case "=" | "<>" if not _is_compared_exactly(column.type, rest[0].type):
            return None
        case "IN" | "NOT IN" | "BETWEEN":
            values = tuple(constant_value(token, column.type) for token in rest)
            return None if None in values else Comparison(column.name, operator, values)
        case _ if operator in MIRRORED:
            value = constant_value(rest[0], column.type)
            return None if value is None else Comparison(column.name, operator, value)
        case _:
            return None


def _fits(member: Typed, type_: DataType) -> bool:
    """Return whether a list member keeps its value in the column's type.

    Flink casts it to that type, in which an integer may become another one.
    """
    value = constant_value(member, type_)
    bits = _BITS.get(type(type_))
    return bits is None or (value is not None and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1))


_BITS: dict[type[DataType], int] = {
    TinyIntType: 8,
    SmallIntType: 16,
    IntType: 32,
    BigIntType: 64,
}


def _is_compared_exactly(left: DataType, right: DataType) -> bool:
    """Return whether a DECIMAL has all digits of two; if not, Flink's `=` rounds both."""
    if not isinstance(left, DecimalType) or not isinstance(right, DecimalType):
        return True
    common = common_decimal(left, right)
    return common.scale == max(left.scale, right.scale)


def constant_value(constant: Typed, type_: DataType) -> Any:
    """Return a constant as a column's value; None where they compare otherwise, and for NULL."""
    if not isinstance(constant, Constant) or not isinstance(constant.literal, Literal):
        return None
    text = constant.literal.text
    match type_, constant.literal.kind:
        case BooleanType(), LiteralKind.BOOLEAN:
            return text == "TRUE"
        case _, LiteralKind.EXACT if isinstance(type_, INTEGERS):
            return int(text) if isinstance(constant.type, INTEGERS) else None
        case DecimalType(), LiteralKind.EXACT:
            return Decimal(text)
        case DoubleType(), LiteralKind.EXACT | LiteralKind.APPROXIMATE:
            return float(text)
        case VarCharType(length=length), LiteralKind.STRING if length == MAX_LENGTH:
            return text
        case DateType(), LiteralKind.DATE:
            return dt.date.fromisoformat(text)
        case TimestampType(), LiteralKind.TIMESTAMP if constant.literal.charset is None:
            digits = len(text.partition(".")[2])
            return dt.datetime.fromisoformat(text) if digits <= MAX_PRECISION else None
        case _:
            return None
