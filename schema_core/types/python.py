"""Data types of Python classes, type hints, values and types of other libraries.

None is a value of a type only if the description includes it: ``int`` is BIGINT NOT NULL, and
``int | None`` is BIGINT. A class covers all its values: a `datetime.time` has microseconds,
hence TIME(6).
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
from schema_core.types import atomic
from schema_core.types.atomic import (
    BigIntType,
    BooleanType,
    DecimalType,
    DoubleType,
    NullType,
    VarBinaryType,
    VarCharType,
)
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
from schema_core.types.temporal import (
    DateType,
    DayTime,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    TimeType,
)
from schema_core.types.user_defined import StructuredType, UserDefinedType
from schema_core.types.values import named_values, reject_reason

#: The digits of the widest DECIMAL, and those after the point of the type of a Python decimal.
MAX_DECIMAL, DEFAULT_SCALE = 38, 18

#: Python class -> the type of its values. PyFlink infers the same types from values, except that
#: it does not support `bytes` and `timedelta`, and drops the fraction of a `time`.
CLASSES: dict[Any, DataType] = {
    bool:             BooleanType(),
    int:              BigIntType(),
    float:            DoubleType(),
    str:              VarCharType(MAX_LENGTH),
    bytes:            VarBinaryType(MAX_LENGTH),
    bytearray:        VarBinaryType(MAX_LENGTH),
    Decimal:          DecimalType(38, 18),
    dt.date:          DateType(),
    dt.datetime:      LocalZonedTimestampType(),
    dt.time:          TimeType(6),
    dt.timedelta:     DayTimeIntervalType(DayTime.SECOND),
}  # fmt: skip

#: Method of an object that returns its data type.
PROTOCOL = "__schema_core_type__"


def type_of(description: object) -> DataType:
    """Return the data type of a class, a type hint or a type of another library.

    Raises:
        SchemaError: with code `data-type-not-inferred` for any other object, or `too-deep`.

    >>> print(type_of(list[int | None]))
    ARRAY<BIGINT> NOT NULL
    >>> print(type_of(dict[str, Annotated[Decimal, DecimalType(10, 2)]]))
    MAP<VARCHAR(2147483647) NOT NULL, DECIMAL(10, 2)> NOT NULL
    >>> type_of(object)
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: <class 'object'> has no data type
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
        return NullType()
    if isinstance(description, type) and description in CLASSES:
        return CLASSES[description].not_null()
    if reader := ORIGINS.get(get_origin(description)):
        return reader(*get_args(description))
    if isinstance(description, type) and (type_ := _of_class(description)):
        return type_
    return _of_value(description)


def _of_value(description: object) -> DataType:
    """Return the type of an object by its own method, or by the converter of its library."""
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
    """Return an array for ``tuple[int, ...]``, else a row of f0, f1, ..."""
    if len(elements) == 2 and elements[1] is Ellipsis:
        return _array(elements[0])
    return _row({f"f{index}": argument for index, argument in enumerate(elements)})


def _map(key: Any, value: Any) -> DataType:
    return MapType(_of(key), _of(value), nullable=False)


def _multiset(element: Any) -> DataType:
    return MultisetType(_of(element), nullable=False)


def _union(*members: Any) -> DataType:
    """Return the type of the only member other than None."""
    others = [member for member in members if member is not types.NoneType]
    if len(others) != 1:
        raise SchemaError(
            f"a union of several types has no data type: {members}", code="data-type-not-inferred"
        )
    type_ = _of(others[0])
    return type_.nullable() if len(others) < len(members) else type_


def _annotated_type(bare: Any, *notes: Any) -> DataType:
    """Return the data type among the annotations, else that of the annotated type."""
    for note in notes:
        if isinstance(note, DataType):
            return note
    return _of(bare)


def _literal(*values: Any) -> DataType:
    return _union(*{type(value): None for value in values})


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
    Annotated:             _annotated_type,
    Literal:               _literal,
    Required:              _of,
    NotRequired:           lambda value: _of(value).nullable(),
}  # fmt: skip


# --- classes with fields -------------------------------------------------------------------------


def _of_class(kind: type) -> DataType | None:
    """Return a structured type for a dataclass, a row for a named tuple or typed dictionary."""
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
    """Return the annotated fields; a recursive class is refused."""
    outer = _READING.get()
    if kind in outer:
        raise SchemaError(f"{kind.__qualname__} contains itself", code="data-type-not-inferred")
    hints = _hints(kind)
    token = _READING.set((*outer, kind))
    try:
        return [_field(name, hints.get(name, Any)) for name in names]
    finally:
        _READING.reset(token)


def _hints(kind: type) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise SchemaError(f"{kind.__qualname__}: {error}", code="data-type-not-inferred") from None


def _field(name: str, description: object) -> RowField:
    with at(f"field {name!r}"):
        return RowField(name, _of(description))


def _row(hints: Mapping[str, Any]) -> DataType:
    return RowType(
        [_field(name, description) for name, description in hints.items()], nullable=False
    )


def class_name(kind: type) -> str:
    """Return the Java-style name of a class: its module, and nested classes separated by ``$``.

    >>> class_name(collections.OrderedDict)
    'collections.OrderedDict'
    """
    nested = kind.__qualname__.rpartition("<locals>.")[2]
    return f"{kind.__module__}.{nested.replace('.', '$')}"


#: Type code of a Python array -> the smallest type of its values. Sizes are those of the platforms
#: that Flink supports; unsigned integers need an additional bit.
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
    """Infer the data type of a value, which is nullable since later rows may contain None.

    Tuples become rows of ``_1``, ``_2``, ...; objects with fields become rows of these.

    Raises:
        SchemaError: with code `data-type-not-inferred` for an unsupported value, or for elements
            of different types.

    >>> print(infer_type({"a": [1, None]}))
    MAP<VARCHAR(2147483647) NOT NULL, ARRAY<BIGINT>>
    >>> print(infer_type((1, 2.5)))
    ROW<`_1` BIGINT, `_2` DOUBLE>
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
        case Decimal() if value.is_finite():
            return _decimal(value)
        case _ if type(value) in CLASSES:
            return CLASSES[type(value)]
        case dict():
            key, entry = (
                _infer_common("key", value, depth),
                _infer_common("value", value.values(), depth),
            )
            return MapType(key if key == atomic.NullType() else key.not_null(), entry)
        case list():
            return ArrayType(_infer_common("element", value, depth))
        case array() if value.typecode in LETTERS:
            return ArrayType(LETTERS[value.typecode])
        case _:
            return _infer_row(value, depth)


def _decimal(value: Decimal) -> DataType:
    """Return the type of exactly the digits of a number, before `_with_decimals`.

    Raises:
        SchemaError: with code `data-type-not-inferred` for more digits than a DECIMAL has.
    """
    exponent = int(value.as_tuple().exponent)
    scale = max(0, -exponent)
    return _decimal_of(max(len(value.as_tuple().digits) + exponent, 0), scale)


def _decimal_of(integer_digits: int, scale: int) -> DataType:
    if integer_digits + scale > MAX_DECIMAL:
        raise SchemaError(
            f"DECIMAL has at most {MAX_DECIMAL} digits, not {integer_digits} before and {scale} "
            "after the decimal point",
            code="data-type-not-inferred",
        )
    return DecimalType(max(integer_digits + scale, 1), scale)


def _with_decimals(type_: DataType) -> DataType:
    """Return a type whose decimals are DECIMAL(38, 18), or have another scale if these need it."""
    if isinstance(type_, DecimalType):
        room = MAX_DECIMAL - (type_.precision - type_.scale)
        scale = min(max(type_.scale, DEFAULT_SCALE), room)
        return DecimalType(MAX_DECIMAL, scale, type_.is_nullable)
    if isinstance(type_, UserDefinedType):
        return type_
    return type_.rebuild(tuple(map(_with_decimals, type_.children())))


def _names_of(row: Row) -> list[str] | None:
    """Return the names of a row that was made by calling another one, which holds them."""
    try:
        names = list(row.as_dict())
    except SchemaError:
        return None
    return names if len(names) == len(row) else None


def _infer_row(value: object, depth: int) -> DataType:
    fields = getattr(value, "_fields", None)
    if isinstance(value, Row) and not value.is_named:
        fields, value = _names_of(value), tuple(value)
    if isinstance(value, tuple):
        names = fields or [f"_{position}" for position in range(1, len(value) + 1)]
        pairs: Iterable[tuple[str, object]] = zip(names, value, strict=True)
    elif (named := named_values(value)) is not None:
        pairs = named.items()
    else:
        raise SchemaError(
            f"cannot infer a data type for {show(value)}", code="data-type-not-inferred"
        )
    return RowType([_infer_field(name, field_value, depth + 1) for name, field_value in pairs])


def _infer_field(name: str, value: object, depth: int) -> RowField:
    with at(f"field {name!r}"):
        return RowField(name, _infer(value, depth))


def _infer_common(what: str, values: Iterable[object], depth: int) -> DataType:
    """Return the type of all values; None has every type."""
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
    if isinstance(left, DecimalType) and isinstance(right, DecimalType):
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
