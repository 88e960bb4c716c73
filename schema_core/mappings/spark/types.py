"""The mapping between Flink's types and Spark's, in the JSON form of Spark's types, without a JVM.

The exact Flink type is stored in the metadata of a field and used only while the physical type
matches it; the nullability of nested types is not compared, as files and tables do not preserve it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from schema_core import types
from schema_core.base.caching import cached
from schema_core.base.lazy import regex
from schema_core.errors import SchemaCoreError, UnsupportedError, at
from schema_core.errors.hints import CAST_OR_OMIT
from schema_core.mappings import loss
from schema_core.mappings.exact_types import COMMENT_KEY, LAYOUT_KEY, exact_type, type_metadata
from schema_core.mappings.spark.ddl import ATOMIC_TYPES, Tree, parse_spark_type
from schema_core.types.base import node_count

CHAR_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING"
COLLATIONS = "__COLLATIONS"

#: Key of a nested type in JSON -> the step of its path.
STEPS = {"elementType": "element", "keyType": "key", "valueType": "value"}


# --- from Spark -----------------------------------------------------------------------------------


def from_field_tree(field: Mapping[str, Any]) -> types.RowField:
    """Return a field's name, type and comment; the exact type if the field matches it.

    A nullable field may be NOT NULL by its exact type, since Spark drops nullability in files.
    Spark's own metadata for CHAR and VARCHAR is used too.

    Raises:
        UnsupportedError: with code `type-not-supported`.
    """
    with at(f"field {field['name']!r}"):
        check_tree(field["type"])
        return _read(field)


def read_field_tree(field: Mapping[str, Any]) -> tuple[types.RowField, tuple[loss.Loss, ...]]:
    """Return `from_field_tree`, and a loss for each collation, which Flink does not have."""
    return from_field_tree(field), tuple(_collation_losses(field, ()))


def from_tree(tree: Tree) -> types.DataType:
    """Return the nearest type to a Spark type, nullable.

    >>> print(from_tree({"type": "array", "elementType": "integer", "containsNull": False}))
    ARRAY<INT NOT NULL>
    """
    check_tree(tree)
    return _type(tree, _read)


ReadField: TypeAlias = "Callable[[Mapping[str, Any]], types.RowField]"


def _read(field: Mapping[str, Any]) -> types.RowField:
    type_ = _exact_type(field)
    if type_ is None:  # the physical type, with Spark's metadata for CHAR and VARCHAR
        type_ = _type(_char_varchar(field) or field["type"], _read)
    return _row_field(field, type_)


def _exact_type(field: Mapping[str, Any]) -> types.DataType | None:
    type_ = exact_type(field["metadata"])
    if type_ is None:
        return None
    try:
        if field["type"] == cached_tree(type_):
            return type_
        physical = _read_physical(field).data_type
    except SchemaCoreError:
        return None
    return type_ if loss.matches_physical(type_, physical, TARGET, exactly_null=False) else None


def _read_physical(field: Mapping[str, Any]) -> types.RowField:
    return _row_field(field, _type(field["type"], _read_physical))


def _row_field(field: Mapping[str, Any], type_: types.DataType) -> types.RowField:
    type_ = type_ if field["nullable"] else loss.as_not_null(type_)
    return types.RowField(field["name"], type_, comment_of(field))


def _char_varchar(field: Mapping[str, Any]) -> Tree | None:
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
            return {name: shape(tree[name]) for name in ("type", *STEPS) if name in tree}


def comment_of(field: Mapping[str, Any]) -> str | None:
    """Return the comment in a field's metadata."""
    comment = field["metadata"].get(COMMENT_KEY)
    return comment if isinstance(comment, str) else None


def _collation_losses(field: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[loss.Loss]:
    """Yield a loss for each collation; Spark stores it in the nearest enclosing field."""
    path = (*path, field["name"])
    collations = field["metadata"].get(COLLATIONS)
    for place, name in (collations if isinstance(collations, dict) else {}).items():
        steps = str(place).removeprefix(field["name"]).strip(".")
        source = f"STRING COLLATE {str(name).partition('.')[2]}"
        inner = (*path, *steps.split(".")) if steps else path
        yield loss.Loss(inner, loss.LossKind.COLLATION, source, "STRING", reversible=False)
    for below, step in _nearest_fields(field["type"], ()):
        yield from _collation_losses(below, (*path, *step))


def _nearest_fields(
    tree: Tree, path: tuple[str, ...]
) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Yield the nearest nested fields, with the path to the struct that contains them."""
    if isinstance(tree, str):
        return
    for field in tree.get("fields", ()):
        yield field, path
    for name, step in STEPS.items():
        if name in tree:
            yield from _nearest_fields(tree[name], (*path, step))


_PARAMETERS = regex(r"(\w+)\((-?\d{1,10})(?:,\s*(-?\d{1,10}))?\)")


def _type(tree: Tree, read: ReadField) -> types.DataType:
    match tree:
        case str():
            if (type_ := ATOMIC.get(tree)) is not None:
                return type_
            match_ = _PARAMETERS.fullmatch(tree)
            if match_ is None or match_[1] not in PARAMETERIZED:
                raise _unsupported_error(tree)
            numbers = (int(group) for group in match_.groups()[1:] if group is not None)
            return PARAMETERIZED[match_[1]](*numbers)
        case {"type": "array", "elementType": element, "containsNull": nullable}:
            inner = _type(element, read)
            return types.ArrayType(inner if nullable else loss.as_not_null(inner))
        case {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": nullable}:
            inner = _type(value, read)
            return types.MapType(
                loss.as_not_null(_type(key, read)), inner if nullable else loss.as_not_null(inner)
            )
        case {"type": "struct", "fields": fields}:
            return types.RowType([read(field) for field in fields])
        case _:
            raise _unsupported_error(str(tree.get("type")))


def _unsupported_error(word: str) -> UnsupportedError:
    return UnsupportedError(
        f"Flink has no type for Spark's {word[:100]}",
        code="type-not-supported",
        hint=CAST_OR_OMIT,
    )


ATOMIC = {row.name: row.read_as for row in ATOMIC_TYPES}

#: Type name before parentheses -> Flink's type; Spark allows a decimal of precision 0.
PARAMETERIZED: dict[str, Callable[..., types.DataType]] = {
    "decimal":       lambda precision, scale=0: types.DecimalType(max(1, precision), scale),
    "char":          types.CharType,
    "varchar":       types.VarCharType,
    "time":          types.TimeType,
    "timestamp_ntz": types.TimestampType,
    "timestamp_ltz": types.LocalZonedTimestampType,
}  # fmt: skip


# --- depth limit ----------------------------------------------------------------------------------


def check_tree(tree: Tree) -> None:
    """Refuse a tree deeper than `MAX_DEPTH`, before anything recurses into it.

    Raises:
        UnsupportedError: with code `limit-exceeded`.
    """
    loss.check_nesting(tree, _child_trees)


def _child_trees(tree: Tree) -> list[Tree]:
    if isinstance(tree, str):
        return []
    inner = [field["type"] for field in tree.get("fields", ())]
    return inner + [tree[name] for name in STEPS if name in tree]


SparkTarget: TypeAlias = Literal["spark:4.3", "hive"]
TARGET: SparkTarget = "spark:4.3"

#: Keys of the JSON of a type that contain its nullability.
NULLABILITY = frozenset({"nullable", "containsNull", "valueContainsNull"})


def to_field_tree(
    field: types.RowField,
    *,
    on_loss: loss.Policy = "error",
    layout: str | None = None,
    target: SparkTarget = TARGET,
) -> dict[str, Any]:
    """Return the JSON of a field: name, type, nullability, exact type and comment.

    `layout` is stored for the way back to Arrow. For the target `hive` everything is nullable, and
    NOT NULL only metadata: Spark 4.3 cannot read a partitioned Hive table, stored as Parquet or
    ORC, with nested NOT NULL.

    Raises:
        UnsupportedError: with code `type-not-supported`, or `lossy` if values
            would change and `on_loss` is `error`.
    """
    with at(f"field {field.name!r}"):
        lost = loss.losses(field.data_type, target)
        if target == "hive":
            loss.refuse(lost, "type-not-supported")
        loss.enforce(lost, on_loss)
        tree = _field(field, with_metadata=on_loss != "accept")
    if target == "hive":
        tree = _nullable(tree)
    if layout is not None:
        tree["metadata"][LAYOUT_KEY] = layout
    return tree


def _nullable(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_nullable(child) for child in tree]
    if not isinstance(tree, dict):
        return tree
    return {
        key: value if key == "metadata" else key in NULLABILITY or _nullable(value)
        for key, value in tree.items()
    }


def to_tree(type_: types.DataType, *, with_metadata: bool = True) -> Tree:
    """Return the JSON of the Spark type that stores the values of a type.

    >>> to_tree(types.ArrayType(types.DecimalType(5, 2, nullable=False)))
    {'type': 'array', 'elementType': 'decimal(5,2)', 'containsNull': False}
    """
    return _tree(type_, with_metadata)


@cached(node_count, unit="types")
def cached_tree(type_: types.DataType) -> Tree:
    """Return a cached `to_tree` for comparison, which must not be changed.

    Raises:
        UnsupportedError: with code `type-not-supported`.
    """
    return _tree(type_, with_metadata=True)


def _field(field: types.RowField, with_metadata: bool) -> dict[str, Any]:
    type_ = field.data_type
    metadata = type_metadata(type_) if with_metadata else {}
    if field.description is not None:
        metadata[COMMENT_KEY] = field.description
    tree = _tree(type_, with_metadata)
    return {"name": field.name, "type": tree, "nullable": type_.is_nullable, "metadata": metadata}


def _tree(type_: types.DataType, with_metadata: bool) -> Tree:
    row = TO_SPARK.get(type(type_))
    if row is None:
        raise UnsupportedError(f"Spark has no type for {type_}", code="type-not-supported")
    return row if isinstance(row, str) else row(type_, with_metadata)


def _struct_tree(fields: Iterable[types.RowField], with_metadata: bool) -> Tree:
    return {"type": "struct", "fields": [_field(field, with_metadata) for field in fields]}


def _map_tree(type_: types.MapType, with_metadata: bool) -> Tree:
    value = type_.value_type
    return {
        "type": "map",
        "keyType": _tree(type_.key_type, with_metadata),
        "valueType": _tree(value, with_metadata),
        "valueContainsNull": value.is_nullable,
    }


#: Class of type -> the name of its Spark type, or a function that returns its JSON.
TO_SPARK: dict[type[types.DataType], str | Callable[[Any, bool], Tree]] = {
    **{kind: row.name for row in ATOMIC_TYPES for kind in row.stores},
    types.DecimalType: lambda type_, with_metadata: f"decimal({type_.precision},{type_.scale})",
    types.TimeType: lambda type_, with_metadata: f"time({type_.precision})",
    types.ZonedTimestampType: lambda type_, with_metadata: {
        "type": "struct",
        "fields": [
            {"name": name, "type": tree, "nullable": False, "metadata": {}}
            for name, tree in (("timestamp", "timestamp"), ("offset_minutes", "short"))
        ],
    },
    types.ArrayType: lambda type_, with_metadata: {
        "type": "array",
        "elementType": _tree(type_.element_type, with_metadata),
        "containsNull": type_.element_type.is_nullable,
    },
    types.MultisetType: lambda type_, with_metadata: _map_tree(loss.counts(type_), with_metadata),
    types.MapType: _map_tree,
    types.RowType: lambda type_, with_metadata: _struct_tree(type_.fields, with_metadata),
    types.StructuredType: lambda type_, with_metadata: _struct_tree(type_.fields, with_metadata),
    types.DistinctType: lambda type_, with_metadata: _tree(type_.source_type, with_metadata),
}
