"""`DataTypes`: every type by PyFlink's name for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.defined import RawType, StructuredType, require_resolved
from schema_core.types.nested import ArrayType, MapType, MultisetType, RowField, RowType
from schema_core.types.syntax import DAY_TIME, YEAR_MONTH, parse_type
from schema_core.types.temporal import (
    DayTimeIntervalType,
    DayTimeResolution,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
    YearMonthResolution,
    ZonedTimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Resolution:
    """A field of an interval: its unit and, where one was given, its precision."""

    unit: str
    precision: int | None = None

    def __str__(self) -> str:
        return self.unit if self.precision is None else f"{self.unit}({self.precision})"


class DataTypes:
    """The types, by the names of PyFlink's class of the same name, with the same parameters.

    Every method takes ``nullable`` last (default True) and raises `SchemaError` with code
    `type-parameter` for a parameter out of range.

    >>> print(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT(nullable=False)))]))
    ROW<`a` ARRAY<INT NOT NULL>>
    """

    @staticmethod
    def NULL() -> atomic.NullType:
        return atomic.NullType()

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> atomic.CharType:
        return atomic.CharType(length, nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> atomic.VarCharType:
        return atomic.VarCharType(length, nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> atomic.VarCharType:
        return atomic.VarCharType(MAX_LENGTH, nullable)

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> atomic.BooleanType:
        return atomic.BooleanType(nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> atomic.BinaryType:
        return atomic.BinaryType(length, nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> atomic.VarBinaryType:
        return atomic.VarBinaryType(length, nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> atomic.VarBinaryType:
        return atomic.VarBinaryType(MAX_LENGTH, nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> atomic.DecimalType:
        return atomic.DecimalType(precision, scale, nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> atomic.TinyIntType:
        return atomic.TinyIntType(nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> atomic.SmallIntType:
        return atomic.SmallIntType(nullable)

    @staticmethod
    def INT(nullable: bool = True) -> atomic.IntType:
        return atomic.IntType(nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> atomic.BigIntType:
        return atomic.BigIntType(nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> atomic.FloatType:
        return atomic.FloatType(nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> atomic.DoubleType:
        return atomic.DoubleType(nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> temporal.DateType:
        return temporal.DateType(nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> TimeType:
        return TimeType(precision, nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> TimestampType:
        return TimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_WITH_TIME_ZONE(precision: int = 6, nullable: bool = True) -> ZonedTimestampType:
        return ZonedTimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(
        precision: int = 6, nullable: bool = True
    ) -> LocalZonedTimestampType:
        return LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        return LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def VARIANT(nullable: bool = True) -> atomic.VariantType:
        return atomic.VariantType(nullable)

    @staticmethod
    def BITMAP(nullable: bool = True) -> atomic.BitmapType:
        return atomic.BitmapType(nullable)

    @staticmethod
    def DESCRIPTOR(nullable: bool = True) -> atomic.DescriptorType:
        return atomic.DescriptorType(nullable)

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> ArrayType:
        return ArrayType(element_type, nullable)

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> MultisetType:
        return MultisetType(element_type, nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> MapType:
        return MapType(key_type, value_type, nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        return RowField(name, data_type, description)

    @staticmethod
    def ROW(row_fields: Iterable[RowField | DataType] = (), nullable: bool = True) -> RowType:
        """A row of fields; plain types get the names ``f0``, ``f1``, ..."""
        named = [
            one if isinstance(one, RowField) else RowField(f"f{index}", one)
            for index, one in enumerate(row_fields)
        ]
        return RowType(named, nullable)

    @staticmethod
    def STRUCTURED(class_name: str, *fields: RowField, nullable: bool = True) -> StructuredType:
        return StructuredType(class_name, fields, nullable)

    @staticmethod
    def RAW(class_name: str, snapshot: str, nullable: bool = True) -> RawType:
        return RawType(class_name, snapshot, nullable)

    @staticmethod
    def of(text: str) -> DataType:
        """The type that a type string spells.

        Raises:
            ParseError: for a text outside the grammar.
            UnsupportedError: with code `unknown-type` for a name that is no type of SQL.
        """
        return require_resolved(parse_type(text))

    # --- intervals -----------------------------------------------------------------------------

    @staticmethod
    def YEAR(precision: int = 2) -> Resolution:
        return Resolution("YEAR", precision)

    @staticmethod
    def MONTH() -> Resolution:
        return Resolution("MONTH")

    @staticmethod
    def DAY(precision: int = 2) -> Resolution:
        return Resolution("DAY", precision)

    @staticmethod
    def HOUR() -> Resolution:
        return Resolution("HOUR")

    @staticmethod
    def MINUTE() -> Resolution:
        return Resolution("MINUTE")

    @staticmethod
    def SECOND(precision: int = 6) -> Resolution:
        return Resolution("SECOND", precision)

    @staticmethod
    def INTERVAL(
        upper_resolution: Resolution, lower_resolution: Resolution | None = None
    ) -> DayTimeIntervalType | YearMonthIntervalType:
        """An interval of one field, or from one field to a finer one.

        Raises:
            SchemaError: with code `type-parameter` for a pair that SQL has no interval for.

        >>> print(DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(0)))
        INTERVAL DAY(3) TO SECOND(0)
        """
        ends = [upper_resolution, *([lower_resolution] if lower_resolution else [])]
        words = " TO ".join(end.unit for end in ends)
        given = {end.unit: end.precision for end in ends if end.precision is not None}
        if words in YEAR_MONTH:
            return YearMonthIntervalType(YearMonthResolution(words), given.get("YEAR", 2))
        if words not in DAY_TIME:
            raise SchemaError(f"there is no interval {words}", code="type-parameter")
        return DayTimeIntervalType(
            DayTimeResolution(words), given.get("DAY", 2), given.get("SECOND", 6)
        )
