"""Type rules of SQL and the Table API: implicit casts, comparisons, CAST, character sets.

The Table API casts arguments implicitly to the types of parameters; SQL does so only for strings in
comparisons. The two also compare different types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core import types
from schema_core.expressions.typed import Access, Constant, FunctionCall
from schema_core.sql.literals import CHARSETS
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types.casts import supports_implicit_cast
from schema_core.types.common import DIGITS
from schema_core.types.families import MEMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.expressions.typed import ArgumentTypes, Typed
    from schema_core.types import DataType

R, F = types.TypeRoot, types.TypeFamily

# --- implicit casts of the Table API --------------------------------------------------------------


def _decimal(actual: DataType) -> DataType:
    match actual:
        case types.DecimalType():
            return actual
        case types.FloatType():
            return types.DecimalType(14, 7)
        case types.DoubleType():
            return types.DecimalType(30, 15)
        case _:
            return types.DecimalType(DIGITS.get(actual.root, 1), 0)


def _varchar(actual: DataType) -> DataType:
    return types.VarCharType().with_length(
        actual.length if isinstance(actual, types.CharType) else 1
    )


def _varbinary(actual: DataType) -> DataType:
    return types.VarBinaryType().with_length(
        actual.length if isinstance(actual, types.BinaryType) else 1
    )


def _time(actual: DataType) -> DataType:
    return types.TimeType(actual.precision if isinstance(actual, types.TimestampType) else 0)


#: Root of a parameter -> the type that arguments of other roots are cast to. Other parameters
#: accept only their own root, and no untyped NULL.
COERCED: dict[types.TypeRoot, Callable[[DataType], DataType]] = {
    R.CHAR:                            lambda _: types.CharType(1),
    R.VARCHAR:                         _varchar,
    R.BOOLEAN:                         lambda _: types.BooleanType(),
    R.BINARY:                          lambda _: types.BinaryType(1),
    R.VARBINARY:                       _varbinary,
    R.DECIMAL:                         _decimal,
    R.TINYINT:                         lambda _: types.TinyIntType(),
    R.SMALLINT:                        lambda _: types.SmallIntType(),
    R.INTEGER:                         lambda _: types.IntType(),
    R.BIGINT:                          lambda _: types.BigIntType(),
    R.FLOAT:                           lambda _: types.FloatType(),
    R.DOUBLE:                          lambda _: types.DoubleType(),
    R.DATE:                            lambda _: types.DateType(),
    R.TIME_WITHOUT_TIME_ZONE:          _time,
    R.TIMESTAMP_WITHOUT_TIME_ZONE:     lambda _: types.TimestampType(6),
    R.TIMESTAMP_WITH_TIME_ZONE:        lambda _: types.ZonedTimestampType(6),
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE:  lambda _: types.LocalZonedTimestampType(6),
    R.INTERVAL_YEAR_MONTH: lambda _: types.YearMonthIntervalType(types.YearMonthResolution.MONTH),
    R.INTERVAL_DAY_TIME: lambda _: types.DayTimeIntervalType(types.DayTimeResolution.SECOND),
    R.NULL:                            lambda _: types.NullType(),
}  # fmt: skip

#: Family of a parameter -> the root that other arguments are cast to.
DEFAULT_ROOT: dict[types.TypeFamily, types.TypeRoot] = {
    F.NUMERIC: R.TINYINT,
    F.INTEGER_NUMERIC: R.TINYINT,
    F.EXACT_NUMERIC: R.TINYINT,
    F.APPROXIMATE_NUMERIC: R.DOUBLE,
    F.CHARACTER_STRING: R.VARCHAR,
    F.BINARY_STRING: R.VARBINARY,
    F.TIME: R.TIME_WITHOUT_TIME_ZONE,
    F.TIMESTAMP: R.TIMESTAMP_WITHOUT_TIME_ZONE,
}


def coerce(actual: DataType, kind: types.TypeRoot | types.TypeFamily) -> DataType | None:
    """The type that an argument is implicitly cast to for a root or family.

    >>> from schema_core.types import DataTypes as T
    >>> print(coerce(T.CHAR(3), types.TypeFamily.CHARACTER_STRING), coerce(T.TINYINT(), R.INTEGER))
    CHAR(3) INT
    >>> coerce(T.BIGINT(), R.INTEGER) is None
    True
    """
    if actual.is_(kind):
        return actual
    root = DEFAULT_ROOT.get(kind) if isinstance(kind, types.TypeFamily) else kind
    build = COERCED.get(root) if root else None
    return coerce_to_type(actual, build(actual)) if build else None


def coerce_to_type(actual: DataType, target: DataType) -> DataType | None:
    """The target with the nullability of the argument; None without an implicit cast.

    >>> from schema_core.types import DataTypes as T
    >>> print(coerce_to_type(T.INT(nullable=False), T.BIGINT()))
    BIGINT NOT NULL
    """
    if actual.root is R.NULL:
        return target.nullable()
    result = target.with_nullability(actual.is_nullable)
    return result if supports_implicit_cast(actual, result) else None


def holds_null(type_: DataType) -> bool:
    """Whether a value or, for a row, one of its fields may be NULL."""
    if type_.is_nullable:
        return True
    return isinstance(type_, types.RowType | types.StructuredType) and any(
        map(holds_null, type_.children())
    )


def time_attribute(type_: DataType) -> types.TimestampKind:
    """Which time attribute a type is; equality of types ignores it."""
    return type_.kind if isinstance(type_, types.AnyTimestampType) else types.TimestampKind.REGULAR


def varying(type_: types.LengthType) -> types.LengthType:
    """The variable-length string type of the same length."""
    kind = types.VarCharType if type_.is_(F.CHARACTER_STRING) else types.VarBinaryType
    return kind().with_length(type_.length).with_nullability(type_.is_nullable)


# --- comparisons ----------------------------------------------------------------------------------

#: Roots that SQL compares with each other, whatever their parameters.
COMPARABLE_ROOTS = (
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

#: Roots that SQL casts a string to in a comparison.
CAST_FROM_STRING = (
    MEMBERS[F.NUMERIC] | MEMBERS[F.DATETIME] | MEMBERS[F.INTERVAL] | frozenset({R.BOOLEAN})
)

#: Families whose members the Table API compares with each other.
COMPARABLE_FAMILIES = (F.NUMERIC, F.DATETIME, F.CHARACTER_STRING, F.BINARY_STRING)


def sql_comparable(left: DataType, right: DataType) -> bool:
    """Whether SQL compares two types by ``=``.

    >>> from schema_core.types import DataTypes as T
    >>> sql_comparable(T.STRING(), T.DATE()), sql_comparable(T.DATE(), T.TIMESTAMP(3))
    (True, False)
    """
    are_records = {isinstance(side, types.RowType | types.StructuredType) for side in (left, right)}
    if True in are_records:
        ours, theirs = left.children(), right.children()
        is_alike = False not in are_records and len(ours) == len(theirs)
        return is_alike and all(map(sql_comparable, ours, theirs))
    if R.NULL in (left.root, right.root) or left == right:
        return True
    if any(left.root in family and right.root in family for family in COMPARABLE_ROOTS):
        return True
    for first, other in ((left, right), (right, left)):
        if first.is_(F.CHARACTER_STRING) and other.root in CAST_FROM_STRING:
            return True
    return False


def sql_ordered(type_: DataType) -> bool:
    """Whether SQL orders the type by ``<``; structured types have equality only."""
    return not isinstance(type_, types.StructuredType)


def comparable(left: DataType, right: DataType, *, ordered: bool) -> bool:
    """Whether the Table API compares two types, for equality or also for order.

    >>> from schema_core.types import DataTypes as T
    >>> comparable(T.STRING(), T.INT(), ordered=False), comparable(T.DATE(), T.TIME(), ordered=True)
    (False, True)
    """
    if isinstance(left, types.LegacyType) or isinstance(right, types.LegacyType):
        return True
    if R.NULL in (left.root, right.root):
        return True
    if any(left.is_(family) and right.is_(family) for family in COMPARABLE_FAMILIES):
        return True
    if left.root is not right.root:
        return False
    if left.is_(F.CONSTRUCTED):
        ours, theirs = left.children(), right.children()
        return len(ours) == len(theirs) and all(
            comparable(first, other, ordered=ordered)
            for first, other in zip(ours, theirs, strict=True)
        )
    if isinstance(left, types.DistinctType):
        return left.nullable() == right.nullable() and comparable(
            left.source_type, left.source_type, ordered=ordered
        )
    if isinstance(left, types.StructuredType):
        return left.nullable() == right.nullable() and not ordered
    if isinstance(left, types.RawType):
        return left.nullable() == right.nullable()
    return True


#: Roots of elements that ARRAY_MAX, ARRAY_MIN and ARRAY_SORT accept.
SORTABLE_ROOTS = (
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


# --- CAST and TRY_CAST: what Flink types, although some casts fail when the job runs --------------

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
#: Roots that cast to a character string: all but variants.
PRINTABLE = (
    MEMBERS[F.PREDEFINED] | MEMBERS[F.CONSTRUCTED] | frozenset({R.STRUCTURED_TYPE, R.RAW, R.BITMAP})
)
#: Roots of types without children.
SIMPLE = MEMBERS[F.PREDEFINED]
TO_INSTANT = CHARACTERS | BYTES | NUMBERS | DATE | TIME | INSTANTS

#: Target root -> the roots that SQL casts to it. Nested types are cast by their children.
SOURCES: dict[types.TypeRoot, frozenset[types.TypeRoot]] = {
    # to                               from
    R.CHAR:                            PRINTABLE,
    R.VARCHAR:                         PRINTABLE,
    R.BOOLEAN:                         CHARACTERS | BOOLEAN | NUMBERS,
    R.BINARY:                          CHARACTERS | BYTES | frozenset({R.RAW}),
    R.VARBINARY:                       CHARACTERS | BYTES | frozenset({R.RAW}),
    **dict.fromkeys(NUMBERS,           CHARACTERS | BOOLEAN | NUMBERS | INSTANTS),
    R.DATE:                            CHARACTERS | BYTES | DATE | INSTANTS,
    R.TIME_WITHOUT_TIME_ZONE:          CHARACTERS | BYTES | TIME | INSTANTS,
    R.TIMESTAMP_WITHOUT_TIME_ZONE:     TO_INSTANT,
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE:  TO_INSTANT,
    R.INTERVAL_YEAR_MONTH:             CHARACTERS | EXACT | MONTHS,
    R.INTERVAL_DAY_TIME:               CHARACTERS | EXACT | MILLISECONDS,
}  # fmt: skip


INTERVALS = MONTHS | MILLISECONDS
DATETIMES = DATE | TIME | INSTANTS

#: The same for children of rows and collections, by roots only.
CHILD_SOURCES: dict[types.TypeRoot, frozenset[types.TypeRoot]] = {
    **SOURCES,
    R.BOOLEAN: CHARACTERS | BOOLEAN | MEMBERS[F.INTEGER_NUMERIC],
    **{root: SOURCES[root] | INTERVALS for root in EXACT},
    **{root: SOURCES[root] - BYTES for root in DATETIMES},
    R.BITMAP: frozenset({R.BITMAP}),
    R.VARIANT: frozenset({R.VARIANT}),
}


def supports_sql_cast(source: DataType, target: DataType) -> bool:
    """Whether SQL types ``CAST(source AS target)``, whatever their nullability.

    >>> from schema_core.types import DataTypes as T
    >>> supports_sql_cast(T.STRING(), T.DATE()), supports_sql_cast(T.DATE(), T.INT())
    (True, False)
    """
    if source.root is R.NULL:
        return True
    match source, target:
        case types.DistinctType(source_type=inner), _:
            return supports_sql_cast(inner, target)
        case _, types.DistinctType(source_type=inner):
            return supports_sql_cast(source, inner)
        case (
            (types.RowType() | types.StructuredType()),
            (types.RowType() | types.StructuredType()),
        ):
            return _supports_children_cast(source, target)
        case _, types.ArrayType() if source.is_(F.CHARACTER_STRING):
            return True
        case _, types.VarBinaryType(length=length) if source.root is R.BITMAP:
            return length == types.MAX_LENGTH
        case _ if source.root is target.root and source.is_(F.CONSTRUCTED):
            return _supports_children_cast(source, target)
        case _:
            return source.root in SOURCES.get(target.root, frozenset())


def _supports_children_cast(source: DataType, target: DataType) -> bool:
    """Whether the children are cast in order, whatever their names."""

    def supports(child: DataType, other: DataType) -> bool:
        if isinstance(other, types.ArrayType) and child.is_(F.CHARACTER_STRING):
            return False
        if child.root in CHILD_SOURCES.get(other.root, frozenset()):
            return True
        return child.root not in SIMPLE and supports_sql_cast(child, other)

    ours, theirs = source.children(), target.children()
    return len(ours) == len(theirs) and all(map(supports, ours, theirs))


def sql_cast_type(source: DataType, target: DataType) -> DataType:
    """The type of a cast: the target, nullable if the source is.

    Flink's planner types the cast of an array of rows to an array of strings as a multiset of rows
    with the first field as a string.
    """
    type_ = target.with_nullability(source.is_nullable)
    match source, target:
        case types.ArrayType(
            element_type=types.RowType() | types.StructuredType() as row
        ), types.ArrayType() if not target.element_type.is_(F.CONSTRUCTED) and row.fields:
            first = row.fields[0].with_type(target.element_type)
            element = types.RowType([first], target.element_type.is_nullable)
            return types.MultisetType(element, source.is_nullable)
        case _:
            return type_


# --- character sets -------------------------------------------------------------------------------

#: The character set of columns, and of literals without a prefix.
UNICODE = "utf-16-le"

#: Function -> the index of the argument whose character set it has.
CHARSET_ARGUMENT = {
    **dict.fromkeys(
        ("UPPER", "LOWER", "INITCAP", "LTRIM", "RTRIM", "OVERLAY", "AUXILIARY_GROUP"), 0
    ),
    **dict.fromkeys(("LISTAGG", "MAX", "MIN", "FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD"), 0),
    **dict.fromkeys(("ARRAY", "[]", "ELEMENT", "TRANSLATE USING"), 0),
    **dict.fromkeys(("MAP", "||"), 1),
    **dict.fromkeys(("IF", "TRIM"), 2),
}


def charset(tree: Typed) -> str:
    """The character set of a string expression, by the literal it is derived from.

    >>> from schema_core.expressions.type_checker import ColumnScope, infer
    >>> from schema_core.sql.parser import parse_expression
    >>> charset(infer(ColumnScope({}), parse_expression("UPPER(_UTF8'a')")))
    'utf-8'
    """
    while (inner := _charset_source(tree)) is not None:
        tree = inner
    match tree:
        case Constant(literal=Literal(kind=LiteralKind.STRING, charset=str(name))):
            return CHARSETS[name]
        case _:
            return UNICODE


def _charset_source(tree: Typed) -> Typed | None:
    match tree:
        case FunctionCall(function=function, arguments=arguments) if (
            function.name in CHARSET_ARGUMENT
        ):
            return arguments[CHARSET_ARGUMENT[function.name]]
        case FunctionCall(function=function, arguments=arguments) if function.name == "CASE":
            values = (*arguments[1:-1:2], arguments[-1])
            typed = [value for value in values if value.type.root is not R.NULL]
            return typed[0] if len(set(map(charset, typed))) == 1 else None
        case Access(value=FunctionCall(function=function, arguments=fields), name=name):
            places = range(len(fields)) if function.name == "ROW" else ()
            return next((fields[i] for i in places if name == f"EXPR${i}"), None)
        case _:
            return None


def has_mixed_charsets(args: ArgumentTypes, i: int) -> bool:
    """Whether an argument and the one before are strings in different charsets."""
    before, tree = args.trees[max(i - 1, 0)], args.trees[i]
    if not (before.type.is_(F.CHARACTER_STRING) and tree.type.is_(F.CHARACTER_STRING)):
        return False
    return charset(before) != charset(tree)
