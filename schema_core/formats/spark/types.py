"""The mapping between Flink's types and Spark's, in the JSON form of Spark's types.

A Spark type is a *tree*: a string such as ``"decimal(10,2)"``, or a dict for arrays, maps and
structs (the JSON of StructType). Neither a JVM nor pyspark is needed. The exact Flink type is
stored in the metadata of a field and used only while the physical type still matches it; the
nullability of nested types is not compared, because files and tables do not preserve it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from schema_core.caching import cached
from schema_core.errors import SchemaCoreError, UnsupportedError, at
from schema_core.formats.exact_types import COMMENT_KEY, LAYOUT_KEY, exact_type, type_metadata
from schema_core.formats.loss import (
    BYTES,
    STRING,
    Loss,
    LossKind,
    Policy,
    as_not_null,
    enforce,
    losses,
    matches_physical,
    refuse,
    too_deep,
)
from schema_core.formats.spark.ddl import Tree, parse_spark_type
from schema_core.text import MAX_DEPTH
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

#: Keys of Spark's own in the metadata of a field.
CHAR_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING"
COLLATIONS = "__COLLATIONS"


# --- from Spark ----------------------------------------------------------------------------------


def from_field_tree(field: Mapping[str, Any]) -> RowField:
    """Name, type and comment of a field: the noted type while the field still fits it.

    A field that is not nullable gives NOT NULL; one that is may still be NOT NULL by its note,
    since Spark forgets it in files. What Spark itself notes of CHAR and VARCHAR is understood.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for a Spark type that no type can stand for.
    """
    with at(f"field {field['name']!r}"):
        check_tree(field["type"])
        return _read(field)


def read_field_tree(field: Mapping[str, Any]) -> tuple[RowField, tuple[Loss, ...]]:
    """The same, with the collations that no type of Flink has."""
    found = from_field_tree(field)
    return found, tuple(_collation_losses(field, ()))


def from_tree(tree: Tree) -> DataType:
    """The nearest type to the tree of a Spark type, nullable.

    >>> print(from_tree({"type": "array", "elementType": "integer", "containsNull": False}))
    ARRAY<INT NOT NULL>
    """
    check_tree(tree)
    return _type(tree, _read)


ReadField: TypeAlias = "Callable[[Mapping[str, Any]], RowField]"


def _read(field: Mapping[str, Any]) -> RowField:
    type_ = _exact_type(field)
    if type_ is None:
        return _physical(field, _read)
    if not field["nullable"]:
        type_ = as_not_null(type_)
    return RowField(field["name"], type_, comment_of(field))


def _exact_type(field: Mapping[str, Any]) -> DataType | None:
    """What the note says, if there is one, it can be read and the field still fits it."""
    type_ = exact_type(field["metadata"])
    if type_ is None:
        return None
    try:
        if field["type"] == cached_tree(type_):
            return type_
        physical = _physical(field, _read_physical).data_type
    except SchemaCoreError:
        return None
    return type_ if matches_physical(type_, physical, TARGET, exactly_null=False) else None


def _read_physical(field: Mapping[str, Any]) -> RowField:
    """What a field says without notes."""
    type_ = _type(field["type"], _read_physical)
    nullable = field["nullable"]
    return RowField(field["name"], type_ if nullable else as_not_null(type_), comment_of(field))


def _physical(field: Mapping[str, Any], read: ReadField) -> RowField:
    """What the physical type says, with Spark's own note of CHAR and VARCHAR where it fits."""
    tree = field["type"]
    if read is not _read_physical and (told := _char_varchar(field)) is not None:
        tree = told
    type_ = _type(tree, read)
    type_ = type_ if field["nullable"] else as_not_null(type_)
    return RowField(field["name"], type_, comment_of(field))


def _char_varchar(field: Mapping[str, Any]) -> Tree | None:
    """The tree that Spark notes for a column with CHAR or VARCHAR in it, if it still fits."""
    told = field["metadata"].get(CHAR_VARCHAR)
    if not isinstance(told, str):
        return None
    try:
        tree = parse_spark_type(told)
    except SchemaCoreError:
        return None
    return tree if shape(tree) == shape(field["type"]) else None


def shape(tree: Tree) -> Tree:
    """A tree without nullability, metadata and lengths of strings."""
    match tree:
        case str():
            return "string" if tree.startswith(("char(", "varchar(", "string")) else tree
        case {"type": "struct", "fields": fields}:
            return {one["name"]: shape(one["type"]) for one in fields}
        case _:
            inner = ("type", "elementType", "keyType", "valueType")
            return {name: shape(tree[name]) for name in inner if name in tree}


def comment_of(field: Mapping[str, Any]) -> str | None:
    """The comment that Spark keeps in a field's metadata."""
    comment = field["metadata"].get(COMMENT_KEY)
    return comment if isinstance(comment, str) else None


def _collation_losses(field: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Loss]:
    """Every collation in a field; Spark tells it in the metadata of the nearest field above."""
    path = (*path, field["name"])
    told = field["metadata"].get(COLLATIONS)
    for place, name in (told if isinstance(told, dict) else {}).items():
        steps = str(place).removeprefix(field["name"]).strip(".")
        source = f"STRING COLLATE {str(name).partition('.')[2]}"
        inner = (*path, *steps.split(".")) if steps else path
        yield Loss(inner, LossKind.COLLATION, source, "STRING", reversible=False)
    for below, step in _nearest_fields(field["type"], ()):
        yield from _collation_losses(below, (*path, *step))


def _nearest_fields(
    tree: Tree, path: tuple[str, ...]
) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """The nearest fields below, with the steps to the struct that they are in."""
    if isinstance(tree, str):
        return
    for one in tree.get("fields", ()):
        yield one, path
    for name, step in (("elementType", "element"), ("keyType", "key"), ("valueType", "value")):
        if name in tree:
            yield from _nearest_fields(tree[name], (*path, step))


_PARAMETERS = re.compile(r"(\w+)\((-?\d{1,10})(?:,\s*(-?\d{1,10}))?\)")


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
            return RowType([read(one) for one in fields])
        case _:
            raise _unsupported(str(tree.get("type")))


def _atomic(word: str) -> DataType:
    if (type_ := ATOMIC.get(word)) is not None:
        return type_
    match = _PARAMETERS.fullmatch(word)
    if match is None or match[1] not in PARAMETERIZED:
        raise _unsupported(word)
    return PARAMETERIZED[match[1]](*(int(one) for one in match.groups()[1:] if one is not None))


def _unsupported(word: str) -> UnsupportedError:
    return UnsupportedError(
        f"no Flink type stands for Spark's {word[:100]}",
        code="type-not-in-flink",
        hint="cast the column to a plain type, or leave it out",
    )


def _day_time(resolution: DayTimeResolution) -> DataType:
    """The interval with as many days as Flink has."""
    days = 6 if resolution.value.startswith("DAY") else DayTimeIntervalType.DEFAULT_DAY_PRECISION
    return DayTimeIntervalType(resolution, days)


def _year_month(resolution: YearMonthResolution) -> DataType:
    has_years = resolution is not YearMonthResolution.MONTH
    return YearMonthIntervalType(resolution, 4 if has_years else 2)


#: Word of Spark's JSON -> the type.
ATOMIC: dict[str, DataType] = {
    "void":          NullType(),
    "boolean":       BooleanType(),
    "byte":          TinyIntType(),
    "short":         SmallIntType(),
    "integer":       IntType(),
    "long":          BigIntType(),
    "float":         FloatType(),
    "double":        DoubleType(),
    "decimal":       DecimalType(10, 0),
    "string":        STRING,
    "binary":        BYTES,
    "date":          DateType(),
    "timestamp_ntz": TimestampType(6),
    "timestamp":     LocalZonedTimestampType(6),
    "variant":       VariantType(),
    **{f"interval {one.value.lower()}": _day_time(one) for one in DayTimeResolution},
    **{f"interval {one.value.lower()}": _year_month(one) for one in YearMonthResolution},
}  # fmt: skip

#: Word before parentheses -> the type with these parameters; Spark allows a decimal of no digits.
PARAMETERIZED: dict[str, Callable[..., DataType]] = {
    "decimal":       lambda precision, scale=0: DecimalType(max(1, precision), scale),
    "char":          CharType,
    "varchar":       VarCharType,
    "time":          TimeType,
    "timestamp_ntz": TimestampType,
    "timestamp_ltz": LocalZonedTimestampType,
}  # fmt: skip


# --- budget --------------------------------------------------------------------------------------


def check_tree(tree: Tree) -> None:
    """Refuse a tree nested deeper than `MAX_DEPTH`, before anything recursive meets it.

    Raises:
        UnsupportedError: with code `too-deep`.
    """
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise too_deep()
        level = [inner for one in level for inner in _child_trees(one)]


def _child_trees(tree: Tree) -> list[Tree]:
    if isinstance(tree, str):
        return []
    inner = [one["type"] for one in tree.get("fields", ())]
    return inner + [tree[name] for name in ("elementType", "keyType", "valueType") if name in tree]


SparkTarget: TypeAlias = Literal["spark:4.3", "hive"]
TARGET: SparkTarget = "spark:4.3"

#: Where the JSON of a type says whether there may be NULL.
NULLABILITY = frozenset({"nullable", "containsNull", "valueContainsNull"})


def to_field_tree(
    field: RowField,
    *,
    on_loss: Policy = "error",
    layout: str | None = None,
    target: SparkTarget = TARGET,
) -> dict[str, Any]:
    """A field of a struct: name, tree, nullability, and metadata with the note and the comment.

    `layout` is a hint for Arrow that goes into the metadata as it is. For the target `hive` nothing
    is NOT NULL but by its note: Spark 4.3 cannot read a partitioned table of Hive's, stored as
    Parquet or ORC, whose columns have NOT NULL within.

    Raises:
        UnsupportedError: with code `type-not-in-spark` for types whose values never leave Flink,
            `type-not-in-hive` for those that Hive has not, `lossy` where values would change and
            `on_loss` is `error`.
    """
    with at(f"field {field.name!r}"):
        lost = losses(field.data_type, target)
        if target == "hive":
            refuse(lost, "type-not-in-hive")
        enforce(lost, on_loss)
        found = _field(field, notes=on_loss != "accept")
    if target == "hive":
        found = _nullable(found)
    if layout is not None:
        found["metadata"][LAYOUT_KEY] = layout
    return found


def _nullable(tree: Any) -> Any:
    """The JSON of a field or a type with NULL allowed at every level."""
    if isinstance(tree, list):
        return [_nullable(one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    return {
        key: one if key == "metadata" else key in NULLABILITY or _nullable(one)
        for key, one in tree.items()
    }


def to_tree(type_: DataType, *, notes: bool = True) -> Tree:
    """The tree of the Spark type that holds the values of a type.

    >>> to_tree(ArrayType(DecimalType(5, 2, nullable=False)))
    {'type': 'array', 'elementType': 'decimal(5,2)', 'containsNull': False}
    """
    return _tree(type_, notes)


@cached(node_count)
def cached_tree(type_: DataType) -> Tree:
    """As `to_tree`, for comparison alone: it is the same object whenever it is asked for.

    Raises:
        UnsupportedError: with code `type-not-in-spark`.
    """
    return _tree(type_, notes=True)


def _field(field: RowField, notes: bool) -> dict[str, Any]:
    type_ = field.data_type
    metadata = type_metadata(type_) if notes else {}
    if field.description is not None:
        metadata[COMMENT_KEY] = field.description
    tree = _tree(type_, notes)
    return {"name": field.name, "type": tree, "nullable": type_.is_nullable, "metadata": metadata}


def _tree(type_: DataType, notes: bool) -> Tree:
    row = TO_SPARK.get(type(type_))
    if row is None:
        raise UnsupportedError(f"no Spark type holds {type_}", code="type-not-in-spark")
    return row if isinstance(row, str) else row(type_, notes)


def _struct_tree(fields: Iterable[RowField], notes: bool) -> Tree:
    return {"type": "struct", "fields": [_field(one, notes) for one in fields]}


def _array_tree(type_: ArrayType, notes: bool) -> Tree:
    element = type_.element_type
    tree = _tree(element, notes)
    return {"type": "array", "elementType": tree, "containsNull": element.is_nullable}


def _map_tree(type_: MapType, notes: bool) -> Tree:
    value = type_.value_type
    return {
        "type": "map",
        "keyType": _tree(type_.key_type, notes),
        "valueType": _tree(value, notes),
        "valueContainsNull": value.is_nullable,
    }


def _multiset_tree(type_: MultisetType, notes: bool) -> Tree:
    return _map_tree(MapType(type_.element_type, IntType(nullable=False)), notes)


def _offset_tree(type_: ZonedTimestampType, notes: bool) -> Tree:
    parts = {"timestamp": "timestamp", "offset_minutes": "short"}
    fields = [
        {"name": name, "type": tree, "nullable": False, "metadata": {}}
        for name, tree in parts.items()
    ]
    return {"type": "struct", "fields": fields}


#: Class of type -> the word of its Spark type, or how its tree is made.
TO_SPARK: dict[type[DataType], str | Callable[[Any, bool], Tree]] = {
    NullType:                "void",
    BooleanType:             "boolean",
    TinyIntType:             "byte",
    SmallIntType:            "short",
    IntType:                 "integer",
    BigIntType:              "long",
    FloatType:               "float",
    DoubleType:              "double",
    DecimalType:             lambda one, notes: f"decimal({one.precision},{one.scale})",
    CharType:                "string",
    VarCharType:             "string",
    BinaryType:              "binary",
    VarBinaryType:           "binary",
    DateType:                "date",
    TimeType:                lambda one, notes: f"time({one.precision})",
    TimestampType:           "timestamp_ntz",
    LocalZonedTimestampType: "timestamp",
    ZonedTimestampType:      _offset_tree,
    YearMonthIntervalType:   "interval year to month",
    DayTimeIntervalType:     "interval day to second",
    ArrayType:               _array_tree,
    MultisetType:            _multiset_tree,
    MapType:                 _map_tree,
    RowType:                 lambda one, notes: _struct_tree(one.fields, notes),
    StructuredType:          lambda one, notes: _struct_tree(one.fields, notes),
    DistinctType:            lambda one, notes: _tree(one.source_type, notes),
    RawType:                 "binary",
    VariantType:             "variant",
    BitmapType:              "binary",
}  # fmt: skip
