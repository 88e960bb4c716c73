"""The type of a Python value, as PyFlink infers it: ``infer_type(value).accepts(value)``."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from schema_core.errors import SchemaError, at
from schema_core.text import MAX_DEPTH, show
from schema_core.types import atomic
from schema_core.types.base import DataType
from schema_core.types.nested import ArrayType, MapType, RowField, RowType, too_deep
from schema_core.types.python import CLASSES
from schema_core.types.values import named_values, reject_reason

#: Letter of a Python array -> the smallest type that holds all its numbers. Sizes are those of the
#: platforms that Flink runs on; unsigned numbers need one bit more.
LETTERS: dict[str, DataType] = {
    "b": atomic.TinyIntType(nullable=False),
    "B": atomic.SmallIntType(nullable=False),
    "h": atomic.SmallIntType(nullable=False),
    "H": atomic.IntType(nullable=False),
    "i": atomic.IntType(nullable=False),
    "I": atomic.BigIntType(nullable=False),
    "l": atomic.BigIntType(nullable=False),
    "q": atomic.BigIntType(nullable=False),
    "f": atomic.FloatType(nullable=False),
    "d": atomic.DoubleType(nullable=False),
}


def infer_type(value: object) -> DataType:
    """The type of a value: nullable, as rows that come later may have None in its place.

    Values without names make rows of ``_1``, ``_2``, ...; what has fields makes rows of these.

    Raises:
        SchemaError: with code `data-type-not-inferred` for a value of no type, or for elements of
            several.

    >>> print(infer_type({"a": [1, None]}))
    MAP<VARCHAR(2147483647) NOT NULL, ARRAY<BIGINT>>
    >>> print(infer_type((1, 2.5)))
    ROW<`_1` BIGINT, `_2` DOUBLE>
    """
    found = _of(value)
    if reason := reject_reason(found, value):
        raise SchemaError(
            f"{show(value)} is of no data type: {reason}", code="data-type-not-inferred"
        )
    return found


def _of(value: object, depth: int = 1) -> DataType:
    if depth > MAX_DEPTH:
        raise too_deep()
    if value is None:
        return atomic.NullType()
    if isinstance(told := getattr(value, "__UDT__", None), DataType):
        return told
    match value:
        case _ if type(value) in CLASSES:
            return CLASSES[type(value)]
        case dict():
            key, entry = _in_common("key", value, depth), _in_common("value", value.values(), depth)
            return MapType(key if key == atomic.NullType() else key.not_null(), entry)
        case list():
            return ArrayType(_in_common("element", value, depth))
        case array() if value.typecode in LETTERS:
            return ArrayType(LETTERS[value.typecode])
        case _:
            return _row(value, depth)


def _row(value: object, depth: int) -> DataType:
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple):
        names = fields or [f"_{position}" for position in range(1, len(value) + 1)]
        pairs: Iterable[tuple[str, object]] = zip(names, value, strict=True)
    elif (named := named_values(value)) is not None:
        pairs = named.items()
    else:
        raise SchemaError(f"{show(value)} is of no data type", code="data-type-not-inferred")
    return RowType([_field(name, one, depth + 1) for name, one in pairs])


def _field(name: str, value: object, depth: int) -> RowField:
    with at(f"field {name!r}"):
        return RowField(name, _of(value, depth))


def _in_common(what: str, values: Iterable[object], depth: int) -> DataType:
    """The one type of all of these; None is of any type."""
    common: DataType = atomic.NullType()
    for value in values:
        with at(what):
            common = _merged(common, _of(value, depth + 1))
    return common


def _merged(left: DataType, right: DataType) -> DataType:
    """Two types that differ in nothing but what NULL stands for."""
    if left == atomic.NullType() or left == right:
        return right
    if right == atomic.NullType():
        return left
    ours, theirs = left.children(), right.children()
    alike = type(left) is type(right) and len(ours) == len(theirs) > 0
    if alike and left == right.rebuild(ours):
        return left.rebuild(tuple(map(_merged, ours, theirs)))
    raise SchemaError(
        f"values of {left.as_summary_string()} and {right.as_summary_string()} side by side",
        code="data-type-not-inferred",
    )
