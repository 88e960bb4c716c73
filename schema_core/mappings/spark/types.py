"""The mapping between Flink's types and Spark's, in the JSON form of Spark's types.

A Spark type is a *tree*: a string such as ``"decimal(10,2)"``, or a dict for arrays, maps and
structs (the JSON of StructType). Neither a JVM nor pyspark is needed. The exact Flink type is
stored in the metadata of a field and used only while the physical type still matches it; the
nullability of nested types is not compared, because files and tables do not preserve it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from schema_core.base.caching import cached
from schema_core.base.lazy import regex
from schema_core.errors import SchemaCoreError, UnsupportedError, at
from schema_core.mappings.exact_types import COMMENT_KEY, LAYOUT_KEY, exact_type, type_metadata
from schema_core.mappings.loss import (
    BYTES,
    STRING,
    Loss,
    LossKind,
    Policy,
    as_not_null,
    check_nesting,
    counts,
    enforce,
    losses,
    matches_physical,
    refuse,
)
from schema_core.mappings.spark.ddl import Tree, parse_spark_type
from schema_core.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DayTimeResolution,
    DecimalType,
    DistinctType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowField,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
    YearMonthResolution,
    ZonedTimestampType,
)
from schema_core.types.base import node_count

#: Spark's own keys in the metadata of a field.
CHAR_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING"
COLLATIONS = "__COLLATIONS"


# --- from Spark -----------------------------------------------------------------------------------


def from_field_tree(field: Mapping[str, Any]) -> RowField:
    """Return a field's name, type and comment; the exact type if the field matches it.

    A field that is not nullable is NOT NULL. A nullable one may be NOT NULL by its exact type,
    since Spark drops nullability in files. Spark's own metadata for CHAR and VARCHAR is used too.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for a Spark type that Flink does not have.
    """
    with at(f"field {field['name']!r}"):
        check_tree(field["type"])
        return _read(field)


def read_field_tree(field: Mapping[str, Any]) -> tuple[RowField, tuple[Loss, ...]]:
    """Return `from_field_tree` with a loss for each collation, which Flink does not have."""
    found = from_field_tree(field)
    return found, tuple(_collation_losses(field, ()))


def from_tree(tree: Tree) -> DataType:
    """Return the nearest type to a Spark type, nullable.

    >>> print(from_tree({"type": "array", "elementType": "integer", "containsNull": False}))
    ARRAY<INT NOT NULL>
    """
    check_tree(tree)
    return _type(tree, _read)


ReadField: TypeAlias = "Callable[[Mapping[str, Any]], RowField]"


def _read(field: Mapping[str, Any]) -> RowField:
    type_ = _exact_type(field)
    if type_ is None:
        return _physical(field)
    return _row_field(field, type_)


def _exact_type(field: Mapping[str, Any]) -> DataType | None:
    """Return the type in the metadata if it is valid and the field matches it."""
    type_ = exact_type(field["metadata"])
    if type_ is None:
        return None
    try:
        if field["type"] == cached_tree(type_):
            return type_
        physical = _read_physical(field).data_type
    except SchemaCoreError:
        return None
    return type_ if matches_physical(type_, physical, TARGET, exactly_null=False) else None


def _read_physical(field: Mapping[str, Any]) -> RowField:
    """Read a field without exact-type metadata."""
    return _row_field(field, _type(field["type"], _read_physical))


def _physical(field: Mapping[str, Any]) -> RowField:
    """Read a field by its physical type, with Spark's metadata for CHAR and VARCHAR."""
    return _row_field(field, _type(_char_varchar(field) or field["type"], _read))


def _row_field(field: Mapping[str, Any], type_: DataType) -> RowField:
    type_ = type_ if field["nullable"] else as_not_null(type_)
    return RowField(field["name"], type_, comment_of(field))


def _char_varchar(field: Mapping[str, Any]) -> Tree | None:
    """Return the type that Spark records for a CHAR or VARCHAR column, if it matches."""
    declared = field["metadata"].get(CHAR_VARCHAR)
    if not isinstance(declared, str):
        return None
    try:
        tree = parse_spark_type(declared)
    except SchemaCoreError:
        return None
    return tree if shape(tree) == shape(field["type"]) else None


def shape(tree: Tree) -> Tree:
    """Return a tree without nullability, metadata and string lengths."""
    match tree:
        case str():
            return "string" if tree.startswith(("char(", "varchar(", "string")) else tree
        case {"type": "struct", "fields": fields}:
            return {field["name"]: shape(field["type"]) for field in fields}
        case _:
            inner = ("type", "elementType", "keyType", "valueType")
            return {name: shape(tree[name]) for name in inner if name in tree}


def comment_of(field: Mapping[str, Any]) -> str | None:
    """Return the comment in a field's metadata."""
    comment = field["metadata"].get(COMMENT_KEY)
    return comment if isinstance(comment, str) else None


def _collation_losses(field: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Loss]:
    """Yield a loss for each collation; Spark stores it in the nearest enclosing field."""
    path = (*path, field["name"])
    collations = field["metadata"].get(COLLATIONS)
    for place, name in (collations if isinstance(collations, dict) else {}).items():
        steps = str(place).removeprefix(field["name"]).strip(".")
        source = f"STRING COLLATE {str(name).partition('.')[2]}"
        inner = (*path, *steps.split(".")) if steps else path
        yield Loss(inner, LossKind.COLLATION, source, "STRING", reversible=False)
    for below, step in _nearest_fields(field["type"], ()):
        yield from _collation_losses(below, (*path, *step))


def _nearest_fields(
    tree: Tree, path: tuple[str, ...]
) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Yield the nearest nested fields, with the path to the struct that contains them."""
    if isinstance(tree, str):
        return
    for item in tree.get("fields", ()):
        yield item, path
    for name, step in (("elementType", "element"), ("keyType", "key"), ("valueType", "value")):
        if name in tree:
            yield from _nearest_fields(tree[name], (*path, step))


_PARAMETERS = regex(r"(\w+)\((-?\d{1,10})(?:,\s*(-?\d{1,10}))?\)")


def _type(tree: Tree, read: ReadField) -> DataType:
    match tree:
        case str():
            return _atomic(tree)
        case {"type": "array", "elementType": element, "containsNull": nullable}:
            inner = _type(element, read)
            return ArrayType(inner if nullable else as_not_null(inner))
        case {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": nullable}:
            inner = _type(value, read)
            return MapType(as_not_null(_type(key, read)), inner if nullable else as_not_null(inner))
        case {"type": "struct", "fields": fields}:
            return RowType([read(field) for field in fields])
        case _:
            raise _unsupported_error(str(tree.get("type")))


def _atomic(word: str) -> DataType:
    if (type_ := ATOMIC.get(word)) is not None:
        return type_
    match = _PARAMETERS.fullmatch(word)
    if match is None or match[1] not in PARAMETERIZED:
        raise _unsupported_error(word)
    return PARAMETERIZED[match[1]](
        *(int(group) for group in match.groups()[1:] if group is not None)
    )


def _unsupported_error(word: str) -> UnsupportedError:
    return UnsupportedError(
        f"Flink has no type for Spark's {word[:100]}",
        code="type-not-in-flink",
        hint="cast the column to another type, or omit it",
    )


def _day_time(
    resolution: DayTimeResolution,
) -> tuple[str, DataType, tuple[type[DataType], ...]]:
    """Return the row of an interval, read with Flink's maximum day precision."""
    days = 6 if resolution.value.startswith("DAY") else DayTimeIntervalType.DEFAULT_DAY_PRECISION
    is_widest = resolution is DayTimeResolution.DAY_TO_SECOND
    stored = (DayTimeIntervalType,) if is_widest else ()
    return f"interval {resolution.value.lower()}", DayTimeIntervalType(resolution, days), stored


def _year_month(
    resolution: YearMonthResolution,
) -> tuple[str, DataType, tuple[type[DataType], ...]]:
    """Return the row of an interval, read with Flink's maximum year precision."""
    years = 2 if resolution is YearMonthResolution.MONTH else 4
    is_widest = resolution is YearMonthResolution.YEAR_TO_MONTH
    stored = (YearMonthIntervalType,) if is_widest else ()
    return f"interval {resolution.value.lower()}", YearMonthIntervalType(resolution, years), stored


#: Types without parameters: the name in Spark's JSON, the Flink type that it is read as, and the
#: classes of Flink types that are stored as it.
ATOMIC_ROWS: tuple[tuple[str, DataType, tuple[type[DataType], ...]], ...] = (
    ("void",          NullType(),                 (NullType,)),
    ("boolean",       BooleanType(),              (BooleanType,)),
    ("byte",          TinyIntType(),              (TinyIntType,)),
    ("short",         SmallIntType(),             (SmallIntType,)),
    ("integer",       IntType(),                  (IntType,)),
    ("long",          BigIntType(),               (BigIntType,)),
    ("float",         FloatType(),                (FloatType,)),
    ("double",        DoubleType(),               (DoubleType,)),
    ("decimal",       DecimalType(10, 0),         ()),
    ("string",        STRING,                     (CharType, VarCharType)),
    ("binary",        BYTES,                      (BinaryType, VarBinaryType, RawType, BitmapType)),
    ("date",          DateType(),                 (DateType,)),
    ("timestamp_ntz", TimestampType(6),           (TimestampType,)),
    ("timestamp",     LocalZonedTimestampType(6), (LocalZonedTimestampType,)),
    ("variant",       VariantType(),              (VariantType,)),
    *(_day_time(resolution) for resolution in DayTimeResolution),
    *(_year_month(resolution) for resolution in YearMonthResolution),
)  # fmt: skip
ATOMIC = {name: type_ for name, type_, _ in ATOMIC_ROWS}

#: Type name before parentheses -> Flink's type; Spark allows a decimal of precision 0.
PARAMETERIZED: dict[str, Callable[..., DataType]] = {
    "decimal":       lambda precision, scale=0: DecimalType(max(1, precision), scale),
    "char":          CharType,
    "varchar":       VarCharType,
    "time":          TimeType,
    "timestamp_ntz": TimestampType,
    "timestamp_ltz": LocalZonedTimestampType,
}  # fmt: skip


# --- depth limit ----------------------------------------------------------------------------------


def check_tree(tree: Tree) -> None:
    """Raise an error for a tree deeper than `MAX_DEPTH`, before anything recurses into it.

    Raises:
        UnsupportedError: with code `too-deep`.
    """
    check_nesting(tree, _child_trees)


def _child_trees(tree: Tree) -> list[Tree]:
    if isinstance(tree, str):
        return []
    inner = [item["type"] for item in tree.get("fields", ())]
    return inner + [tree[name] for name in ("elementType", "keyType", "valueType") if name in tree]


SparkTarget: TypeAlias = Literal["spark:4.3", "hive"]
TARGET: SparkTarget = "spark:4.3"

#: Keys of the JSON of a type that contain its nullability.
NULLABILITY = frozenset({"nullable", "containsNull", "valueContainsNull"})


def to_field_tree(
    field: RowField,
    *,
    on_loss: Policy = "error",
    layout: str | None = None,
    target: SparkTarget = TARGET,
) -> dict[str, Any]:
    """Return the JSON of a field: name, type, nullability, exact type and comment.

    `layout` is stored in the metadata for the conversion back to Arrow. For the target `hive`
    everything is nullable, and NOT NULL is stored only as metadata: Spark 4.3 cannot read a
    partitioned Hive table, stored as Parquet or ORC, with nested NOT NULL.

    Raises:
        UnsupportedError: with code `type-not-in-spark` for types that exist only within Flink,
            `type-not-in-hive` for types that Hive does not have, `lossy` if values would change and
            `on_loss` is `error`.
    """
    with at(f"field {field.name!r}"):
        lost = losses(field.data_type, target)
        if target == "hive":
            refuse(lost, "type-not-in-hive")
        enforce(lost, on_loss)
        found = _field(field, with_metadata=on_loss != "accept")
    if target == "hive":
        found = _nullable(found)
    if layout is not None:
        found["metadata"][LAYOUT_KEY] = layout
    return found


def _nullable(tree: Any) -> Any:
    """Return the JSON of a field or a type, nullable at every level."""
    if isinstance(tree, list):
        return [_nullable(child) for child in tree]
    if not isinstance(tree, dict):
        return tree
    return {
        key: value if key == "metadata" else key in NULLABILITY or _nullable(value)
        for key, value in tree.items()
    }


def to_tree(type_: DataType, *, with_metadata: bool = True) -> Tree:
    """Return the JSON of the Spark type that stores the values of a type.

    >>> to_tree(ArrayType(DecimalType(5, 2, nullable=False)))
    {'type': 'array', 'elementType': 'decimal(5,2)', 'containsNull': False}
    """
    return _tree(type_, with_metadata)


@cached(node_count, unit="types")
def cached_tree(type_: DataType) -> Tree:
    """Return `to_tree` for comparison only: the result is cached and must not be changed.

    Raises:
        UnsupportedError: with code `type-not-in-spark`.
    """
    return _tree(type_, with_metadata=True)


def _field(field: RowField, with_metadata: bool) -> dict[str, Any]:
    type_ = field.data_type
    metadata = type_metadata(type_) if with_metadata else {}
    if field.description is not None:
        metadata[COMMENT_KEY] = field.description
    tree = _tree(type_, with_metadata)
    return {"name": field.name, "type": tree, "nullable": type_.is_nullable, "metadata": metadata}


def _tree(type_: DataType, with_metadata: bool) -> Tree:
    row = TO_SPARK.get(type(type_))
    if row is None:
        raise UnsupportedError(f"Spark has no type for {type_}", code="type-not-in-spark")
    return row if isinstance(row, str) else row(type_, with_metadata)


def _struct_tree(fields: Iterable[RowField], with_metadata: bool) -> Tree:
    return {"type": "struct", "fields": [_field(field, with_metadata) for field in fields]}


def _array_tree(type_: ArrayType, with_metadata: bool) -> Tree:
    element = type_.element_type
    tree = _tree(element, with_metadata)
    return {"type": "array", "elementType": tree, "containsNull": element.is_nullable}


def _map_tree(type_: MapType, with_metadata: bool) -> Tree:
    value = type_.value_type
    return {
        "type": "map",
        "keyType": _tree(type_.key_type, with_metadata),
        "valueType": _tree(value, with_metadata),
        "valueContainsNull": value.is_nullable,
    }


def _offset_tree(type_: ZonedTimestampType, with_metadata: bool) -> Tree:
    parts = {"timestamp": "timestamp", "offset_minutes": "short"}
    fields = [
        {"name": name, "type": tree, "nullable": False, "metadata": {}}
        for name, tree in parts.items()
    ]
    return {"type": "struct", "fields": fields}


#: Class of type -> the name of its Spark type, or a function that returns its JSON.
TO_SPARK: dict[type[DataType], str | Callable[[Any, bool], Tree]] = {
    **{cls_: name for name, _, classes in ATOMIC_ROWS for cls_ in classes},
    DecimalType:        lambda one, with_metadata: f"decimal({one.precision},{one.scale})",
    TimeType:           lambda one, with_metadata: f"time({one.precision})",
    ZonedTimestampType: _offset_tree,
    ArrayType:          _array_tree,
    MultisetType:       lambda one, with_metadata: _map_tree(counts(one), with_metadata),
    MapType:            _map_tree,
    RowType:            lambda one, with_metadata: _struct_tree(one.fields, with_metadata),
    StructuredType:     lambda one, with_metadata: _struct_tree(one.fields, with_metadata),
    DistinctType:       lambda one, with_metadata: _tree(one.source_type, with_metadata),
}  # fmt: skip
