"""Losses of converting types to foreign formats, and foreign schemas as read, with their losses.

`TARGETS` lists for each format the types that it represents only approximately.
``physical_equivalent(type, target)`` is what a conversion returns without exact-type metadata, so a
type without losses survives a round trip unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args
from unicodedata import category

from schema_core import types
from schema_core.base.arguments import require_instance
from schema_core.base.caching import cached, cached_by_identity
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.text import MAX_DEPTH, show
from schema_core.errors import (
    Diagnostic,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    choose_from,
    raise_all,
)
from schema_core.schema.resolved import PhysicalColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types.base import node_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Node = TypeVar("Node")


class LossKind(Enum):
    """What a conversion loses: its name, its meaning, and whether it silently changes values."""

    LENGTH = ("length", "the length limit is dropped", False)
    PRECISION = ("precision", "a type with more digits", False)
    TYPE = ("type", "another type with the same values", False)
    NULL_KEYS = ("null-keys", "NULL keys are refused on write", False)
    RANGE = ("range", "values outside the range are refused on write", False)
    NULLABILITY = ("nullability", "NOT NULL is dropped", False)
    LAYOUT = ("layout", "another physical layout of the same values", False)
    ZONE = ("zone", "the same instants in another time zone", False)
    COLLATION = ("collation", "the same strings, compared differently", False)
    MEMBER = ("member", "the target cannot represent it", False)
    DIGITS = ("digits", "fractional seconds are truncated", True)
    ROUNDED = ("rounded", "numbers are rounded", True)
    EMPTIED = ("emptied", "NULL becomes an empty value", True)
    REFUSED = ("refused", "the target cannot store the values", False)

    def __init__(self, word: str, meaning: str, changes_values: bool) -> None:
        self.word = word
        self.meaning = meaning
        self.changes_values = changes_values


#: Losses by which some values are refused on write.
REFUSING = frozenset({LossKind.NULL_KEYS, LossKind.RANGE, LossKind.REFUSED})


class LossRule(NamedTuple):
    """What a class of types becomes, on which condition, and the kind of loss.

    `becomes` is None where the target cannot store the values.
    """

    kind: LossKind
    becomes: Callable[[Any], types.DataType] | None
    when: Callable[[Any], bool] = lambda _: True
    remark: str = ""


@dataclass(frozen=True, slots=True)
class LossTarget:
    """A foreign format: its rules by class of type, and properties that hold for all types.

    `has_metadata`: it can store exact-type metadata. `folds_case`: column names that differ only in
    case collide.
    """

    name: str
    rows: Mapping[type[types.DataType], tuple[LossRule, ...]]
    has_metadata: bool = True
    forgets_not_null: bool = False
    folds_case: bool = False


STRING = types.VarCharType(types.MAX_LENGTH)
BYTES = types.VarBinaryType(types.MAX_LENGTH)
MICROSECONDS = 6
NANOSECONDS = 9


def _is_bounded(type_: types.LengthType) -> bool:
    return type_.length != types.MAX_LENGTH


#: Readers of Arrow IPC messages refuse very wide fixed-size values.
MAX_FIXED_BYTES = 1 << 20


def has_fixed_size(length: int) -> bool:
    """Return whether binary values of this length are stored as a fixed-size Arrow type."""
    return 0 < length <= MAX_FIXED_BYTES


def _is(type_: types.DataType) -> Callable[[types.DataType], types.DataType]:
    return lambda _: type_


def arrow_precision(precision: int) -> int:
    """Return the precision of the coarsest Arrow time unit that suffices and that Spark reads."""
    return MICROSECONDS if precision <= MICROSECONDS else NANOSECONDS


def _microseconds(type_: types.AnyTimestampType) -> types.DataType:
    return type(type_)(MICROSECONDS)


def widest_day_time(digits: int) -> types.DayTimeIntervalType:
    """Return the widest day-time interval with so many fractional digits."""
    return types.DayTimeIntervalType(types.DayTimeResolution.DAY_TO_SECOND, 6, digits)


WIDEST_YEAR_MONTH = types.YearMonthIntervalType(types.YearMonthResolution.YEAR_TO_MONTH, 4)


def _arrow_day_time(type_: types.DayTimeIntervalType) -> types.DataType:
    return widest_day_time(arrow_precision(type_.fractional_precision))


def as_not_null(type_: types.DataType) -> types.DataType:
    """Return the NOT NULL variant of a type, unless it is NULL, which has none."""
    return type_ if is_null(type_) else type_.not_null()


def _not_null_key(type_: types.MapType) -> types.DataType:
    return types.MapType(as_not_null(type_.key_type), type_.value_type)


def counts(type_: types.MultisetType) -> types.MapType:
    """Return the map that stores a multiset: its elements and their counts."""
    return types.MapType(type_.element_type, types.IntType(nullable=False))


def _with_offset(type_: types.ZonedTimestampType) -> types.DataType:
    instant = types.LocalZonedTimestampType(type_.precision, nullable=False)
    offset = types.SmallIntType(nullable=False)
    return types.RowType(
        [types.RowField("timestamp", instant), types.RowField("offset_minutes", offset)]
    )


def is_null(type_: types.DataType) -> bool:
    """Return whether the type is NULL or a distinct type of NULL."""
    return (
        is_null(type_.source_type)
        if isinstance(type_, types.DistinctType)
        else type_ == types.NullType()
    )


def _precision_above(digits: int) -> Callable[[Any], bool]:
    return lambda type_: type_.precision > digits


_REFUSED = (LossRule(LossKind.REFUSED, None),)
_NO_FIELDS = LossRule(LossKind.REFUSED, None, lambda type_: not type_.fields)
_ROW_OF_CLASS = (LossRule(LossKind.TYPE, lambda type_: types.RowType(type_.fields)),)
_IN_64_BITS = LossRule(
    LossKind.RANGE,
    lambda type_: type_,
    _precision_above(MICROSECONDS),
    " of the years 1677 to 2262",
)

#: Rules of all targets: types that only Flink has are stored as plain types.
COMMON: dict[type[types.DataType], tuple[LossRule, ...]] = {
    types.CharType: (LossRule(LossKind.LENGTH, _is(STRING)),),
    types.VarCharType: (LossRule(LossKind.LENGTH, _is(STRING), _is_bounded),),
    types.VarBinaryType: (LossRule(LossKind.LENGTH, _is(BYTES), _is_bounded),),
    types.MapType: (
        LossRule(
            LossKind.NULL_KEYS,
            _not_null_key,
            lambda type_: (
                type_.key_type.is_nullable and not isinstance(type_.key_type, types.NullType)
            ),
        ),
    ),
    types.MultisetType: (
        LossRule(
            LossKind.NULL_KEYS,
            lambda type_: types.MultisetType(as_not_null(type_.element_type)),
            lambda type_: type_.element_type.is_nullable and not is_null(type_.element_type),
        ),
        LossRule(LossKind.TYPE, lambda type_: _not_null_key(counts(type_))),
    ),
    types.StructuredType: _ROW_OF_CLASS,
    types.DistinctType: (LossRule(LossKind.TYPE, lambda type_: type_.source_type),),
    types.RawType: (LossRule(LossKind.TYPE, _is(BYTES)),),
    types.BitmapType: (LossRule(LossKind.TYPE, _is(BYTES)),),
    types.SymbolType: _REFUSED,
    types.DescriptorType: _REFUSED,
    types.LegacyType: _REFUSED,
    types.UnresolvedType: _REFUSED,
}

_ARROW_PRECISION = LossRule(
    LossKind.PRECISION,
    lambda type_: type(type_)(arrow_precision(type_.precision)),
    lambda type_: type_.precision not in (MICROSECONDS, NANOSECONDS),
)
_ARROW_TIMESTAMP = (_ARROW_PRECISION, _IN_64_BITS)

#: Arrow in memory, IPC and Feather: 64-bit times of at most nanoseconds; map keys are never NULL.
ARROW: dict[type[types.DataType], tuple[LossRule, ...]] = {
    **COMMON,
    types.BinaryType: (
        LossRule(LossKind.LENGTH, _is(BYTES), lambda type_: not has_fixed_size(type_.length)),
    ),
    types.TimeType: (_ARROW_PRECISION,),
    types.TimestampType: _ARROW_TIMESTAMP,
    types.LocalZonedTimestampType: _ARROW_TIMESTAMP,
    types.ZonedTimestampType: _ARROW_TIMESTAMP,
    types.YearMonthIntervalType: (LossRule(LossKind.TYPE, _is(types.IntType())),),
    types.DayTimeIntervalType: (
        LossRule(
            LossKind.PRECISION,
            _arrow_day_time,
            lambda type_: _arrow_day_time(type_) != type_.nullable(),
        ),
    ),
    types.MapType: (
        LossRule(LossKind.REFUSED, None, lambda type_: is_null(type_.key_type)),
        *COMMON[types.MapType],
    ),
    types.MultisetType: (
        LossRule(LossKind.REFUSED, None, lambda type_: is_null(type_.element_type)),
        *COMMON[types.MultisetType],
    ),
}

#: Parquet files, for readers that use only Parquet's own types.
PARQUET: dict[type[types.DataType], tuple[LossRule, ...]] = {
    **ARROW,
    types.ZonedTimestampType: (*_ARROW_TIMESTAMP, LossRule(LossKind.TYPE, _with_offset)),
    types.VariantType: (
        LossRule(
            LossKind.TYPE,
            _is(
                types.RowType(
                    [types.RowField(name, BYTES.not_null()) for name in ("metadata", "value")]
                )
            ),
        ),
    ),
    types.DayTimeIntervalType: (LossRule(LossKind.TYPE, _is(types.BigIntType())),),
    types.RowType: (_NO_FIELDS,),
    types.StructuredType: (_NO_FIELDS, *_ROW_OF_CLASS),
}

_SPARK_TIMESTAMP = (
    LossRule(LossKind.DIGITS, _microseconds, _precision_above(MICROSECONDS)),
    LossRule(LossKind.PRECISION, _microseconds, lambda type_: type_.precision < MICROSECONDS),
)

_SPARK_DAY_TIME = widest_day_time(MICROSECONDS)

#: Spark's types in memory and in StructType JSON: microseconds; strings have no length.
SPARK: dict[type[types.DataType], tuple[LossRule, ...]] = {
    **COMMON,
    types.BinaryType: (LossRule(LossKind.LENGTH, _is(BYTES)),),
    types.TimestampType: _SPARK_TIMESTAMP,
    types.LocalZonedTimestampType: _SPARK_TIMESTAMP,
    types.ZonedTimestampType: (*_SPARK_TIMESTAMP, LossRule(LossKind.TYPE, _with_offset)),
    types.YearMonthIntervalType: (
        LossRule(
            LossKind.PRECISION,
            _is(WIDEST_YEAR_MONTH),
            lambda type_: type_.nullable() != WIDEST_YEAR_MONTH,
        ),
    ),
    types.DayTimeIntervalType: (
        LossRule(
            LossKind.DIGITS,
            _is(_SPARK_DAY_TIME),
            lambda type_: type_.fractional_precision > MICROSECONDS,
        ),
        LossRule(
            LossKind.PRECISION,
            _is(_SPARK_DAY_TIME),
            lambda type_: (
                type_.fractional_precision <= MICROSECONDS and type_.nullable() != _SPARK_DAY_TIME
            ),
        ),
    ),
}

#: Spark's DDL: NOT NULL only for columns and fields, and no metadata.
SPARK_DDL: dict[type[types.DataType], tuple[LossRule, ...]] = {
    **SPARK,
    types.ArrayType: (
        LossRule(
            LossKind.NULLABILITY,
            lambda type_: types.ArrayType(type_.element_type.nullable()),
            lambda type_: not type_.element_type.is_nullable,
        ),
    ),
    types.MapType: (
        *SPARK[types.MapType],
        LossRule(
            LossKind.NULLABILITY,
            lambda type_: types.MapType(type_.key_type, type_.value_type.nullable()),
            lambda type_: not type_.value_type.is_nullable,
        ),
    ),
    types.MultisetType: (
        *SPARK[types.MultisetType],
        LossRule(
            LossKind.NULLABILITY, lambda counted: types.MapType(counted.key_type, types.IntType())
        ),
    ),
}

#: Unicode categories of a nested field's name in Hive: Java's letters and digits, besides ``_ .$``.
_HIVE_NAME_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})


def is_hive_name(name: str) -> bool:
    """Return whether Hive's type parser reads the string as a field name.

    >>> is_hive_name("Größe 1"), is_hive_name("a-b"), is_hive_name("m²")
    (True, False, False)
    """
    return all(
        character in "_ .$"
        or (category(character) in _HIVE_NAME_CATEGORIES and character <= "\uffff")
        for character in name
    )


def _has_invalid_hive_names(type_: types.RowType | types.StructuredType) -> bool:
    names = [field.name for field in type_.fields]
    return not (
        names and all(map(is_hive_name, names)) and len(set(map(str.lower, names))) == len(names)
    )


_INVALID_NAMES = LossRule(LossKind.REFUSED, None, _has_invalid_hive_names)

#: Tables of Hive's own formats (``STORED AS parquet``) that Spark writes.
HIVE: dict[type[types.DataType], tuple[LossRule, ...]] = {
    **SPARK,
    types.TimeType: _REFUSED,
    types.TimestampType: _REFUSED,
    types.VariantType: _REFUSED,
    types.NullType: _REFUSED,
    types.YearMonthIntervalType: _REFUSED,
    types.DayTimeIntervalType: _REFUSED,
    types.RowType: (_INVALID_NAMES,),
    types.StructuredType: (_INVALID_NAMES, *_ROW_OF_CLASS),
}  # fmt: skip

TARGETS: dict[str, LossTarget] = {
    target.name: target
    for target in (
        LossTarget("arrow", ARROW),
        LossTarget("parquet", PARQUET),
        LossTarget("spark:4.3", SPARK),
        LossTarget("spark-ddl:4.3", SPARK_DDL, has_metadata=False),
        LossTarget("hive", HIVE, forgets_not_null=True, folds_case=True),
    )
}


def child_names(type_: types.DataType) -> tuple[str, ...]:
    """Return the names of a type's children, as they appear in the path of a loss."""
    match type_:
        case types.RowType() | types.StructuredType():
            return tuple(field.name for field in type_.fields)
        case types.MapType():
            return ("key", "value")
        case _:
            return ("element",) * len(type_.children())


__all__ = [
    "Loss",
    "LossKind",
    "Policy",
    "enforce",
    "losses",
    "matches_physical",
    "physical_equivalent",
    "refuse",
]

#: `error`: refuse losses that silently change values; the exact type is kept as metadata. `note`:
#: convert in any case, with metadata. `accept`: without metadata.
Policy: TypeAlias = Literal["error", "note", "accept"]
POLICIES = get_args(Policy)


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a type or schema that a conversion does not preserve.

    `path` has names of columns and fields, and `element`, `key` and `value` for nested types. A
    loss is `reversible` if the exact-type metadata restores the original. `line` and `column` count
    from 1; they are 0 if the loss was not read from a script.
    """

    path: tuple[str, ...]
    kind: LossKind
    source: str
    target: str
    reversible: bool
    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)

    @property
    def changes_values(self) -> bool:
        """Whether the conversion silently changes values."""
        return self.kind.changes_values

    @property
    def lasts(self) -> bool:
        """Whether values or a part of the schema are lost, even with the exact-type metadata."""
        return not self.reversible or self.changes_values or self.kind in REFUSING

    def __str__(self) -> str:
        place = ".".join(self.path) or "the type"
        if not self.target:
            return f"{place}: {self.source} is dropped: {self.kind.meaning}"
        return f"{place}: {self.source} becomes {self.target} ({self.kind.meaning})"


def losses(what: ResolvedSchema | types.DataType, target: str) -> tuple[Loss, ...]:
    """Return what converting a schema or a type to a target loses.

    The targets are `arrow`, `parquet`, `spark:4.3`, `spark-ddl:4.3` and `hive`.

    Raises:
        SchemaError: with code `invalid-argument`.

    >>> from schema_core.types import parse_type
    >>> for loss in losses(parse_type("ROW<code CHAR(3), at TIMESTAMP(9)>"), "spark:4.3"):
    ...     print(loss)
    code: CHAR(3) becomes STRING (the length limit is dropped)
    at: TIMESTAMP(9) becomes TIMESTAMP(6) (fractional seconds are truncated)
    """
    rules = _require_target(target)
    require_instance(what, (ResolvedSchema, types.DataType), "what")
    if isinstance(what, types.DataType):
        return _type_losses(what, target)
    of_columns = [
        replace(loss, path=(column.name, *loss.path))
        for column in what.columns
        for loss in _type_losses(column.data_type, target)
    ]
    return (*of_columns, *_name_losses(what, rules), *_member_losses(what))


def lasting_losses(schema: ResolvedSchema) -> frozenset[tuple[str, LossKind]]:
    """Return the targets that cannot hold a schema losslessly, and the kinds of losses that last.

    >>> from schema_core.types import DataTypes
    >>> schema = ResolvedSchema.physical(["at"], [DataTypes.TIMESTAMP(9)])
    >>> sorted((target, kind.word) for target, kind in lasting_losses(schema))[-2:]
    [('spark-ddl:4.3', 'digits'), ('spark:4.3', 'digits')]
    """
    distinct = {id(column.data_type): column.data_type for column in schema.columns}
    lasting = frozenset().union(*map(_lasting_losses_of, distinct.values()))
    folded = {column.name.lower() for column in schema.columns}
    if len(folded) < len(schema.columns):
        for target in TARGETS.values():
            lasting |= {(target.name, loss.kind) for loss in _name_losses(schema, target)}
    if next(_member_losses(schema), None) is not None:
        lasting |= {(target, LossKind.MEMBER) for target in TARGETS}
    return lasting


@cached_by_identity(node_count, budget=50_000, unit="types")
def _lasting_losses_of(type_: types.DataType) -> frozenset[tuple[str, LossKind]]:
    return frozenset(
        (target, loss.kind)
        for target in TARGETS
        for loss in _type_losses(type_, target)
        if loss.lasts
    )


def physical_equivalent(type_: types.DataType, target: str) -> types.DataType | None:
    """Return the type that a reader without exact-type metadata gets, or None.

    >>> from schema_core.types import parse_type
    >>> print(physical_equivalent(parse_type("MULTISET<CHAR(3)>"), "arrow"))
    MAP<VARCHAR(2147483647) NOT NULL, INT NOT NULL>
    """
    require_instance(type_, types.DataType, "type_")
    return _physical_equivalent(type_, _require_target(target).name, None)


def enforce(reported: tuple[Loss, ...], on_loss: Policy) -> None:
    """Raise an error for losses that change values, unless the policy accepts them.

    Raises:
        UnsupportedError: with code `lossy`, one for each such loss.
        SchemaError: with code `invalid-argument`.
    """
    if on_loss not in POLICIES:
        hint = choose_from(on_loss, POLICIES)
        raise SchemaError(f"unknown policy {show(on_loss)}", code="invalid-argument", hint=hint)
    if on_loss == "error":
        raise_all(
            UnsupportedError(
                f"{loss.source} becomes {loss.target}: {loss.kind.meaning}",
                code="lossy",
                hint="pass on_loss='note' to keep the exact type as metadata, "
                "or 'accept' to drop it",
                path=loss.path,
            )
            for loss in reported
            if loss.changes_values
        )


def refuse(reported: Iterable[Loss], code: str) -> None:
    """Raise an error for everything that the target cannot store.

    Raises:
        UnsupportedError: with this code, one for each such loss.
    """
    raise_all(
        UnsupportedError(f"{loss.kind.meaning} of {loss.source}", code=code, path=loss.path)
        for loss in reported
        if loss.kind is LossKind.REFUSED
    )


def too_deep() -> UnsupportedError:
    """Return the error for a type whose nesting exceeds `MAX_DEPTH`."""
    return UnsupportedError(
        f"nested more than {MAX_DEPTH} levels deep",
        code="limit-exceeded",
        hint="move a nested part into a column of its own",
    )


def check_nesting(foreign: Node, children: Callable[[Node], Iterable[Node]]) -> None:
    """Refuse a type deeper than `MAX_DEPTH`, before anything recurses into it.

    Raises:
        UnsupportedError: with code `limit-exceeded`.
    """
    level, depth = [foreign], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise too_deep()
        level = [inner for data_type in level for inner in children(data_type)]


# --- evaluating the rules -------------------------------------------------------------------------


def _require_target(name: str) -> LossTarget:
    require_instance(name, str, "target")
    if name not in TARGETS:
        hint = choose_from(name, TARGETS)
        raise SchemaError(f"unknown target {name!r}", code="invalid-argument", hint=hint)
    return TARGETS[name]


@cached(node_count, unit="types")
def _type_losses(type_: types.DataType, target: str) -> tuple[Loss, ...]:
    return tuple(_walk(type_, TARGETS[target], (), is_key=False))


def _walk(
    type_: types.DataType, target: LossTarget, path: tuple[str, ...], *, is_key: bool
) -> Iterator[Loss]:
    # a type with a string form can be restored from metadata
    reversible = target.has_metadata and not (
        isinstance(type_, types.LengthType) and not type_.length
    )
    so_far = type_
    for row in _rows(type_, target):
        source = so_far.as_summary_string()
        if row.becomes is None:
            yield Loss(path, row.kind, source, "", reversible=False)
            continue
        so_far = row.becomes(so_far).with_nullability(type_.is_nullable)
        becomes = so_far.as_summary_string() + row.remark
        yield Loss(path, row.kind, source, becomes, reversible)
    if target.forgets_not_null and not type_.is_nullable and not is_key:
        source, becomes = so_far.as_summary_string(), so_far.summary_body()
        yield Loss(path, LossKind.NULLABILITY, source, becomes, reversible)
    for step, child in zip(child_names(type_), type_.children(), strict=True):
        inner = path if isinstance(type_, types.DistinctType) else (*path, step)
        yield from _walk(child, target, inner, is_key=step == "key")


def _rows(type_: types.DataType, target: LossTarget) -> list[LossRule]:
    return [row for row in target.rows.get(type(type_), ()) if row.when(type_)]


@cached(node_count, unit="types")
def _physical_equivalent(
    type_: types.DataType, target: str, left_out: LossKind | None
) -> types.DataType | None:
    rules = TARGETS[target]
    children = [_physical_equivalent(child, target, left_out) for child in type_.children()]
    if any(child is None for child in children):
        return None
    whole = type_.rebuild(tuple(child for child in children if child is not None))
    for row in _rows(type_, rules):
        if row.becomes is None:
            return None
        if row.kind is not left_out:
            whole = row.becomes(whole)
    if isinstance(whole, types.NullType):
        return whole
    whole = whole.with_nullability(type_.is_nullable)
    return _all_nullable(whole) if rules.forgets_not_null else whole


def _all_nullable(type_: types.DataType) -> types.DataType:
    """Return the type, nullable at every level except map keys."""
    children = [_all_nullable(child) for child in type_.children()]
    if isinstance(type_, types.MapType):
        children[0] = as_not_null(children[0])
    return type_.rebuild(tuple(children)).nullable()


def _name_losses(schema: ResolvedSchema, target: LossTarget) -> Iterator[Loss]:
    """Yield columns that an earlier column hides because names are compared without case."""
    seen: set[str] = set()
    for column in schema.columns if target.folds_case else ():
        if column.name.lower() in seen:
            summary = column.as_summary_string()
            yield Loss((column.name,), LossKind.REFUSED, summary, "", reversible=False)
        seen.add(column.name.lower())


def _member_losses(schema: ResolvedSchema) -> Iterator[Loss]:
    """Yield the parts of a schema besides physical columns, which no target stores."""

    def member_loss(name: str, text: str, becomes: str = "") -> Loss:
        return Loss((name,), LossKind.MEMBER, text, becomes, reversible=False)

    for column in schema.columns:
        if type(column) is not PhysicalColumn:  # faster than isinstance, for wide schemas
            yield member_loss(column.name, column.as_summary_string(), "a physical column")
    for watermark in schema.watermark_specs:
        yield member_loss("watermark", str(watermark))
    for index in schema.indexes:
        yield member_loss("index", str(index))
    if schema.primary_key is not None:
        yield member_loss("primary key", str(schema.primary_key))
    if schema.immutable_columns is not None:
        yield member_loss("immutable columns", str(schema.immutable_columns))


# --- matching metadata with a physical type -------------------------------------------------------


def matches_physical(
    exact: types.DataType, physical: types.DataType, target: str, *, exactly_null: bool
) -> bool:
    """Return whether `physical`, read without metadata, can be the physical type of `exact`.

    A finer time unit than required matches, since layouts differ in it; a coarser one does not.
    With `exactly_null` the nullability of nested types must be equal; files written by Spark drop
    it.
    """
    least = _physical_equivalent(exact, target, LossKind.PRECISION)
    return least is not None and _holds_values_of(least, physical, exactly_null=exactly_null)


def _holds_values_of(
    least: types.DataType, physical: types.DataType, *, exactly_null: bool
) -> bool:
    if isinstance(least, types.BinaryType) and physical.nullable() == BYTES:
        return True
    if type(least) is not type(physical) or child_names(least) != child_names(physical):
        return False
    pairs = list(zip(least.children(), physical.children(), strict=True))
    if exactly_null and any(first.is_nullable != other.is_nullable for first, other in pairs):
        return False
    if pairs or not least.parameters():
        return all(
            _holds_values_of(first, other, exactly_null=exactly_null) for first, other in pairs
        )
    match least, physical:  # parameters must be equal or, for times, not smaller
        case (
            types.TimeType() | types.AnyTimestampType(),
            types.TimeType() | types.AnyTimestampType(),
        ):
            return least.precision <= physical.precision
        case types.DayTimeIntervalType(), types.DayTimeIntervalType():
            is_finer = least.fractional_precision <= physical.fractional_precision
            is_whole = physical.resolution is types.DayTimeResolution.DAY_TO_SECOND
            return is_whole and (is_finer or not least.has_seconds)
        case types.YearMonthIntervalType(), types.YearMonthIntervalType():
            return physical.resolution is types.YearMonthResolution.YEAR_TO_MONTH
        case _:
            return least.parameters() == physical.parameters()


# --- foreign schemas as read ----------------------------------------------------------------------


class ForeignSchema(NamedTuple):
    """A foreign schema as read: the columns, errors of refused columns, and losses."""

    schema: Schema
    refused: tuple[Diagnostic, ...]
    losses: tuple[Loss, ...]


def read_fields(
    fields: Iterable[Any], read: Callable[[Any], tuple[types.RowField, tuple[Loss, ...]]]
) -> ForeignSchema:
    """Read every field; an error of one does not affect the others."""
    builder = Schema.new_builder()
    refused: list[Diagnostic] = []
    reported: list[Loss] = []
    for member in fields:
        try:
            row_field, field_losses = read(member)
        except SchemaCoreError as error:
            refused += error.diagnostics
            continue
        builder.column(row_field.name, row_field.data_type)
        if row_field.description is not None:
            builder.with_comment(row_field.description)
        reported += field_losses
    return ForeignSchema(builder.build(), tuple(refused), tuple(reported))


def raise_refused(refused: Iterable[Diagnostic]) -> None:
    """Raise the errors of refused columns as one error, if there are any."""
    raise_all(
        UnsupportedError(error.message, code=error.code, hint=error.hint, path=error.path)
        for error in refused
    )
