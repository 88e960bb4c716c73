"""Casts between data types: `why_not` returns the obstacle, the other functions project it.

Lengths, precisions and scales are not compared: ``CHAR(3)`` casts implicitly to ``CHAR(2)``.
`supports_avoiding_cast` does compare them.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.types.atomic import BinaryType, CharType, VarBinaryType, VarCharType
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot
from schema_core.types.nested import MapType, RowType, require_type
from schema_core.types.temporal import DayTimeIntervalType, YearMonthIntervalType
from schema_core.types.user_defined import DistinctType, StructuredType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Roots: TypeAlias = frozenset[TypeRoot]


class Sources(NamedTuple):
    """The source roots of implicit casts, and of additional explicit ones."""

    implicit: Roots
    explicit: Roots


class CastMode(Enum):
    """Whether a cast is implicit, or explicit by ``CAST``."""

    IMPLICIT = "IMPLICIT"
    EXPLICIT = "EXPLICIT"


R, F = TypeRoot, TypeFamily

CHARACTERS = MEMBERS[F.CHARACTER_STRING]
BYTES = MEMBERS[F.BINARY_STRING]
INTEGERS = MEMBERS[F.INTEGER_NUMERIC]
EXACT = MEMBERS[F.EXACT_NUMERIC]
NUMBERS = MEMBERS[F.NUMERIC]
ZONES = MEMBERS[F.TIMESTAMP]
DATETIMES = MEMBERS[F.DATETIME]
INTERVALS = MEMBERS[F.INTERVAL]

NONE: Roots = frozenset()
CHAR: Roots = frozenset({R.CHAR})
BINARY: Roots = frozenset({R.BINARY})
BOOLEAN: Roots = frozenset({R.BOOLEAN})
TINY: Roots = frozenset({R.TINYINT})
SMALL: Roots = TINY | {R.SMALLINT}
INT: Roots = SMALL | {R.INTEGER}
DATE: Roots = frozenset({R.DATE})
TIME: Roots = frozenset({R.TIME_WITHOUT_TIME_ZONE})
CLOCK: Roots = frozenset({R.TIMESTAMP_WITHOUT_TIME_ZONE})
ZONED: Roots = frozenset({R.TIMESTAMP_WITH_TIME_ZONE})
INSTANTS: Roots = CLOCK | {R.TIMESTAMP_WITH_LOCAL_TIME_ZONE}
MONTHS: Roots = frozenset({R.INTERVAL_YEAR_MONTH})
MILLISECONDS: Roots = frozenset({R.INTERVAL_DAY_TIME})
RAW: Roots = frozenset({R.RAW})
#: Roots whose values have a string representation.
PRINTABLE = MEMBERS[F.PREDEFINED] | MEMBERS[F.CONSTRUCTED] | RAW | {R.STRUCTURED_TYPE, R.BITMAP}
#: Roots that cast explicitly to a number.
COUNTED = CHARACTERS | BOOLEAN | NUMBERS | INSTANTS

#: Target root -> the roots that cast to it implicitly and explicitly (Flink's LogicalTypeCasts).
#: NULL casts to every type; nested and user-defined types are compared by children.
CASTS: dict[TypeRoot, Sources] = {
    # target                                   implicit              explicit
    R.CHAR:                            Sources(CHAR,                 PRINTABLE),
    R.VARCHAR:                         Sources(CHARACTERS,           PRINTABLE),
    R.BOOLEAN:                         Sources(BOOLEAN,              CHARACTERS | INTEGERS),
    R.BINARY:                          Sources(BINARY,               CHARACTERS | BYTES | RAW),
    R.VARBINARY:                       Sources(BYTES,                CHARACTERS | RAW),
    R.DECIMAL:                         Sources(NUMBERS,              COUNTED),
    R.TINYINT:                         Sources(TINY,                 COUNTED),
    R.SMALLINT:                        Sources(SMALL,                COUNTED),
    R.INTEGER:                         Sources(INT,                  COUNTED),
    R.BIGINT:                          Sources(INTEGERS,             COUNTED),
    R.FLOAT:                           Sources(EXACT | {R.FLOAT},    COUNTED),
    R.DOUBLE:                          Sources(NUMBERS,              COUNTED),
    R.DATE:                            Sources(DATE | CLOCK,         CHARACTERS | ZONES),
    R.TIME_WITHOUT_TIME_ZONE:          Sources(TIME | CLOCK,         CHARACTERS | ZONES),
    R.TIMESTAMP_WITHOUT_TIME_ZONE:     Sources(INSTANTS,    CHARACTERS | DATETIMES | NUMBERS),
    R.TIMESTAMP_WITH_TIME_ZONE:        Sources(ZONED,                CHARACTERS | DATETIMES),
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE:  Sources(INSTANTS,    CHARACTERS | DATETIMES | NUMBERS),
    R.INTERVAL_YEAR_MONTH:             Sources(MONTHS,               CHARACTERS),
    R.INTERVAL_DAY_TIME:               Sources(MILLISECONDS,         CHARACTERS),
    R.ARRAY:                           Sources(NONE,                 NONE),
    R.MULTISET:                        Sources(NONE,                 NONE),
    R.MAP:                             Sources(NONE,                 NONE),
    R.ROW:                             Sources(NONE,                 NONE),
    R.DISTINCT_TYPE:                   Sources(NONE,                 NONE),
    R.STRUCTURED_TYPE:                 Sources(NONE,                 NONE),
    R.NULL:                            Sources(NONE,                 NONE),
    R.RAW:                             Sources(NONE,                 NONE),
    R.SYMBOL:                          Sources(NONE,                 NONE),
    R.UNRESOLVED:                      Sources(NONE,                 NONE),
    R.DESCRIPTOR:                      Sources(NONE,                 NONE),
    R.VARIANT:                         Sources(NONE,                 NONE),
    R.BITMAP:                          Sources(NONE,                 NONE),
}  # fmt: skip

#: Roots of types with children.
COMPOSED = MEMBERS[F.CONSTRUCTED] | {R.STRUCTURED_TYPE}
RECORDS = frozenset({R.ROW, R.STRUCTURED_TYPE})


@dataclass(frozen=True, slots=True)
class CastError:
    """Why a type does not cast to another: the types that differ, and the path to them.

    >>> from schema_core.types import parse_type
    >>> print(why_not(parse_type("ROW<a ARRAY<INT>>"), parse_type("ROW<b ARRAY<DATE>>")))
    field 'a', element: INT cannot be cast to DATE
    """

    source: DataType
    target: DataType
    problem: str
    path: tuple[str, ...] = ()

    def under(self, step: str) -> CastError:
        """The error with a step before its path."""
        return replace(self, path=(step, *self.path))

    def __str__(self) -> str:
        place = f"{', '.join(self.path)}: " if self.path else ""
        source, target = self.source.as_summary_string(), self.target.as_summary_string()
        return f"{place}{source} {self.problem} {target}"


def can_cast(source: DataType, target: DataType, mode: CastMode = CastMode.IMPLICIT) -> bool:
    """Whether the source casts to the target, implicitly or by ``CAST``.

    >>> from schema_core.types import DataTypes as T
    >>> can_cast(T.STRING(), T.INT()), can_cast(T.STRING(), T.INT(), CastMode.EXPLICIT)
    (False, True)
    """
    return why_not(source, target, mode) is None


def supports_implicit_cast(source: DataType, target: DataType) -> bool:
    """Whether the source casts to the target implicitly.

    >>> from schema_core.types import DataTypes as T
    >>> supports_implicit_cast(T.INT(), T.BIGINT()), supports_implicit_cast(T.BIGINT(), T.INT())
    (True, False)
    """
    return can_cast(source, target, CastMode.IMPLICIT)


def supports_explicit_cast(source: DataType, target: DataType) -> bool:
    """Whether ``CAST`` converts the source to the target, whatever their nullability.

    >>> from schema_core.types import DataTypes as T
    >>> supports_explicit_cast(T.STRING(), T.DATE()), supports_explicit_cast(T.DATE(), T.INT())
    (True, False)
    """
    return can_cast(source, target, CastMode.EXPLICIT)


def why_not(
    source: DataType, target: DataType, mode: CastMode = CastMode.IMPLICIT
) -> CastError | None:
    """Why the source does not cast to the target; None if it does.

    The order of the checks is Flink's.

    >>> from schema_core.types import DataTypes as T
    >>> print(why_not(T.MAP(T.STRING(), T.INT()), T.MAP(T.STRING(), T.INT(nullable=False))))
    value: INT is nullable, unlike INT NOT NULL
    """
    require_type(source, "the source")
    require_type(target, "the target")
    if mode is CastMode.IMPLICIT and source.is_nullable and not target.is_nullable:
        return CastError(source, target, "is nullable, unlike")
    if source.root is TypeRoot.NULL or source.nullable() == target.nullable():
        return None
    match source, target:
        case DistinctType(), DistinctType():
            return CastError(source, target, "is a different distinct type from")
        case DistinctType(source_type=inner), _:
            return why_not(inner, target, mode)
        case _, DistinctType(source_type=inner):
            return why_not(source, inner, mode)
    roots = {source.root, target.root}
    if roots & INTERVALS and roots & EXACT:
        if is_single_field(source if source.root in INTERVALS else target):
            return None
        return CastError(source, target, "requires a single interval field to be cast to")
    if source.root in COMPOSED and target.root in COMPOSED:
        return _compare_children(source, target, partial(why_not, mode=mode))
    sources, explicit = CASTS[target.root]
    if mode is CastMode.EXPLICIT:
        sources |= explicit
        if isinstance(target, VarBinaryType) and target.length == MAX_LENGTH:
            sources |= {R.BITMAP}  # a bitmap has no maximum length
    return None if source.root in sources else _misfit(source, target)


def _misfit(source: DataType, target: DataType) -> CastError:
    return CastError(source, target, "cannot be cast to")


def is_single_field(type_: DataType) -> bool:
    """Whether it is an interval of one field: ``INTERVAL DAY``, not ``DAY TO HOUR``."""
    return (
        isinstance(type_, DayTimeIntervalType | YearMonthIntervalType)
        and " TO " not in type_.resolution.value
    )


# --- rows, collections, structured types: child by child, in order -------------------------------


def _compare_children(
    source: DataType, target: DataType, compare: Callable[[DataType, DataType], CastError | None]
) -> CastError | None:
    """Compare children by position, without names and comments."""
    left, right = source.root, target.root
    if left is not right and not {left, right} <= RECORDS:
        return _misfit(source, target)
    if isinstance(source, StructuredType) and isinstance(target, StructuredType):
        if source.path or target.path:
            return CastError(source, target, "is a different registered type from")
        # Flink ignores attributes that only the target has.
        targets = target.children()[: len(source.fields)]
    else:
        targets = target.children()
    if len(source.children()) != len(targets):
        return CastError(source, target, "has a different number of fields than")
    for step, child, other in zip(_steps(source), source.children(), targets, strict=True):
        if result := compare(child, other):
            return result.under(step)
    return None


def _steps(type_: DataType) -> Sequence[str]:
    """The path step of each child."""
    match type_:
        case RowType(fields=fields) | StructuredType(fields=fields):
            return [f"field {field.name!r}" for field in fields]
        case MapType():
            return ("key", "value")
        case _:
            return ("element",) * len(type_.children())


# --- assignment without a cast -------------------------------------------------------------------


def supports_avoiding_cast(source: DataType, target: DataType) -> bool:
    """Whether every value of the source is a value of the target.

    >>> from schema_core.types import DataTypes as T
    >>> supports_avoiding_cast(T.CHAR(3), T.VARCHAR(5)), supports_avoiding_cast(T.INT(), T.BIGINT())
    (True, False)
    """
    source, target = require_type(source, "the source"), require_type(target, "the target")
    return _difference(source, target) is None


def _difference(source: DataType, target: DataType) -> CastError | None:
    """The first difference that requires a cast."""
    if source.is_nullable and not target.is_nullable:
        return CastError(source, target, "is nullable, unlike")
    if source.nullable() == target.nullable() or _fits(source, target):
        return None
    if isinstance(source, DistinctType) and isinstance(target, DistinctType):
        return _difference(source.source_type, target.source_type)
    alike = source.root is target.root or {source.root, target.root} <= RECORDS
    if alike and source.root in COMPOSED:
        return _compare_children(source, target, _difference)
    return CastError(source, target, "has a different physical type from")


def _fits(source: DataType, target: DataType) -> bool:
    """Whether the target extends a length or precision of the source."""
    match source, target:
        case CharType() | VarCharType(), VarCharType():
            return source.length <= target.length
        case BinaryType() | VarBinaryType(), VarBinaryType():
            return source.length <= target.length
        case YearMonthIntervalType(), YearMonthIntervalType():
            return source.precision <= target.precision
        case DayTimeIntervalType(), DayTimeIntervalType():
            return (
                source.day_precision <= target.day_precision
                and source.fractional_precision <= target.fractional_precision
            )
        case _:
            return False
