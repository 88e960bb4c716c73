"""The Spark types that hold Flink's, as rows, and the fields around them with their notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from schema_core.caching import cached
from schema_core.errors import UnsupportedError, at
from schema_core.formats.exact_types import COMMENT, LAYOUT, notes_of
from schema_core.formats.loss import (
    Policy,
    enforce,
    losses,
    refuse,
)
from schema_core.formats.spark.ddl import Tree
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
    ZonedTimestampType,
)
from schema_core.types.base import node_count

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
        found["metadata"][LAYOUT] = layout
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
def usual_tree(type_: DataType) -> Tree:
    """As `to_tree`, for comparison alone: it is the same object whenever it is asked for.

    Raises:
        UnsupportedError: with code `type-not-in-spark`.
    """
    return _tree(type_, notes=True)


def _field(field: RowField, notes: bool) -> dict[str, Any]:
    type_ = field.data_type
    metadata = notes_of(type_) if notes else {}
    if field.description is not None:
        metadata[COMMENT] = field.description
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


def _counts_tree(type_: MultisetType, notes: bool) -> Tree:
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
    MultisetType:            _counts_tree,
    MapType:                 _map_tree,
    RowType:                 lambda one, notes: _struct_tree(one.fields, notes),
    StructuredType:          lambda one, notes: _struct_tree(one.fields, notes),
    DistinctType:            lambda one, notes: _tree(one.source_type, notes),
    RawType:                 "binary",
    VariantType:             "variant",
    BitmapType:              "binary",
}  # fmt: skip
