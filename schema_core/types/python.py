"""Data types of Python classes, type hints, values and types of other libraries.

None is a value of a type only if the description includes it: ``int`` is BIGINT NOT NULL, and
``int | None`` is BIGINT. A class stands for all its values: a `datetime.time` has microseconds,
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

from schema_core.errors import SchemaError, at
from schema_core.text import MAX_DEPTH, show
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
from schema_core.types.temporal import (
    DateType,
    DayTime,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    TimeType,
)
from schema_core.types.user_defined import StructuredType
from schema_core.types.values import named_values, reject_reason

#: Python class -> the type of its values. PyFlink infers the same for the values themselves, but
#: that it has no row for `bytes` and `timedelta`, and loses the fraction of a `time`.
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

#: Entry points that read the types of another library; the name is that of its top package.
READERS = "schema_core.type_readers"
#: A method by which a value says its own type.
PROTOCOL = "__schema_core_type__"


def type_of(description: object) -> DataType:
    """The type that a class, a typing construct or a type of another library stands for.

    Raises:
        SchemaError: with code `data-type-not-inferred` for a description that stands for none,
            `too-deep`.

    >>> print(type_of(list[int | None]))
    ARRAY<BIGINT> NOT NULL
    >>> print(type_of(dict[str, Annotated[Decimal, DecimalType(10, 2)]]))
    MAP<VARCHAR(2147483647) NOT NULL, DECIMAL(10, 2)> NOT NULL
    >>> type_of(object)
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: <class 'object'> stands for no data type
      hint: say which one with Annotated[..., DataTypes....]
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
    if isinstance(description, type) and (found := _of_class(description)):
        return found
    return _of_value(description)


def _of_value(description: object) -> DataType:
    """What an object says of itself, or what another library says of it."""
    if isinstance(description, typing.NewType):
        return _of(description.__supertype__)
    if hasattr(description, "__value__"):  # type X = ... of Python 3.12
        return _of(description.__value__)
    if not isinstance(description, type) and hasattr(description, PROTOCOL):
        return _of(getattr(description, PROTOCOL)())
    from importlib.metadata import entry_points  # it takes longer to import than all of the types

    package = type(description).__module__.partition(".")[0]
    for entry in entry_points(group=READERS, name=package):
        read: Callable[[object], DataType] = entry.load()
        return read(description)
    raise SchemaError(
        f"{show(description)} stands for no data type",
        code="data-type-not-inferred",
        hint="say which one with Annotated[..., DataTypes....]",
    )


# --- constructs ----------------------------------------------------------------------------------


def _array(*elements: Any) -> DataType:
    return ArrayType(_of(elements[0]), nullable=False)


def _tuple(*elements: Any) -> DataType:
    """``tuple[int, ...]`` is an array, any other tuple a row of f0, f1, ..."""
    if len(elements) == 2 and elements[1] is Ellipsis:
        return _array(elements[0])
    return _row({f"f{index}": one for index, one in enumerate(elements)})


def _map(key: Any, value: Any) -> DataType:
    return MapType(_of(key), _of(value), nullable=False)


def _multiset(element: Any) -> DataType:
    return MultisetType(_of(element), nullable=False)


def _union(*members: Any) -> DataType:
    """One member beside None."""
    others = [one for one in members if one is not types.NoneType]
    if len(others) != 1:
        raise SchemaError(
            f"a value is of one type, not of {members}", code="data-type-not-inferred"
        )
    found = _of(others[0])
    return found.nullable() if len(others) < len(members) else found


def _annotated(bare: Any, *notes: Any) -> DataType:
    """A type among the notes counts, as it is; without one the bare description does."""
    for note in notes:
        if isinstance(note, DataType):
            return note
    return _of(bare)


def _literal(*values: Any) -> DataType:
    return _union(*{type(value): None for value in values})


#: Origin of a construct -> the type, from its arguments.
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
    Literal:               _literal,
    Required:              _of,
    NotRequired:           lambda value: _of(value).nullable(),
}  # fmt: skip


# --- classes with fields -------------------------------------------------------------------------


def _of_class(kind: type) -> DataType | None:
    """A dataclass is a structured type; named tuples and typed dictionaries are rows."""
    if is_dataclass(kind):
        names = [one.name for one in fields(kind)]
        return StructuredType(class_name(kind), _fields(kind, names), nullable=False)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return RowType(_fields(kind, kind._fields), nullable=False)
    if typing.is_typeddict(kind):
        return RowType(_fields(kind, list(kind.__annotations__)), nullable=False)
    if hasattr(kind, PROTOCOL):
        return _of(getattr(kind, PROTOCOL)())
    return None


#: The classes whose fields are being read, from the outermost.
_READING: ContextVar[tuple[type, ...]] = ContextVar("_READING", default=())


def _fields(kind: type, names: Sequence[str]) -> list[RowField]:
    """The annotated fields; a class that has itself among them has no end, and no type."""
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
    return RowType([_field(name, one) for name, one in hints.items()], nullable=False)


def class_name(kind: type) -> str:
    """The name of a class as Java spells one: the module, then classes within classes by ``$``.

    >>> class_name(collections.OrderedDict)
    'collections.OrderedDict'
    """
    nested = kind.__qualname__.rpartition("<locals>.")[2]
    return f"{kind.__module__}.{nested.replace('.', '$')}"


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
    found = _infer(value)
    if reason := reject_reason(found, value):
        raise SchemaError(
            f"{show(value)} is of no data type: {reason}", code="data-type-not-inferred"
        )
    return found


def _infer(value: object, depth: int = 1) -> DataType:
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


def _infer_row(value: object, depth: int) -> DataType:
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple):
        names = fields or [f"_{position}" for position in range(1, len(value) + 1)]
        pairs: Iterable[tuple[str, object]] = zip(names, value, strict=True)
    elif (named := named_values(value)) is not None:
        pairs = named.items()
    else:
        raise SchemaError(f"{show(value)} is of no data type", code="data-type-not-inferred")
    return RowType([_infer_field(name, one, depth + 1) for name, one in pairs])


def _infer_field(name: str, value: object, depth: int) -> RowField:
    with at(f"field {name!r}"):
        return RowField(name, _infer(value, depth))


def _infer_common(what: str, values: Iterable[object], depth: int) -> DataType:
    """The one type of all of these; None is of any type."""
    common: DataType = atomic.NullType()
    for value in values:
        with at(what):
            common = _merge_nulls(common, _infer(value, depth + 1))
    return common


def _merge_nulls(left: DataType, right: DataType) -> DataType:
    """Two types that differ in nothing but what NULL stands for."""
    if left == atomic.NullType() or left == right:
        return right
    if right == atomic.NullType():
        return left
    ours, theirs = left.children(), right.children()
    alike = type(left) is type(right) and len(ours) == len(theirs) > 0
    if alike and left == right.rebuild(ours):
        return left.rebuild(tuple(map(_merge_nulls, ours, theirs)))
    raise SchemaError(
        f"values of {left.as_summary_string()} and {right.as_summary_string()} side by side",
        code="data-type-not-inferred",
    )
