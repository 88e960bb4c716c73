"""What ``CAST`` and ``TRY_CAST`` in SQL accept: not quite what `types.casts` allows on request.

SQL refuses numbers of intervals, takes strings for arrays of strings, and reads bytes as dates,
although Flink then fails when the job runs: typing accepts what Flink's typing accepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    DistinctType,
    MultisetType,
    RowType,
    StructuredType,
    TypeFamily,
    TypeRoot,
    VarBinaryType,
)
from schema_core.types.families import MEMBERS

if TYPE_CHECKING:
    from schema_core.types import DataType

R, F = TypeRoot, TypeFamily

CHARACTERS = MEMBERS[F.CHARACTER_STRING]
BYTES = MEMBERS[F.BINARY_STRING]
NUMBERS = MEMBERS[F.NUMERIC]
EXACT = MEMBERS[F.EXACT_NUMERIC]
INSTANTS = frozenset({R.TIMESTAMP_WITHOUT_TIME_ZONE, R.TIMESTAMP_WITH_LOCAL_TIME_ZONE})
DATE = frozenset({R.DATE})
TIME = frozenset({R.TIME_WITHOUT_TIME_ZONE})
BOOLEAN = frozenset({R.BOOLEAN})
MONTHS = frozenset({R.INTERVAL_YEAR_MONTH})
MILLISECONDS = frozenset({R.INTERVAL_DAY_TIME})
#: Whatever SQL can show as text: all but variants.
SHOWN = (
    MEMBERS[F.PREDEFINED] | MEMBERS[F.CONSTRUCTED] | frozenset({R.STRUCTURED_TYPE, R.RAW, R.BITMAP})
)
#: What has no children.
SIMPLE = MEMBERS[F.PREDEFINED]
INTO_INSTANT = CHARACTERS | BYTES | NUMBERS | DATE | TIME | INSTANTS

#: Target root -> the roots that SQL casts into it. Rows and collections go by their children.
SOURCES: dict[TypeRoot, frozenset[TypeRoot]] = {
    # into                             from
    R.CHAR:                            SHOWN,
    R.VARCHAR:                         SHOWN,
    R.BOOLEAN:                         CHARACTERS | BOOLEAN | NUMBERS,
    R.BINARY:                          CHARACTERS | BYTES | frozenset({R.RAW}),
    R.VARBINARY:                       CHARACTERS | BYTES | frozenset({R.RAW}),
    **dict.fromkeys(NUMBERS,           CHARACTERS | BOOLEAN | NUMBERS | INSTANTS),
    R.DATE:                            CHARACTERS | BYTES | DATE | INSTANTS,
    R.TIME_WITHOUT_TIME_ZONE:          CHARACTERS | BYTES | TIME | INSTANTS,
    R.TIMESTAMP_WITHOUT_TIME_ZONE:     INTO_INSTANT,
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE:  INTO_INSTANT,
    R.INTERVAL_YEAR_MONTH:             CHARACTERS | EXACT | MONTHS,
    R.INTERVAL_DAY_TIME:               CHARACTERS | EXACT | MILLISECONDS,
}  # fmt: skip


INTERVALS = MONTHS | MILLISECONDS
MOMENTS = DATE | TIME | INSTANTS

#: The same for what rows and collections hold, where SQL looks at roots alone.
WITHIN: dict[TypeRoot, frozenset[TypeRoot]] = {
    **SOURCES,
    R.BOOLEAN: CHARACTERS | BOOLEAN | MEMBERS[F.INTEGER_NUMERIC],
    **{root: SOURCES[root] | INTERVALS for root in EXACT},
    **{root: SOURCES[root] - BYTES for root in MOMENTS},
    R.BITMAP: frozenset({R.BITMAP}),
    R.VARIANT: frozenset({R.VARIANT}),
}


def sql_casts(source: DataType, target: DataType) -> bool:
    """Whether ``CAST(source AS target)`` is typed; nullability does not matter.

    >>> from schema_core.types import DataTypes as T
    >>> sql_casts(T.STRING(), T.DATE()), sql_casts(T.DATE(), T.INT())
    (True, False)
    """
    if source.root is R.NULL:
        return True
    match source, target:
        case DistinctType(source_type=inner), _:
            return sql_casts(inner, target)
        case _, DistinctType(source_type=inner):
            return sql_casts(source, inner)
        case ((RowType() | StructuredType()), (RowType() | StructuredType())):
            return _children(source, target)
        case _, ArrayType() if source.is_(F.CHARACTER_STRING):
            return True
        case _, VarBinaryType(length=length) if source.root is R.BITMAP:
            return length == MAX_LENGTH
        case _ if source.root is target.root and source.is_(F.CONSTRUCTED):
            return _children(source, target)
        case _:
            return source.root in SOURCES.get(target.root, frozenset())


def _children(source: DataType, target: DataType) -> bool:
    """Child by child, in order; names do not matter."""
    ours, theirs = source.children(), target.children()
    return len(ours) == len(theirs) and all(map(_casts_within, ours, theirs))


def _casts_within(source: DataType, target: DataType) -> bool:
    """Whether a child is cast: a text is no array there."""
    if isinstance(target, ArrayType) and source.is_(F.CHARACTER_STRING):
        return False
    if source.root in WITHIN.get(target.root, frozenset()):
        return True
    return source.root not in SIMPLE and sql_casts(source, target)


def sql_cast_type(source: DataType, target: DataType) -> DataType:
    """The type that a cast has: the target, nullable where the source is.

    An array of rows that is cast into an array of strings becomes, in Flink's planner, a multiset
    of rows with the first field as text.
    """
    type_ = target.with_nullability(source.is_nullable)
    match source, target:
        case ArrayType(element_type=RowType() | StructuredType() as row), ArrayType() if (
            not target.element_type.is_(F.CONSTRUCTED) and row.fields
        ):
            first = row.fields[0].with_type(target.element_type)
            element = RowType([first], target.element_type.is_nullable)
            return MultisetType(element, source.is_nullable)
        case _:
            return type_
