"""Types of the values of streams (`pyflink.common.typeinfo`).

A type has the data type of the column that holds its values, and converts them from and to the
values of the Table API. Data types are those that Flink 2.3 derives in `from_data_stream`.
"""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Final
from zoneinfo import ZoneInfo

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.text import show
from schema_core.errors import SchemaError
from schema_core.pyflink.absent import refuse_absent
from schema_core.pyflink.common.time import Instant
from schema_core.types import (
    ArrayType,
    DataType,
    DataTypes,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    TimestampType,
)
from schema_core.types.row_value import Row

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
]

#: Spark's datetimes have microseconds.
PRECISION: Final = 6


class TypeInformation:
    """The type of a stream's values.

    The values of a type without conversions are those of its column.
    """

    #: The data type of a column that Flink derives.
    data_type: DataType

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the value of a column as that of a stream; `zone` is the session's time zone."""
        return value

    def to_column(self, value: Any) -> Any:
        """Return the value of a stream as that of a column."""
        return value

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of a stream of this type."""
        return ["f0"]

    @property
    def column_types(self) -> list[DataType]:
        """The data types of the columns of a stream of this type."""
        return [self.data_type]

    def from_columns(self, values: Sequence[Any], zone: str) -> Any:
        """Return the value of the columns of a stream."""
        return self.from_column(values[0], zone)

    def to_columns(self, value: Any) -> list[Any]:
        """Return a value as those of the columns of a stream."""
        return [self.to_column(value)]

    def _facts(self) -> tuple[Any, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash((type(self), str(self)))

    def __repr__(self) -> str:
        return type(self).__name__


class BasicType(Enum):
    """The basic types, by the names of their classes in Java."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


#: Basic type -> its data type. Those of Java's primitive types are NOT NULL. Flink has no type for
#: big integers and characters.
BASIC: Final = {
    BasicType.STRING: DataTypes.STRING(),
    BasicType.BYTE: DataTypes.TINYINT(False),
    BasicType.BOOLEAN: DataTypes.BOOLEAN(False),
    BasicType.SHORT: DataTypes.SMALLINT(False),
    BasicType.INT: DataTypes.INT(False),
    BasicType.LONG: DataTypes.BIGINT(False),
    BasicType.FLOAT: DataTypes.FLOAT(False),
    BasicType.DOUBLE: DataTypes.DOUBLE(False),
    BasicType.CHAR: DataTypes.CHAR(1),
    BasicType.BIG_INT: DataTypes.DECIMAL(38, 0),
    BasicType.BIG_DEC: DataTypes.DECIMAL(38, 18),
    BasicType.INSTANT: DataTypes.TIMESTAMP_LTZ(9),
}


#: Basic type -> what an integer is in its column.
INTEGERS: Final[Mapping[BasicType, Callable[[int], Any]]] = {
    BasicType.FLOAT: float,
    BasicType.DOUBLE: float,
    BasicType.BIG_INT: Decimal,
    BasicType.BIG_DEC: Decimal,
}


class BasicTypeInfo(TypeInformation):
    """A basic type."""

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = require_instance(basic_type, BasicType, "basic_type")
        self.data_type = BASIC[basic_type]

    def from_column(self, value: Any, zone: str) -> Any:
        """Return an integer for a DECIMAL of a big integer; other values are unchanged."""
        is_integer = value is not None and self._basic_type is BasicType.BIG_INT
        return int(value) if is_integer else value

    def to_column(self, value: Any) -> Any:
        """Return an integer as a value of its column's type; other values are unchanged."""
        convert = INTEGERS.get(self._basic_type) if type(value) is int else None
        return value if convert is None else convert(value)

    def _facts(self) -> tuple[Any, ...]:
        return (self._basic_type,)

    def __repr__(self) -> str:
        return self._basic_type.value


class InstantTypeInfo(BasicTypeInfo):
    """An `Instant`."""

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the instant of a datetime, a local one of the session unless it has a zone."""
        if not isinstance(value, dt.datetime):
            return value
        return Instant.of_datetime(value if value.tzinfo else value.replace(tzinfo=ZoneInfo(zone)))

    def to_column(self, value: Any) -> Any:
        """Return the datetime of an instant (`invalid-data` for nanoseconds)."""
        if not isinstance(value, Instant):
            return value
        if value.nanos % 1000:
            raise SchemaError(
                f"{value!r} has nanoseconds, but Spark's datetimes have microseconds",
                code="invalid-data",
            )
        return value.to_datetime()


class SqlTimeTypeInfo(TypeInformation):
    """A date, a time or a datetime."""

    @staticmethod
    def DATE() -> DateTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of dates."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of times."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of datetimes."""
        return TimestampTypeInfo()


class DateTypeInfo(SqlTimeTypeInfo):
    """A `datetime.date`."""

    data_type = DataTypes.DATE()


class TimeTypeInfo(SqlTimeTypeInfo):
    """A `datetime.time`."""

    data_type = DataTypes.TIME(0)


class TimestampTypeInfo(SqlTimeTypeInfo):
    """A `datetime.datetime`."""

    data_type = DataTypes.TIMESTAMP(9)


class PickledBytesTypeInfo(TypeInformation):
    """Any Python object: its column holds the bytes that `pickle` makes of it.

    Only a stream's own functions and collections write such a column.
    """

    data_type = DataTypes.BYTES(False)

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the object that the stream stored."""
        return pickle.loads(value)  # noqa: S301 - written by `to_column` in the same job

    def to_column(self, value: Any) -> bytes:
        """Return the object as bytes."""
        return pickle.dumps(value)

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


class _Elements(TypeInformation):
    """Lists of elements of one type."""

    #: Whether the elements of primitive types may be NULL.
    has_nulls: ClassVar[bool] = True

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = require_instance(element_type, TypeInformation, "element_type")
        inner = element_type.data_type
        self.data_type = ArrayType(inner.nullable() if self.has_nulls else inner, False)

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the list with the values of its elements."""
        read = self._element_type.from_column
        return value and [read(element, zone) for element in value]

    def to_column(self, value: Any) -> Any:
        """Return the list with the values of its elements in a column."""
        return value and [self._element_type.to_column(element) for element in value]

    def _facts(self) -> tuple[Any, ...]:
        return (self._element_type,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type!r}>"


class PrimitiveArrayTypeInfo(_Elements):
    """A list of a primitive type of Java, whose elements are not NULL; of bytes, `bytes`."""

    has_nulls = False

    def __init__(self, element_type: TypeInformation) -> None:
        super().__init__(element_type)
        self._is_bytes = element_type == Types.BYTE()
        if self._is_bytes:
            self.data_type = DataTypes.BYTES(False)

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the list, or the bytes."""
        return value if self._is_bytes else super().from_column(value, zone)

    def to_column(self, value: Any) -> Any:
        """Return the list, or the bytes."""
        return value if self._is_bytes else super().to_column(value)


class BasicArrayTypeInfo(_Elements):
    """A list of a basic type."""


class ObjectArrayTypeInfo(_Elements):
    """A list of any type."""


class ListTypeInfo(_Elements):
    """A list of any type."""


class MapTypeInfo(TypeInformation):
    """A dictionary with keys of one type and values of one type."""

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key = require_instance(key_type_info, TypeInformation, "key_type_info")
        self._value = require_instance(value_type_info, TypeInformation, "value_type_info")
        types = (self._key.data_type.nullable(), self._value.data_type.nullable())
        self.data_type = MapType(*types, False)

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the dictionary with its keys and values."""
        key, inner = self._key.from_column, self._value.from_column
        return value and {key(name, zone): inner(held, zone) for name, held in value.items()}

    def to_column(self, value: Any) -> Any:
        """Return the dictionary with its keys and values in a column."""
        key, inner = self._key.to_column, self._value.to_column
        return value and {key(name): inner(held) for name, held in value.items()}

    def _facts(self) -> tuple[Any, ...]:
        return (self._key, self._value)

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key!r}, {self._value!r}>"


class _Composite(TypeInformation):
    """Values of several fields, each of which is a column of a stream."""

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self._types = [
            require_instance(each, TypeInformation, "a type of a field")
            for each in require_sequence(field_types, "field_types")
        ]
        self._names = [f"f{place}" for place in range(len(self._types))]
        self.set_data_type()

    def set_data_type(self) -> None:
        """Set the row type of the fields, in which the value is held within another one."""
        self.data_type = RowType(list(map(RowField, self._names, self.column_types)))

    def type_of_field(self, of: TypeInformation) -> DataType:
        """Return the data type of a field of a type."""
        return of.data_type

    @property
    def column_names(self) -> list[str]:
        """The names of the fields."""
        return list(self._names)

    @property
    def column_types(self) -> list[DataType]:
        """The data types of the fields."""
        return [self.type_of_field(of) for of in self._types]

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return list(self._types)

    def _read(self, values: Sequence[Any], zone: str) -> list[Any]:
        pairs = zip(self._types, values, strict=True)
        return [of.from_column(value, zone) for of, value in pairs]

    def to_columns(self, value: Any) -> list[Any]:
        """Return the values of the fields (`invalid-data` for another number)."""
        if value is None:
            raise SchemaError("a value of the stream is None", code="invalid-data")
        values = list(value)
        if len(values) != len(self._types):
            raise SchemaError(
                f"{show(value)} has {len(values)} values, but {self!r} has {len(self._types)}",
                code="invalid-data",
            )
        return [of.to_column(item) for of, item in zip(self._types, values, strict=True)]

    def to_column(self, value: Any) -> Any:
        """Return the row of a value within another one."""
        return None if value is None else Row(*self.to_columns(value))

    def from_column(self, value: Any, zone: str) -> Any:
        """Return the value of a row within another one."""
        return None if value is None else self.from_columns(list(value), zone)

    def _facts(self) -> tuple[Any, ...]:
        return (self._names, self._types)


class RowTypeInfo(_Composite):
    """A `Row`, with the names f0, f1, ... unless others are given."""

    def __init__(
        self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None
    ) -> None:
        super().__init__(field_types)
        self._has_names = field_names is not None
        if field_names is not None:
            names = list(require_sequence(field_names, "field_names"))
            if len(names) != len(self._types):
                raise SchemaError(
                    f"{len(names)} names given for {len(self._types)} fields",
                    code="invalid-argument",
                )
            self._names = names
        self.set_data_type()

    def type_of_field(self, of: TypeInformation) -> DataType:
        """Return the nullable data type of a field."""
        return of.data_type.nullable()

    def from_columns(self, values: Sequence[Any], zone: str) -> Row:
        """Return the row with the names of its fields."""
        row = Row(*self._read(values, zone))
        row.set_field_names(self._names)
        return row

    def get_field_names(self) -> list[str]:
        """Return the names of the fields."""
        return list(self._names)

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field; -1 if there is none of this name."""
        return self._names.index(field_name) if field_name in self._names else -1

    def with_names(self) -> RowTypeInfo:
        """Return the type with the names of its fields, which its `repr` shows."""
        return self if self._has_names else RowTypeInfo(self._types, self._names)

    def __repr__(self) -> str:
        fields = zip(self._names, map(repr, self._types), strict=True)
        shown = (f"{name}: {of}" if self._has_names else of for name, of in fields)
        return f"RowTypeInfo({', '.join(shown)})"


class TupleTypeInfo(_Composite):
    """A tuple."""

    def from_columns(self, values: Sequence[Any], zone: str) -> tuple[Any, ...]:
        """Return the tuple."""
        return tuple(self._read(values, zone))

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(repr, self._types))})"


class ExternalTypeInfo(RowTypeInfo):
    """The rows of a table as the values of a stream, with the table's data types."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        require_instance(type_info, RowTypeInfo, "type_info")
        super().__init__(type_info.get_field_types(), type_info.get_field_names())

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{super().__repr__()}>"


class TableColumnTypeInfo(TypeInformation):
    """The values of a table's column, as functions of the Table API receive them."""

    def __init__(self, data_type: DataType) -> None:
        self.data_type = data_type

    def _facts(self) -> tuple[Any, ...]:
        return (self.data_type,)

    def __repr__(self) -> str:
        return self.data_type.as_summary_string()


def type_info_of(data_type: DataType) -> TypeInformation:
    """Return the type of a stream for the column of a table."""
    if isinstance(data_type, LocalZonedTimestampType):
        return Types.INSTANT()
    basic = (BasicTypeInfo(each) for each, held in BASIC.items() if each is not BasicType.CHAR
             and held.nullable() == data_type.nullable())  # fmt: skip
    return next(basic, None) or TableColumnTypeInfo(data_type)


def storage_type(data_type: DataType) -> DataType:
    """Return a data type with datetimes of microseconds, which Python functions receive."""
    if isinstance(data_type, LocalZonedTimestampType | TimestampType):
        return type(data_type)(min(data_type.precision, PRECISION), data_type.is_nullable)
    return data_type.rebuild(tuple(map(storage_type, data_type.children())))


def _basic(basic_type: BasicType) -> Callable[[], TypeInformation]:
    def create() -> TypeInformation:
        return BasicTypeInfo(basic_type)

    create.__doc__ = f"Return the type of {basic_type.value}."
    return create


class Types:
    """The types of streams, by the names of PyFlink.

    >>> Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
    RowTypeInfo(id: Long, name: String)
    """

    STRING = staticmethod(_basic(BasicType.STRING))
    BYTE = staticmethod(_basic(BasicType.BYTE))
    BOOLEAN = staticmethod(_basic(BasicType.BOOLEAN))
    SHORT = staticmethod(_basic(BasicType.SHORT))
    INT = staticmethod(_basic(BasicType.INT))
    LONG = staticmethod(_basic(BasicType.LONG))
    FLOAT = staticmethod(_basic(BasicType.FLOAT))
    DOUBLE = staticmethod(_basic(BasicType.DOUBLE))
    CHAR = staticmethod(_basic(BasicType.CHAR))
    BIG_INT = staticmethod(_basic(BasicType.BIG_INT))
    BIG_DEC = staticmethod(_basic(BasicType.BIG_DEC))
    SQL_DATE = staticmethod(SqlTimeTypeInfo.DATE)
    SQL_TIME = staticmethod(SqlTimeTypeInfo.TIME)
    SQL_TIMESTAMP = staticmethod(SqlTimeTypeInfo.TIMESTAMP)

    @staticmethod
    def INSTANT() -> InstantTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of instants."""
        return InstantTypeInfo(BasicType.INSTANT)

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> PickledBytesTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of any Python object."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of rows with the names f0, f1, ..."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(  # noqa: N802 - PyFlink's name
        field_names: Sequence[str], field_types: Sequence[TypeInformation]
    ) -> RowTypeInfo:
        """Return the type of rows with these names."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(  # noqa: N802 - PyFlink's name
        field_types: Sequence[TypeInformation],
    ) -> TupleTypeInfo:
        """Return the type of tuples."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(  # noqa: N802 - PyFlink's name
        element_type: TypeInformation,
    ) -> PrimitiveArrayTypeInfo:
        """Return the type of lists of a primitive type of Java."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> BasicArrayTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of lists of a basic type."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> ObjectArrayTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of lists of any type."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(  # noqa: N802 - PyFlink's name
        key_type_info: TypeInformation, value_type_info: TypeInformation
    ) -> MapTypeInfo:
        """Return the type of dictionaries."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> ListTypeInfo:  # noqa: N802 - PyFlink's name
        """Return the type of lists."""
        return ListTypeInfo(element_type_info)


refuse_absent(__name__)
