"""`DataTypes`: factory methods of all types, with PyFlink's names and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import ClassVar, TypeAlias, overload

from schema_core.base.lazy import dataclass
from schema_core.base.text import quote_string, show
from schema_core.errors import SchemaError
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.nested import (
    FIELD_HINT,
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    require_fields,
    require_text,
    require_type,
)
from schema_core.types.python import type_of
from schema_core.types.type_parser import DAY_TIME, YEAR_MONTH, parse_type
from schema_core.types.unresolved import (
    Part,
    UnresolvedDataType,
    UnresolvedField,
    compose_type,
    describe_type,
    is_open,
    require_resolved,
)
from schema_core.types.user_defined import ListViewType, MapViewType, RawType, StructuredType

#: A type, resolved or not.
Written: TypeAlias = DataType | UnresolvedDataType


class IntervalUnit(Enum):
    """A field of an interval."""

    SECOND = 0
    MINUTE = 1
    HOUR = 2
    DAY = 3
    MONTH = 4
    YEAR = 5


#: In the class below, PyFlink's nested name hides the original.
Unit: TypeAlias = IntervalUnit


@dataclass(frozen=True, slots=True)
class Resolution:
    """A field of an interval and its precision, -1 without one.

    >>> print(Resolution(Resolution.IntervalUnit.DAY, 3), Resolution(Resolution.IntervalUnit.MONTH))
    DAY(3) MONTH
    """

    IntervalUnit: ClassVar[type[IntervalUnit]] = IntervalUnit

    unit: Unit
    precision: int = -1

    def __post_init__(self) -> None:
        unit: object = self.unit
        if not isinstance(unit, IntervalUnit) or type(self.precision) is not int:
            raise SchemaError(
                f"invalid interval field {show(self.unit)} with precision {show(self.precision)}",
                code="invalid-type",
            )

    def __str__(self) -> str:
        return self.unit.name if self.precision < 0 else f"{self.unit.name}({self.precision})"


class DataTypes:
    """Factory methods of all types, with PyFlink's names and parameters.

    Methods raise `SchemaError` with code `invalid-type` for a parameter out of range.

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
    def TIME(precision: int = 0, nullable: bool = True) -> temporal.TimeType:
        return temporal.TimeType(precision, nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> temporal.TimestampType:
        return temporal.TimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_WITH_TIME_ZONE(
        precision: int = 6, nullable: bool = True
    ) -> temporal.ZonedTimestampType:
        return temporal.ZonedTimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(
        precision: int = 6, nullable: bool = True
    ) -> temporal.LocalZonedTimestampType:
        return temporal.LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_LTZ(
        precision: int = 6, nullable: bool = True
    ) -> temporal.LocalZonedTimestampType:
        return temporal.LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def VARIANT(nullable: bool = True) -> atomic.VariantType:
        return atomic.VariantType(nullable)

    @staticmethod
    def BITMAP(nullable: bool = True) -> atomic.BitmapType:
        return atomic.BitmapType(nullable)

    @staticmethod
    def DESCRIPTOR(nullable: bool = True) -> atomic.DescriptorType:
        return atomic.DescriptorType(nullable)

    # --- nested types: unresolved if a part is unresolved --------------------------------------

    @overload
    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> ArrayType: ...
    @overload
    @staticmethod
    def ARRAY(element_type: UnresolvedDataType, nullable: bool = True) -> UnresolvedDataType: ...
    @staticmethod
    def ARRAY(
        element_type: DataType | UnresolvedDataType, nullable: bool = True
    ) -> ArrayType | UnresolvedDataType:
        if not isinstance(element_type, UnresolvedDataType):
            return ArrayType(element_type, nullable)
        return compose_type("ARRAY<", [element_type], lambda element: ArrayType(element, nullable))

    @overload
    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> MultisetType: ...
    @overload
    @staticmethod
    def MULTISET(element_type: UnresolvedDataType, nullable: bool = True) -> UnresolvedDataType: ...
    @staticmethod
    def MULTISET(
        element_type: DataType | UnresolvedDataType, nullable: bool = True
    ) -> MultisetType | UnresolvedDataType:
        if not isinstance(element_type, UnresolvedDataType):
            return MultisetType(element_type, nullable)
        return compose_type(
            "MULTISET<", [element_type], lambda element: MultisetType(element, nullable)
        )

    @overload
    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> MapType: ...
    @overload
    @staticmethod
    def MAP(
        key_type: UnresolvedDataType, value_type: Written, nullable: bool = True
    ) -> UnresolvedDataType: ...
    @overload
    @staticmethod
    def MAP(
        key_type: DataType, value_type: UnresolvedDataType, nullable: bool = True
    ) -> UnresolvedDataType: ...
    @staticmethod
    def MAP(
        key_type: Written, value_type: Written, nullable: bool = True
    ) -> MapType | UnresolvedDataType:
        if isinstance(key_type, UnresolvedDataType) or isinstance(value_type, UnresolvedDataType):
            parts = [key_type, value_type]
            return compose_type("MAP<", parts, lambda key, value: MapType(key, value, nullable))
        return MapType(key_type, value_type, nullable)

    @staticmethod
    def LIST_VIEW(element_type: DataType) -> ListViewType:
        return ListViewType(element_type)

    @staticmethod
    def MAP_VIEW(key_type: DataType, value_type: DataType) -> MapViewType:
        return MapViewType(key_type, value_type)

    @overload
    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField: ...
    @overload
    @staticmethod
    def FIELD(
        name: str, data_type: UnresolvedDataType, description: str | None = None
    ) -> UnresolvedField: ...
    @staticmethod
    def FIELD(
        name: str, data_type: Written, description: str | None = None
    ) -> RowField | UnresolvedField:
        if isinstance(data_type, UnresolvedDataType):
            name = require_text(name, "the name of a field")
            return UnresolvedField(name, data_type, description)
        return require_fields([RowField(name, data_type, description)])[0]

    @overload
    @staticmethod
    def ROW(row_fields: Sequence[RowField | DataType] = (), nullable: bool = True) -> RowType: ...
    @overload
    @staticmethod
    def ROW(row_fields: Sequence[Part] = (), nullable: bool = True) -> UnresolvedDataType: ...
    @staticmethod
    def ROW(row_fields: Sequence[Part] = (), nullable: bool = True) -> RowType | UnresolvedDataType:
        """A row of fields; types without a name are called ``f0``, ``f1``, ..."""
        parts = require_parts(row_fields)
        if is_open(parts):
            return compose_type(
                "ROW<", parts, lambda *fields: RowType(name_fields(fields), nullable)
            )
        return RowType(name_fields(parts), nullable)

    @overload
    @staticmethod
    def STRUCTURED(  # type: ignore[overload-overlap]  # without fields it is the first
        class_name: str, *fields: RowField, nullable: bool = True
    ) -> StructuredType: ...
    @overload
    @staticmethod
    def STRUCTURED(
        class_name: str, *fields: RowField | UnresolvedField, nullable: bool = True
    ) -> UnresolvedDataType: ...
    @staticmethod
    def STRUCTURED(
        class_name: str, *fields: RowField | UnresolvedField, nullable: bool = True
    ) -> StructuredType | UnresolvedDataType:
        """The type of a class with attributes; the class need not exist."""
        if not is_open(fields):
            return StructuredType(class_name, require_fields(fields), nullable)
        return compose_type(
            f"STRUCTURED<{quote_string(require_text(class_name, 'the class name'))}, ",
            fields,
            lambda *resolved: StructuredType(class_name, resolved, nullable),
        )

    @staticmethod
    def RAW(class_name: str, snapshot: str, nullable: bool = True) -> RawType:
        return RawType(class_name, snapshot, nullable)

    @staticmethod
    def of(description: object) -> DataType:
        """The type of a type string, a Python class or a type of another library.

        Names of user-defined types are refused: use `unresolved`. The type is nullable only if the
        description includes None.

        Raises:
            ParseError: for a string outside the grammar.
            UnsupportedError: with code `type-not-found` for a name other than those of SQL types.
            SchemaError: with code `data-type-not-inferred` for any other description.

        >>> print(DataTypes.of("decimal(10, 2)"), "|", DataTypes.of(list[str | None]))
        DECIMAL(10, 2) | ARRAY<VARCHAR(2147483647)> NOT NULL
        """
        if isinstance(description, str):
            return require_resolved(parse_type(description))
        if isinstance(description, UnresolvedDataType):
            return description.resolve()
        return type_of(description)

    @staticmethod
    def unresolved(description: object) -> UnresolvedDataType:
        """A type that is parsed when its schema is resolved.

        It may contain the names of a catalog's user-defined types.

        >>> DataTypes.unresolved("not a type").as_summary_string()
        '[not a type]'
        """
        if isinstance(description, UnresolvedDataType):
            return description
        if isinstance(description, str):
            return describe_type(description, lambda: parse_type(description))
        name = getattr(description, "__qualname__", None) or show(description)
        return describe_type(name, lambda: type_of(description))

    # --- intervals -----------------------------------------------------------------------------

    @staticmethod
    def YEAR(precision: int = temporal.YearMonthIntervalType.DEFAULT_PRECISION) -> Resolution:
        return Resolution(IntervalUnit.YEAR, precision)

    @staticmethod
    def MONTH() -> Resolution:
        return Resolution(IntervalUnit.MONTH)

    @staticmethod
    def DAY(precision: int = temporal.DayTimeIntervalType.DEFAULT_DAY_PRECISION) -> Resolution:
        return Resolution(IntervalUnit.DAY, precision)

    @staticmethod
    def HOUR() -> Resolution:
        return Resolution(IntervalUnit.HOUR)

    @staticmethod
    def MINUTE() -> Resolution:
        return Resolution(IntervalUnit.MINUTE)

    @staticmethod
    def SECOND(
        precision: int = temporal.DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION,
    ) -> Resolution:
        return Resolution(IntervalUnit.SECOND, precision)

    @staticmethod
    def INTERVAL(
        upper_resolution: Resolution, lower_resolution: Resolution | None = None
    ) -> temporal.DayTimeIntervalType | temporal.YearMonthIntervalType:
        """An interval of one field, or from one field to a finer one.

        Raises:
            SchemaError: with code `invalid-type` for an invalid pair of fields.

        >>> print(DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(0)))
        INTERVAL DAY(3) TO SECOND(0)
        """
        ends = [upper_resolution]
        if lower_resolution is not None:
            ends.append(lower_resolution)
        for end in ends:
            if not isinstance(end, Resolution):
                raise SchemaError(
                    f"expected a field of an interval, got {show(end)}",
                    code="invalid-type",
                    hint="write DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))",
                )
        words = " TO ".join(end.unit.name for end in ends)
        precisions = {end.unit.name: end.precision for end in ends if end.precision >= 0}
        if words in YEAR_MONTH:
            return temporal.YearMonthIntervalType(
                temporal.YearMonthResolution(words), precisions.get("YEAR", 2)
            )
        if words not in DAY_TIME:
            raise SchemaError(f"invalid interval {words}", code="invalid-type")
        return temporal.DayTimeIntervalType(
            temporal.DayTimeResolution(words), precisions.get("DAY", 2), precisions.get("SECOND", 6)
        )


def name_fields(parts: Iterable[object]) -> list[RowField]:
    """Fields; types without a name are called ``f0``, ``f1``, ..."""
    return [
        part
        if isinstance(part, RowField)
        else RowField(f"f{index}", require_type(part, "the field"))
        for index, part in enumerate(parts)
    ]


def require_parts(parts: object) -> tuple[Part, ...]:
    """Refuse anything but a list of fields."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise SchemaError(
            f"expected a list of fields, got {show(parts)}",
            code="invalid-argument",
            hint=FIELD_HINT,
        )
    return tuple(parts)
