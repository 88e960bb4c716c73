"""Booleans, numbers, character and binary strings, and the types without parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from schema_core.base.lazy import dataclass
from schema_core.errors import SchemaError
from schema_core.types.base import MAX_LENGTH, AtomicType, DataType
from schema_core.types.families import TypeRoot

__all__ = [
    "BigIntType",
    "BinaryType",
    "BitmapType",
    "BooleanType",
    "CharType",
    "DecimalType",
    "DescriptorType",
    "DoubleType",
    "FloatType",
    "FractionalType",
    "IntType",
    "IntegralType",
    "LengthType",
    "NullType",
    "NumericType",
    "SmallIntType",
    "SymbolType",
    "TinyIntType",
    "VarBinaryType",
    "VarCharType",
    "VariantType",
]


class NumericType(AtomicType):
    """A number."""

    __slots__ = ()


class IntegralType(NumericType):
    """An integer of fixed size."""

    __slots__ = ()


class FractionalType(NumericType):
    """A number with a fraction, exact or approximate."""

    __slots__ = ()


class BooleanType(AtomicType):
    """TRUE, FALSE and, if nullable, UNKNOWN."""

    __slots__ = ()
    keyword = "BOOLEAN"
    root = TypeRoot.BOOLEAN


class TinyIntType(IntegralType):
    """A signed integer of 1 byte."""

    __slots__ = ()
    keyword = "TINYINT"
    root = TypeRoot.TINYINT


class SmallIntType(IntegralType):
    """A signed integer of 2 bytes."""

    __slots__ = ()
    keyword = "SMALLINT"
    root = TypeRoot.SMALLINT


class IntType(IntegralType):
    """A signed integer of 4 bytes."""

    __slots__ = ()
    keyword = "INT"
    root = TypeRoot.INTEGER


class BigIntType(IntegralType):
    """A signed integer of 8 bytes."""

    __slots__ = ()
    keyword = "BIGINT"
    root = TypeRoot.BIGINT


class FloatType(FractionalType):
    """An IEEE 754 floating point number of 4 bytes."""

    __slots__ = ()
    keyword = "FLOAT"
    root = TypeRoot.FLOAT


class DoubleType(FractionalType):
    """An IEEE 754 floating point number of 8 bytes."""

    __slots__ = ()
    keyword = "DOUBLE"
    root = TypeRoot.DOUBLE


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DecimalType(FractionalType):
    """An exact number of `precision` digits, `scale` of them after the point.

    >>> str(DecimalType(12, 2))
    'DECIMAL(12, 2)'
    """

    keyword = "DECIMAL"
    root = TypeRoot.DECIMAL
    limits: ClassVar[Mapping[str, range]] = {"precision": range(1, 39), "scale": range(39)}

    precision: int
    scale: int

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        self._fill(nullable, precision=precision, scale=scale)
        if scale > precision:
            raise SchemaError(
                f"DECIMAL scale {scale} exceeds precision {precision}",
                code="invalid-type",
            )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LengthType(AtomicType):
    """A string of at most, or exactly, `length` characters or bytes."""

    limits: ClassVar[Mapping[str, range]] = {"length": range(1, MAX_LENGTH + 1)}

    length: int

    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        self._fill(nullable, length=length)

    @classmethod
    def empty(cls, nullable: bool = False) -> LengthType:
        """The type of an empty literal; type strings cannot express its length of 0."""
        type_ = object.__new__(cls)
        object.__setattr__(type_, "length", 0)
        object.__setattr__(type_, "is_nullable", nullable)
        return type_

    def with_length(self, length: int) -> LengthType:
        """The type with another length, which may be 0."""
        if length == 0:
            return self.empty(self.is_nullable)
        return type(self)(length, self.is_nullable)

    def unserializable(self) -> str | None:
        return None if self.length else f"{self.body()} cannot be written as a type string"


class CharType(LengthType):
    """Exactly `length` characters (code points)."""

    __slots__ = ()
    keyword = "CHAR"
    root = TypeRoot.CHAR


class VarCharType(LengthType):
    """At most `length` characters (code points); the longest is STRING.

    >>> VarCharType(MAX_LENGTH).as_summary_string()
    'STRING'
    """

    __slots__ = ()
    keyword = "VARCHAR"
    root = TypeRoot.VARCHAR

    def summary_body(self) -> str:
        return "STRING" if self.length == MAX_LENGTH else self.body()


class BinaryType(LengthType):
    """Exactly `length` bytes."""

    __slots__ = ()
    keyword = "BINARY"
    root = TypeRoot.BINARY


class VarBinaryType(LengthType):
    """At most `length` bytes; the longest is BYTES."""

    __slots__ = ()
    keyword = "VARBINARY"
    root = TypeRoot.VARBINARY

    def summary_body(self) -> str:
        return "BYTES" if self.length == MAX_LENGTH else self.body()


class NullType(AtomicType):
    """The type of an untyped NULL, always nullable."""

    __slots__ = ()
    keyword = "NULL"
    root = TypeRoot.NULL

    def __init__(self) -> None:
        self._fill(nullable=True)

    def with_nullability(self, nullable: bool) -> NullType:
        if not nullable:
            raise SchemaError("the type NULL cannot be NOT NULL", code="invalid-type")
        return self


class SymbolType(AtomicType):
    """The type of a keyword argument, such as the unit in ``FLOOR(ts TO DAY)``."""

    __slots__ = ()
    keyword = "SYMBOL"
    root = TypeRoot.SYMBOL

    def unserializable(self) -> str | None:
        return "SYMBOL cannot be written as a type string"


class DescriptorType(AtomicType):
    """The type of ``DESCRIPTOR(a, b)``: names of columns for a table function."""

    __slots__ = ()
    keyword = "DESCRIPTOR"
    root = TypeRoot.DESCRIPTOR


class VariantType(AtomicType):
    """A value with a dynamic type, such as parsed JSON."""

    __slots__ = ()
    keyword = "VARIANT"
    root = TypeRoot.VARIANT


class BitmapType(AtomicType):
    """A compressed set of 32-bit integers."""

    __slots__ = ()
    keyword = "BITMAP"
    root = TypeRoot.BITMAP


#: Types that consist of a keyword and numbers in type strings, and mostly also in SQL.
PLAIN: tuple[type[DataType], ...] = (
    CharType, VarCharType, BooleanType, BinaryType, VarBinaryType, DecimalType, TinyIntType,
    SmallIntType, IntType, BigIntType, FloatType, NullType, DescriptorType, VariantType, BitmapType,
)  # fmt: skip
