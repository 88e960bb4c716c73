"""Which types can be compared: once as SQL's operators see it, once as the Table API does.

SQL reads a string beside a number or a date as one of those, the Table API never does; the Table
API compares a date with a time, SQL does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.types import (
    DistinctType,
    LegacyType,
    RawType,
    RowType,
    StructuredType,
    TypeFamily,
    TypeRoot,
)
from schema_core.types.families import MEMBERS

if TYPE_CHECKING:
    from schema_core.types import DataType

R, F = TypeRoot, TypeFamily

#: What SQL compares with each other, whatever the parameters and elements.
FAMILIES = (
    MEMBERS[F.CHARACTER_STRING],
    MEMBERS[F.BINARY_STRING],
    MEMBERS[F.NUMERIC],
    MEMBERS[F.TIMESTAMP],
    frozenset({R.BOOLEAN}),
    frozenset({R.DATE}),
    frozenset({R.TIME_WITHOUT_TIME_ZONE}),
    frozenset({R.INTERVAL_YEAR_MONTH}),
    frozenset({R.INTERVAL_DAY_TIME}),
    frozenset({R.ARRAY}),
    frozenset({R.MULTISET}),
    frozenset({R.MAP}),
)

#: What a string is read as when it stands beside it in a comparison.
READABLE = MEMBERS[F.NUMERIC] | MEMBERS[F.DATETIME] | MEMBERS[F.INTERVAL] | frozenset({R.BOOLEAN})

#: What the Table API compares with each other, whatever the parameters.
ALIKE = (F.NUMERIC, F.DATETIME, F.CHARACTER_STRING, F.BINARY_STRING)


def sql_comparable(left: DataType, right: DataType) -> bool:
    """Whether SQL compares two types by ``=``.

    >>> from schema_core.types import DataTypes as T
    >>> sql_comparable(T.STRING(), T.DATE()), sql_comparable(T.DATE(), T.TIMESTAMP(3))
    (True, False)
    """
    if isinstance(left, RowType | StructuredType) or isinstance(right, RowType | StructuredType):
        return _records(left, right)
    if R.NULL in (left.root, right.root) or left == right:
        return True
    if any(left.root in family and right.root in family for family in FAMILIES):
        return True
    for one, other in ((left, right), (right, left)):
        if one.is_(F.CHARACTER_STRING) and other.root in READABLE:
            return True
    return False


def _records(left: DataType, right: DataType) -> bool:
    """Rows and structured types, field by field."""
    for one in (left, right):
        if not isinstance(one, RowType | StructuredType):
            return False
    pairs = list(zip(left.children(), right.children(), strict=False))
    return len(left.children()) == len(right.children()) and all(
        sql_comparable(one, other) for one, other in pairs
    )


def sql_ordered(type_: DataType) -> bool:
    """Whether SQL's ``<`` takes the type; structured types are only equal or not."""
    return not isinstance(type_, StructuredType)


def comparable(left: DataType, right: DataType, *, ordered: bool) -> bool:
    """Whether the Table API compares two types, for equality or also for order.

    >>> from schema_core.types import DataTypes as T
    >>> comparable(T.STRING(), T.INT(), ordered=False), comparable(T.DATE(), T.TIME(), ordered=True)
    (False, True)
    """
    if isinstance(left, LegacyType) or isinstance(right, LegacyType):
        return True
    if R.NULL in (left.root, right.root):
        return True
    if any(left.is_(family) and right.is_(family) for family in ALIKE):
        return True
    if left.root is not right.root:
        return False
    if left.is_(F.CONSTRUCTED):
        ours, theirs = left.children(), right.children()
        return len(ours) == len(theirs) and all(
            comparable(one, other, ordered=ordered) for one, other in zip(ours, theirs, strict=True)
        )
    if isinstance(left, DistinctType):
        return left.nullable() == right.nullable() and comparable(
            left.source_type, left.source_type, ordered=ordered
        )
    if isinstance(left, StructuredType):
        return left.nullable() == right.nullable() and not ordered
    if isinstance(left, RawType):
        return left.nullable() == right.nullable()
    return True


#: Roots whose arrays have a greatest element and can be sorted.
SORTABLE = (
    MEMBERS[F.CHARACTER_STRING]
    | MEMBERS[F.BINARY_STRING]
    | MEMBERS[F.NUMERIC]
    | frozenset(
        {
            R.DATE,
            R.TIME_WITHOUT_TIME_ZONE,
            R.TIMESTAMP_WITHOUT_TIME_ZONE,
            R.TIMESTAMP_WITH_LOCAL_TIME_ZONE,
        }
    )
)
