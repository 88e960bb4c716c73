"""Hypothesis strategies for names, types, values, paths, schemas and catalog objects."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, cast

from hypothesis import strategies as st

from schema_core import types as declared
from schema_core.base.paths import MAX_NAME, UnresolvedPath
from schema_core.base.text import is_blank, quote_identifier
from schema_core.catalog import objects
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.scope import ColumnScope
from schema_core.schema.unresolved import (
    Schema,
    SchemaBuilder,
    UnresolvedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.types import (
    ArrayType,
    AtomicType,
    DataType,
    DataTypes,
    DayTimeIntervalType,
    DayTimeResolution,
    DecimalType,
    DistinctType,
    LengthType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowField,
    RowType,
    StructuredType,
    SymbolType,
    TimestampType,
    YearMonthIntervalType,
    YearMonthResolution,
    atomic,
    temporal,
)
from schema_core.types.values import MONTHS

_CHARACTERS = st.characters(exclude_categories=["Cs"])

#: Types without children that a type string can express; new public ones are included.
ATOMIC: tuple[type[AtomicType], ...] = tuple(
    kind
    for kind in (getattr(declared, name) for name in declared.__all__)
    if isinstance(kind, type) and issubclass(kind, AtomicType) and hasattr(kind, "root")
    if kind is not SymbolType
)


def names() -> st.SearchStrategy[str]:
    """Any field or column name: no lone surrogates, not only white space."""
    return st.text(_CHARACTERS, min_size=1, max_size=20).filter(lambda name: not is_blank(name))


def comments() -> st.SearchStrategy[str | None]:
    """Any comment, also empty, or none."""
    return st.none() | st.text(_CHARACTERS, max_size=20)


@st.composite
def atomic_types(draw: st.DrawFn) -> DataType:
    """Any type without children, with parameters of their whole ranges, limits included."""
    kind = draw(st.sampled_from(ATOMIC))
    if kind is NullType:
        return NullType()
    values: dict[str, Any] = {
        name: draw(st.sampled_from((limit[0], limit[-1])) | st.sampled_from(limit))
        for name, limit in kind.limits.items()
    }
    if kind is DecimalType:
        values["scale"] = min(values["scale"], values["precision"])
    if kind is YearMonthIntervalType:
        values = draw(_year_month(values["precision"]))
    if kind is DayTimeIntervalType:
        values = draw(_day_time(**values))
    return kind(**values, nullable=draw(st.booleans()))


@st.composite
def _year_month(draw: st.DrawFn, precision: int) -> dict[str, Any]:
    resolution = draw(st.sampled_from(YearMonthResolution))
    if resolution is YearMonthResolution.MONTH:
        return {"resolution": resolution}
    return {"resolution": resolution, "precision": precision}


@st.composite
def _day_time(draw: st.DrawFn, day_precision: int, fractional_precision: int) -> dict[str, Any]:
    """Only intervals with days have a precision of days, only those with seconds one of seconds."""
    resolution = draw(st.sampled_from(DayTimeResolution))
    values: dict[str, Any] = {"resolution": resolution}
    if resolution.value.startswith("DAY"):
        values["day_precision"] = day_precision
    if resolution.value.endswith("SECOND"):
        values["fractional_precision"] = fractional_precision
    return values


def class_names() -> st.SearchStrategy[str]:
    """Names of Java classes."""
    return st.sampled_from(("com.acme.User", "com.acme.Order$Line", "User", "A1"))


@st.composite
def raw_types(draw: st.DrawFn) -> DataType:
    """Opaque types with a well-formed but meaningless snapshot."""
    class_name = draw(class_names())
    serializer = draw(class_names()).encode()
    snapshot = len(serializer).to_bytes(2) + serializer + draw(st.binary(max_size=8))
    return RawType(class_name, base64.b64encode(snapshot).decode(), draw(st.booleans()))


def fields(
    data_types: st.SearchStrategy[DataType], max_size: int = 4
) -> st.SearchStrategy[list[RowField]]:
    """Fields of rows and structured types, with distinct names."""
    return st.lists(
        st.builds(RowField, names(), data_types, comments()),
        max_size=max_size,
        unique_by=lambda field: field.name,
    )


def nest_types(data_types: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    """Types one level above the given ones."""
    return st.one_of(
        st.builds(ArrayType, data_types, st.booleans()),
        st.builds(MultisetType, data_types, st.booleans()),
        st.builds(MapType, data_types, data_types, st.booleans()),
        st.builds(RowType, fields(data_types), st.booleans()),
        st.builds(StructuredType, class_names(), fields(data_types), st.booleans()),
    )


def types(max_leaves: int = 8) -> st.SearchStrategy[DataType]:
    """Any type that a type string can express, with about `max_leaves` atomic types at most."""
    return st.recursive(atomic_types() | raw_types(), nest_types, max_leaves=max_leaves)


def user_defined_types(data_types: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    """Types that a catalog stores: distinct and structured types with a path."""
    identifiers = st.tuples(names(), names(), names())
    return st.one_of(
        st.builds(DistinctType, identifiers, data_types, description=comments()),
        st.builds(
            StructuredType,
            st.none() | class_names(),
            fields(data_types),
            st.booleans(),
            path=identifiers,
            description=comments(),
        ),
    )


def paths() -> st.SearchStrategy[UnresolvedPath]:
    """Any path that SQL can express: one to three names without line breaks."""
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")
    parts = st.text(characters, min_size=1, max_size=MAX_NAME // 2)
    visible = parts.filter(lambda name: not is_blank(name))
    return st.builds(UnresolvedPath, st.lists(visible, min_size=1, max_size=3))


# --- values ---------------------------------------------------------------------------------------


#: The longest variable-length strings, and fixed-length types, that are generated.
SHORT, LONGEST = 8, 1_000

_ENOUGH_DIGITS = Context(prec=100)


def values(type_: DataType) -> st.SearchStrategy[Any]:
    """Any value of the type, None included if it is nullable.

    `type-not-supported` for a type without a strategy.
    """
    row = DRAWN.get(type(type_))
    if row is None and type_.is_nullable:
        return st.none()
    if row is None or not has_values(type_):
        raise UnsupportedError(
            f"there is no strategy for values of {type_}", code="type-not-supported"
        )
    strategy = row(type_)
    return st.none() | strategy if type_.is_nullable else strategy


def has_values(type_: DataType) -> bool:
    """Return whether there is a strategy: Python has values, fixed lengths are not too long."""
    return all(
        (type(node) in DRAWN or node.is_nullable)
        and not (isinstance(node, atomic.CharType | atomic.BinaryType) and node.length > LONGEST)
        for node in type_.walk()
    )


def _integers(size: int) -> Callable[[DataType], st.SearchStrategy[Any]]:
    bound = 1 << 8 * size - 1
    return lambda _: st.integers(-bound, bound - 1)


def _decimal(type_: DecimalType) -> st.SearchStrategy[Decimal]:
    bound = 10**type_.precision - 1
    digits = st.integers(-bound, bound)
    return digits.map(lambda number: Decimal(number).scaleb(-type_.scale, _ENOUGH_DIGITS))


def _least(type_: LengthType) -> int:
    """Return a value's minimum length: the type's length if that is fixed."""
    return type_.length if isinstance(type_, atomic.CharType | atomic.BinaryType) else 0


def _text(type_: LengthType) -> st.SearchStrategy[str]:
    least = _least(type_)
    most = least or min(type_.length, SHORT)
    return st.text(_CHARACTERS, min_size=least, max_size=most)


def _bytes(type_: LengthType) -> st.SearchStrategy[bytes]:
    least = _least(type_)
    return st.binary(min_size=least, max_size=least or min(type_.length, SHORT))


def _array(type_: ArrayType) -> st.SearchStrategy[list[Any]]:
    return st.lists(values(type_.element_type), max_size=3)


def _row(type_: RowType | StructuredType) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(values(field.data_type) for field in type_.fields))


def _hashable(type_: DataType) -> st.SearchStrategy[Any]:
    """Hashable values, for keys; maps as keys have only None."""
    return values(type_).filter(_is_hashable)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _map(type_: MapType) -> st.SearchStrategy[dict[Any, Any]]:
    return st.dictionaries(_hashable(type_.key_type), values(type_.value_type), max_size=3)


def _multiset(type_: MultisetType) -> st.SearchStrategy[dict[Any, int]]:
    return st.dictionaries(_hashable(type_.element_type), st.integers(0, 9), max_size=3)


def _variant(_: DataType) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=SHORT),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=4,
    )


#: Type -> the strategy of its values. Types without a row only have NULL.
DRAWN: dict[type[DataType], Callable[[Any], st.SearchStrategy[Any]]] = {
    atomic.BooleanType:               lambda _: st.booleans(),
    atomic.TinyIntType:               _integers(1),
    atomic.SmallIntType:              _integers(2),
    atomic.IntType:                   _integers(4),
    atomic.BigIntType:                _integers(8),
    atomic.FloatType:                 lambda _: st.floats(width=32),
    atomic.DoubleType:                lambda _: st.floats(),
    DecimalType:                      _decimal,
    atomic.CharType:                  _text,
    atomic.VarCharType:               _text,
    atomic.BinaryType:                _bytes,
    atomic.VarBinaryType:             _bytes,
    atomic.VariantType:               _variant,
    temporal.DateType:                lambda _: st.dates(),
    temporal.TimeType:                lambda _: st.times(),
    temporal.TimestampType:           lambda _: st.datetimes(),
    temporal.ZonedTimestampType:      lambda _: st.datetimes(timezones=st.timezones()),
    temporal.LocalZonedTimestampType: lambda _: st.datetimes(timezones=st.timezones()),
    temporal.DayTimeIntervalType:     lambda _: st.timedeltas(),
    temporal.YearMonthIntervalType:   lambda _: st.integers(-MONTHS, MONTHS),
    ArrayType:                        _array,
    MapType:                          _map,
    MultisetType:                     _multiset,
    RowType:                          _row,
    StructuredType:                   _row,
    DistinctType:                     lambda type_: values(type_.source_type),
}  # fmt: skip


# --- schemas and catalog objects ------------------------------------------------------------------


#: Expressions of computed columns: over any other column, and over none.
OVER_ANY = ("{0}", "{0} IS NULL", "CASE WHEN {0} IS NOT NULL THEN 1 ELSE 2 END")
OVER_NONE = ("1 + 1", "'it''s'", "PROCTIME()")

#: Types of watermarked columns, and expressions of watermarks.
TIMES = st.sampled_from(("TIMESTAMP(3)", "TIMESTAMP(0) NOT NULL", "TIMESTAMP_LTZ(3)"))
WATERMARKS = ("{0}", "{0} - INTERVAL '5' SECOND", "SOURCE_WATERMARK()")


def chance(draw: st.DrawFn) -> bool:
    """Draw a boolean."""
    return draw(st.booleans())


def written_types() -> st.SearchStrategy[DataType | str]:
    """Any type, as a value or as a string."""
    return types(max_leaves=4).flatmap(lambda type_: st.sampled_from((type_, str(type_))))


@st.composite
def stored_columns(draw: st.DrawFn) -> list[UnresolvedColumn]:
    """Physical and metadata columns; metadata keys differ, and none repeats its name."""
    columns: list[UnresolvedColumn] = []
    keys: set[str] = set()
    for name in draw(st.lists(names(), max_size=5, unique=True)):
        type_, comment = draw(written_types() | TIMES), draw(comments())
        key = draw(st.none() | st.text(max_size=5))
        metadata = UnresolvedMetadataColumn(
            name, type_, None if key == name else key, chance(draw), comment
        )
        if chance(draw) and metadata.key not in keys:
            keys.add(metadata.key)
            columns.append(metadata)
        else:
            columns.append(UnresolvedPhysicalColumn(name, type_, comment))
    return columns


def can_be_named(column: UnresolvedColumn) -> bool:
    """Return whether an expression can name the column: quoted names have no line breaks."""
    return not any(character in column.name for character in "\n\r")


@st.composite
def computed_columns(
    draw: st.DrawFn, builder: SchemaBuilder, stored: list[UnresolvedColumn]
) -> None:
    """Append computed columns over the stored ones."""
    named = [quote_identifier(column.name) for column in stored if can_be_named(column)]
    taken = {column.name for column in stored}
    for name in draw(
        st.lists(names().filter(lambda name: name not in taken), max_size=3, unique=True)
    ):
        over = [text.format(source) for text in OVER_ANY for source in named]
        builder.column_by_expression(name, draw(st.sampled_from((*OVER_NONE, *over))))
        builder.with_comment(draw(comments()))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Any schema that can be resolved, in any mode."""
    stored = draw(stored_columns())
    builder = Schema.new_builder().from_columns(stored)
    if can_have_expressions(stored):
        draw(computed_columns(builder, stored))
        draw(watermarks(builder, stored))
    draw(keys(builder, stored))
    return builder.build()


def can_have_expressions(columns: list[UnresolvedColumn]) -> bool:
    """Return whether SQL supports all columns' types, as expressions require."""
    try:
        ColumnScope({column.name: type_of(column) for column in columns})
    except SchemaError:
        return False
    return True


@st.composite
def watermarks(draw: st.DrawFn, builder: SchemaBuilder, stored: list[UnresolvedColumn]) -> None:
    """Append a watermark, or none."""
    times = [column for column in stored if can_be_named(column) and is_time(column)]
    if times and chance(draw):
        name = draw(st.sampled_from(times)).name
        expression = draw(st.sampled_from(WATERMARKS))
        builder.watermark(name, expression.format(quote_identifier(name)))


def is_time(column: UnresolvedColumn) -> bool:
    """Return whether the column can have a watermark."""
    type_ = type_of(column)
    return isinstance(type_, TimestampType | LocalZonedTimestampType) and type_.precision <= 3


def type_of(column: UnresolvedColumn) -> DataType:
    """The type of a stored column."""
    stored = cast("UnresolvedPhysicalColumn | UnresolvedMetadataColumn", column)
    return DataTypes.unresolved(stored.data_type).resolve()


@st.composite
def keys(draw: st.DrawFn, builder: SchemaBuilder, stored: list[UnresolvedColumn]) -> None:
    """Append a primary key with or without immutable columns, and an index."""
    physical = [column for column in stored if isinstance(column, UnresolvedPhysicalColumn)]
    certain = [column.name for column in physical if not type_of(column).is_nullable]
    if certain and chance(draw):
        builder.primary_key_named(draw(names()), *draw(some(certain)))
        if chance(draw):
            builder.immutable_columns(*draw(some([column.name for column in physical])))
    if stored and chance(draw):
        builder.index(*draw(some([column.name for column in stored])))


def some(values: list[str]) -> st.SearchStrategy[list[str]]:
    """Some of the values, in any order."""
    return st.lists(st.sampled_from(values), min_size=1, unique=True)


# --- catalog objects --------------------------------------------------------------------------


def options() -> st.SearchStrategy[dict[str, str]]:
    """Any options, some with keys that a property map reserves."""
    reserved = st.sampled_from(("schema.0.name", "comment", "is_generic", "schema-registry.url"))
    strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
    return st.dictionaries(strings | strings | reserved, strings, max_size=4)


def table_comments() -> st.SearchStrategy[str | None]:
    """Any comment, rarely empty."""
    return st.none() | comments()


@st.composite
def distributions(draw: st.DrawFn, names_: list[str]) -> objects.TableDistribution | None:
    """Any distribution over these columns, or none."""
    if chance(draw):
        return None
    bucket_keys = draw(some(names_)) if names_ and chance(draw) else []
    count = draw(st.none() | st.integers(1, 2**31 - 1))
    return objects.TableDistribution.of(
        draw(st.sampled_from(objects.DistributionKind)), count, bucket_keys
    )


def physical_names(schema: Schema) -> list[str]:
    """The names of the physical columns."""
    return [
        column.name for column in schema.columns if isinstance(column, UnresolvedPhysicalColumn)
    ]


@st.composite
def tables(draw: st.DrawFn) -> objects.CatalogTable:
    """Any table that can be resolved."""
    schema = draw(schemas())
    physical = physical_names(schema)
    return objects.CatalogTable(
        schema,
        tuple(draw(some(physical))) if physical and chance(draw) else (),
        options=draw(options()),
        comment=draw(table_comments()),
        distribution=draw(distributions(physical)),
        snapshot=draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
    )


@st.composite
def materialized_tables(draw: st.DrawFn) -> objects.CatalogMaterializedTable:
    """Any materialized table that can be resolved, with a freshness for continuous refresh."""
    table, text = draw(tables()), st.text(max_size=10)
    fresh = st.builds(
        objects.Freshness, st.integers(1, 29), st.sampled_from([objects.FreshnessUnit.MINUTE])
    )
    return objects.CatalogMaterializedTable(
        table.schema,
        draw(text),
        draw(text),
        logical_refresh_mode=objects.LogicalRefreshMode.AUTOMATIC,
        refresh_status=draw(st.sampled_from(objects.RefreshStatus)),
        freshness=draw(st.none() | fresh),
        refresh_handler_description=draw(st.none() | text),
        refresh_handler=draw(st.none() | st.binary(max_size=8)),
        options=table.options,
        comment=table.comment,
        snapshot=table.snapshot,
        partition_keys=table.partition_keys,
        distribution=table.distribution,
    )


@st.composite
def models(draw: st.DrawFn) -> objects.CatalogModel:
    """Any model that can be resolved; most have only columns."""
    columns = schemas().map(lambda schema: Schema(schema.columns))
    sides = st.one_of(columns, columns, columns, schemas())
    return objects.CatalogModel(
        draw(sides), draw(sides), options=draw(options()), comment=draw(table_comments())
    )
