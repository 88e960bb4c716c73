"""Data types of Python classes, type hints, values and types of other libraries.

None is a value only if the description includes it: ``int`` is BIGINT NOT NULL, ``int | None`` is
BIGINT. A class covers all its values: a `datetime.time` has microseconds, hence TIME(6).
"""

from __future__ import annotations

import collections
import datetime as dt
import types
import typing
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

from schema_core.base.plugins import TYPE_READERS, find
from schema_core.base.text import MAX_DEPTH, show
from schema_core.errors import SchemaError, at
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.nested import (
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    too_deep,
)
from schema_core.types.row_value import Row
from schema_core.types.user_defined import StructuredType, UserDefinedType
from schema_core.types.values import named_values, reject_reason

#: The digits of the widest DECIMAL, and the scale of a Python decimal.
MAX_DECIMAL, DEFAULT_SCALE = 38, 18

#: Python class -> the type of its values. PyFlink infers the same types from values, but does not
#: support `bytes` and `timedelta`, and drops the fraction of a `time`.
CLASSES: dict[Any, DataType] = {
    bool:             atomic.BooleanType(),
    int:              atomic.BigIntType(),
    float:            atomic.DoubleType(),
    str:              atomic.VarCharType(MAX_LENGTH),
    bytes:            atomic.VarBinaryType(MAX_LENGTH),
    bytearray:        atomic.VarBinaryType(MAX_LENGTH),
    Decimal:          atomic.DecimalType(38, 18),
    dt.date:          temporal.DateType(),
    dt.datetime:      temporal.LocalZonedTimestampType(),
    dt.time:          temporal.TimeType(6),
    dt.timedelta:     temporal.DayTimeIntervalType(temporal.DayTime.SECOND),
}  # fmt: skip

#: Method of an object that returns its data type.
PROTOCOL = "__schema_core_type__"


def type_of(description: object) -> DataType:
    """The data type of a class, a type hint or a type of another library.

    Raises:
        SchemaError: with code `data-type-not-inferred` for any other object, or `limit-exceeded`.

    >>> print(type_of(dict[str, Annotated[Decimal, atomic.DecimalType(10, 2)]]))
    MAP<VARCHAR(2147483647) NOT NULL, DECIMAL(10, 2)> NOT NULL
    >>> type_of(object)
    Traceback (most recent call last):
        ...
    schema_core.errors.InvalidArgumentError: <class 'object'> has no data type
      hint: specify one with Annotated[..., DataTypes....]
    """
    try:
        return _of(description)
    except RecursionError:
        raise too_deep() from None


def _of(description: object) -> DataType:
    if isinstance(description, DataType):
        return description
    if description is None or description is types.NoneType:
        return atomic.NullType()
    if isinstance(description, type) and description in CLASSES:
        return CLASSES[description].not_null()
    if reader := ORIGINS.get(get_origin(description)):
        return reader(*get_args(description))
    if isinstance(description, type) and (type_ := _of_class(description)):
        return type_
    if isinstance(description, typing.NewType):
        return _of(description.__supertype__)
    if hasattr(description, "__value__"):  # type X = ... of Python 3.12
        return _of(description.__value__)
    if not isinstance(description, type) and hasattr(description, PROTOCOL):
        return _of(getattr(description, PROTOCOL)())
    package = type(description).__module__.partition(".")[0]
    if (read := find(TYPE_READERS, package)) is not None:
        data_type: DataType = read(description)
        return data_type
    raise SchemaError(
        f"{show(description)} has no data type",
        code="data-type-not-inferred",
        hint="specify one with Annotated[..., DataTypes....]",
    )


# --- constructs ----------------------------------------------------------------------------------


def _array(*elements: Any) -> DataType:
    return ArrayType(_of(elements[0]), nullable=False)


def _tuple(*elements: Any) -> DataType:
    """An array for ``tuple[int, ...]``, else a row of f0, f1, ..."""
    if len(elements) == 2 and elements[1] is Ellipsis:
        return _array(elements[0])
    fields = [_field(f"f{index}", argument) for index, argument in enumerate(elements)]
    return RowType(fields, nullable=False)


def _map(key: Any, value: Any) -> DataType:
    return MapType(_of(key), _of(value), nullable=False)


def _multiset(element: Any) -> DataType:
    return MultisetType(_of(element), nullable=False)


def _union(*members: Any) -> DataType:
    """The type of the only member other than None."""
    others = [member for member in members if member is not types.NoneType]
    if len(others) != 1:
        raise SchemaError(
            f"a union of several types has no data type: {members}", code="data-type-not-inferred"
        )
    type_ = _of(others[0])
    return type_.nullable() if len(others) < len(members) else type_


def _annotated(bare: Any, *annotations: Any) -> DataType:
    declared = (note for note in annotations if isinstance(note, DataType))
    return next(declared, None) or _of(bare)


#: Origin of a type hint -> converter of its arguments.
ORIGINS: dict[Any, Callable[..., DataType]] = {
    list:                  _array,
    Sequence:              _array,
    tuple:                 _tuple,
    dict:                  _map,
    Mapping:               _map,
    collections.Counter:   _multiset,
    Union:                 _union,
    types.UnionType:       _union,
    Annotated:             _annotated,
    Literal:               lambda *values: _union(*{type(value): None for value in values}),
    Required:              _of,
    NotRequired:           lambda value: _of(value).nullable(),
}  # fmt: skip


# --- classes with fields -------------------------------------------------------------------------


def _of_class(kind: type) -> DataType | None:
    """A structured type for a dataclass, a row for a named tuple or typed dictionary."""
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        return StructuredType(class_name(kind), _fields(kind, names), nullable=False)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return RowType(_fields(kind, kind._fields), nullable=False)
    if typing.is_typeddict(kind):
        return RowType(_fields(kind, list(kind.__annotations__)), nullable=False)
    if hasattr(kind, PROTOCOL):
        return _of(getattr(kind, PROTOCOL)())
    return None


#: The classes whose fields are being converted, outermost first.
_READING: ContextVar[tuple[type, ...]] = ContextVar("_READING", default=())


def _fields(kind: type, names: Sequence[str]) -> list[RowField]:
    """The annotated fields; a recursive class is refused."""
    outer = _READING.get()
    if kind in outer:
        raise SchemaError(f"{kind.__qualname__} contains itself", code="data-type-not-inferred")
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise SchemaError(f"{kind.__qualname__}: {error}", code="data-type-not-inferred") from None
    token = _READING.set((*outer, kind))
    try:
        return [_field(name, hints.get(name, Any)) for name in names]
    finally:
        _READING.reset(token)


def _field(name: str, description: object) -> RowField:
    with at(f"field {name!r}"):
        return RowField(name, _of(description))


def class_name(kind: type) -> str:
    """The Java-style name of a class, with ``$`` before nested classes.

    >>> class_name(collections.OrderedDict)
    'collections.OrderedDict'
    """
    nested = kind.__qualname__.rpartition("<locals>.")[2]
    return f"{kind.__module__}.{nested.replace('.', '$')}"


#: Type code of a Python array -> the smallest type of its values on the platforms of Flink;
#: unsigned integers need an additional bit.
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
    "u": atomic.CharType(1, nullable=False),
}


def infer_type(value: object) -> DataType:
    """Infer the data type of a value, nullable since later rows may contain None.

    Tuples become rows of ``_1``, ``_2``, ...; objects with fields become rows of these.

    Raises:
        SchemaError: with code `data-type-not-inferred` for an unsupported value, or for elements
            of different types.

    >>> print(infer_type({"a": [1, None]}))
    MAP<VARCHAR(2147483647) NOT NULL, ARRAY<BIGINT>>
    >>> print(infer_type(Decimal("1.5")), infer_type(Decimal(10) ** 25))
    DECIMAL(38, 18) DECIMAL(38, 12)
    """
    type_ = _with_decimals(_infer(value))
    if reason := reject_reason(type_, value):
        raise SchemaError(
            f"cannot infer a data type for {show(value)}: {reason}", code="data-type-not-inferred"
        )
    return type_


def _infer(value: object, depth: int = 1) -> DataType:
    if depth > MAX_DEPTH:
        raise too_deep()
    if value is None:
        return atomic.NullType()
    if isinstance(declared := getattr(value, "__UDT__", None), DataType):
        return declared
    match value:
        case Decimal() if value.is_finite():  # with its digits, before `_with_decimals`
            _, digits, exponent = value.as_tuple()
            scale = max(0, -int(exponent))
            return _decimal_of(max(len(digits) + int(exponent), 0), scale)
        case _ if type(value) in CLASSES:
            return CLASSES[type(value)]
        case dict():
            key = _infer_common("key", value, depth)
            entry = _infer_common("value", value.values(), depth)
            return MapType(key if key == atomic.NullType() else key.not_null(), entry)
        case list():
            return ArrayType(_infer_common("element", value, depth))
        case array() if value.typecode in LETTERS:
            return ArrayType(LETTERS[value.typecode])
        case _:
            return _infer_row(value, depth)


def _decimal_of(integer_digits: int, scale: int) -> DataType:
    if integer_digits + scale > MAX_DECIMAL:
        raise SchemaError(
            f"DECIMAL has at most {MAX_DECIMAL} digits, not {integer_digits} before and {scale} "
            "after the decimal point",
            code="data-type-not-inferred",
        )
    return atomic.DecimalType(max(integer_digits + scale, 1), scale)


def _with_decimals(type_: DataType) -> DataType:
    """The type with DECIMAL(38, 18) for its decimals, or another scale if these need it."""
    if isinstance(type_, atomic.DecimalType):
        room = MAX_DECIMAL - (type_.precision - type_.scale)
        scale = min(max(type_.scale, DEFAULT_SCALE), room)
        return atomic.DecimalType(MAX_DECIMAL, scale, type_.is_nullable)
    if isinstance(type_, UserDefinedType):
        return type_
    return type_.rebuild(tuple(map(_with_decimals, type_.children())))


def _infer_row(value: object, depth: int) -> DataType:
    fields = getattr(value, "_fields", None)
    if isinstance(value, Row) and not value.is_named:
        try:
            fields = list(value.as_dict())  # of a row that was made by calling another one
        except SchemaError:
            fields = None
        value = tuple(value)
        fields = fields if fields and len(fields) == len(value) else None
    if isinstance(value, tuple):
        names = fields or [f"_{position}" for position in range(1, len(value) + 1)]
        pairs: Iterable[tuple[str, object]] = zip(names, value, strict=True)
    elif (named := named_values(value)) is not None:
        pairs = named.items()
    else:
        raise SchemaError(
            f"cannot infer a data type for {show(value)}", code="data-type-not-inferred"
        )
    row_fields = []
    for name, field_value in pairs:
        with at(f"field {name!r}"):
            row_fields.append(RowField(name, _infer(field_value, depth + 1)))
    return RowType(row_fields)


def _infer_common(what: str, values: Iterable[object], depth: int) -> DataType:
    """The type of all values; None has every type."""
    common: DataType = atomic.NullType()
    for value in values:
        with at(what):
            common = _merge_nulls(common, _infer(value, depth + 1))
    return common


def _merge_nulls(left: DataType, right: DataType) -> DataType:
    """Merge two types that are equal except for NULL types in one of them."""
    if left == atomic.NullType() or left == right:
        return right
    if right == atomic.NullType():
        return left
    if isinstance(left, atomic.DecimalType) and isinstance(right, atomic.DecimalType):
        integer_digits = max(left.precision - left.scale, right.precision - right.scale)
        return _decimal_of(integer_digits, max(left.scale, right.scale))
    ours, theirs = left.children(), right.children()
    alike = type(left) is type(right) and len(ours) == len(theirs) > 0
    if alike and left == right.rebuild(ours):
        return left.rebuild(tuple(map(_merge_nulls, ours, theirs)))
    raise SchemaError(
        f"the values mix {left.as_summary_string()} and {right.as_summary_string()}",
        code="data-type-not-inferred",
    )
